"""A finished run as a system that answers new rows: every fold's members, and the stack over them."""

from __future__ import annotations

import logging
from collections.abc import Collection

import numpy as np

from gapstack.corpus import Corpus
from gapstack.ensemble import create_calibrator, create_stacker
from gapstack.errors import DataError, Place
from gapstack.files import fingerprint, sha256
from gapstack.members import Member
from gapstack.members.member import Probabilities
from gapstack.members.store import load, read_state
from gapstack.progress import progress
from gapstack.registry import unknown
from gapstack.runs.folder import STACK, RunFolder
from gapstack.runs.identity import of_stack, refuse_changed_members, refuse_stored
from gapstack.runs.recipe import Recipe
from gapstack.runs.stack import Stack

_log = logging.getLogger(__name__)
KEPT_BYTES = 1 << 30
"""Fitted members that are kept in memory take no more on disk: all folds of trees and heads, and of small encoders.

Others are read again for each question, which takes seconds where their answers take minutes.
"""


class FittedRun:
    """The fits of a finished run, each fold's a whole system; their answers are averaged.

    ``not_for`` names, for each of its systems, what shares rows with what it learned from beside GAP; ``members``
    are the labels of those that answer or that the stack weighs.

    Parameters
    ----------
    folder : RunFolder
    only : collection of str
        Labels of members, or ``stack``; by default all that the run has.
    folds : int, optional
        How many folds answer, the first ones; by default all.
    keep : bool
        Keep fitted members in memory for the next question, as many as :data:`KEPT_BYTES` have room for; else one
        fold's fit of one member is there at a time.

    Raises
    ------
    MemberError
        If the run has no such member.
    DataError
        If what is asked for is not finished or damaged; nothing has been computed then.
    MismatchError
        If what it reads or does (encoder, parser, code, ...) is not what it was fitted with.
    """

    def __init__(
        self, folder: RunFolder, only: Collection[str] = (), *, folds: int | None = None, keep: bool = False
    ):
        self.folder, self.recipe = folder, Recipe.of_run(folder)
        self.folds = self.recipe.folds if folds is None else min(folds, self.recipe.folds)
        self._kept: dict[tuple[str, int], Member] = {}
        self._room = KEPT_BYTES if keep else 0
        not_for = self.recipe.not_for()
        for label in only:
            if label not in not_for:
                raise unknown(f"member of run {folder.root.name}", label, not_for)
        self.not_for = {label: names for label, names in not_for.items() if not only or label in only}
        stacked = STACK in self.not_for
        every = [part.label for part in self.recipe.members]
        self.members = [label for label in every if stacked or label in self.not_for]
        for label in self.members:
            for fold in range(self.folds):
                if folder.job(label, fold, check=["member"]) is None:
                    raise DataError(
                        "the run is not finished",
                        place=Place(folder.fold(label, fold)),
                        remedy=folder.remedy,
                    )
        refuse_changed_members(folder, self.recipe, self.members, self.folds)
        self._stack = _load_stack(folder, self.recipe) if stacked else None

    def ask(
        self,
        rows: Corpus,
        labels: Collection[str] = (),
        *,
        level: int = logging.INFO,
    ) -> dict[str, Probabilities]:
        """Give (n, 3) of all systems, or of ``labels``; each member is asked once, and the stack weighs by fold.

        Members are named in the log at ``level``.
        """
        labels = labels or list(self.not_for)
        stacked = STACK in labels
        parts = [label for label in self.members if stacked or label in labels]
        opinions: dict[str, list[Probabilities]] = {label: [] for label in parts}
        with progress("asking", len(parts) * self.folds) as ticker:
            for label in parts:
                _log.log(level, "asking %s", label)
                for fold in range(self.folds):
                    member = self._member(label, fold)
                    if fold == 0:
                        member.prepare(rows)
                    opinions[label].append(member.predict_proba(rows))
                    ticker.advance(note=label)
        found: dict[str, Probabilities] = {
            label: np.mean(given, axis=0) for label, given in opinions.items() if label in labels
        }
        if stacked and self._stack is not None:
            by_fold = [
                np.stack([opinions[label][fold] for label in parts], axis=1) for fold in range(self.folds)
            ]
            found[STACK] = self._stack.predict_proba(by_fold, rows)
        return found

    def _member(self, label: str, fold: int) -> Member:
        if (label, fold) in self._kept:
            return self._kept[label, fold]
        place = self.folder.fold(label, fold) / "member"
        member = load(place)
        size = sum(path.stat().st_size for path in place.iterdir())
        if size <= self._room:
            self._room -= size
            self._kept[label, fold] = member
        return member

    def digest(self) -> str:
        """Hash of all files that decide the answers: the recipe's, the stack's and those of each member's fits."""
        places = [
            self.folder.fold(label, fold) / "member" for label in self.members for fold in range(self.folds)
        ]
        if self._stack is not None:
            places.append(self.folder.member(STACK))
        files = [path for place in places for path in sorted(place.iterdir()) if path.is_file()]
        return fingerprint(
            [
                (str(path.relative_to(self.folder.root)), sha256(path))
                for path in [self.folder.manifest_path, *files]
            ]
        )


def _load_stack(folder: RunFolder, recipe: Recipe) -> Stack:
    """The run's stack, if it was fitted on the recipe's members in this order, and as it would be now."""
    members = [part.label for part in recipe.members]
    place = folder.member(STACK)
    path, record = place / "stack.json", folder.stack(check=None)
    if record is None:
        raise DataError("the run has no stack yet", place=Place(path), remedy=folder.remedy)
    if record["members"] != members:
        # a run whose recipe was changed and that was killed before it stacked anew
        raise DataError(
            f"the stack weighs {', '.join(record['members'])}",
            place=Place(path),
            expected=f"the recipe's members: {', '.join(members)}",
            remedy=folder.remedy,
        )
    now = folder.manifest()["identity"] | of_stack(recipe)
    # whose opinions it weighs is asked of the members themselves
    before = {key: value for key, value in record.get("identity", {}).items() if key != "opinions"}
    refuse_stored(f"{recipe.name}:{STACK}", record | ({"identity": before} if before else {}), now, path)
    stacker = create_stacker(record["stacker"], **record["settings"])
    return Stack(stacker, create_calibrator(record["calibration"])).restore(read_state(place))
