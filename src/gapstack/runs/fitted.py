"""A finished run as a system that answers new rows: every fold's members, and the stack over them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection

import numpy as np

from gapstack.corpus import Corpus
from gapstack.ensemble import create_calibrator, create_stacker
from gapstack.errors import DataError, Place
from gapstack.members import Member
from gapstack.members.base import Probabilities
from gapstack.members.store import load, read_state
from gapstack.progress import progress
from gapstack.registry import unknown
from gapstack.runs.folder import STACK, RunFolder
from gapstack.runs.recipe import Recipe
from gapstack.runs.stack import Stack


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
        Keep fitted members in memory for the next question; else one fold's fit of one member is there at a time.

    Raises
    ------
    MemberError
        If the run has no such member.
    DataError
        If what is asked for is not finished.
    """

    def __init__(
        self, folder: RunFolder, only: Collection[str] = (), *, folds: int | None = None, keep: bool = False
    ):
        self.folder, self.recipe = folder, Recipe.of_run(folder)
        self.folds = self.recipe.folds if folds is None else min(folds, self.recipe.folds)
        self._kept: dict[tuple[str, int], Member] | None = {} if keep else None
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
                if folder.job(label, fold) is None:
                    raise DataError(
                        "the run is not finished",
                        place=Place(folder.fold(label, fold)),
                        remedy="Finish it first: gap run",
                    )
        self._stack = _load_stack(folder, every) if stacked else None

    def ask(
        self,
        rows: Corpus,
        labels: Collection[str] = (),
        say: Callable[[str], None] = lambda line: None,
    ) -> dict[str, Probabilities]:
        """Give (n, 3) of all systems, or of ``labels``; each member is asked once, and the stack weighs by fold."""
        labels = labels or list(self.not_for)
        stacked = STACK in labels
        parts = [label for label in self.members if stacked or label in labels]
        opinions: dict[str, list[Probabilities]] = {label: [] for label in parts}
        with progress("asking", len(parts) * self.folds) as ticker:
            for label in parts:
                say(f"asking {label}")
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
        if self._kept is None:
            return load(self.folder.fold(label, fold) / "member")
        if (label, fold) not in self._kept:
            self._kept[label, fold] = load(self.folder.fold(label, fold) / "member")
        return self._kept[label, fold]


def _load_stack(folder: RunFolder, members: list[str]) -> Stack:
    """The run's stack, if it was fitted on these members in this order."""
    place = folder.member(STACK)
    path = place / "stack.json"
    if not path.is_file():
        raise DataError("the run has no stack yet", place=Place(path), remedy="Finish it first: gap run")
    record = json.loads(path.read_text(encoding="utf-8"))
    missing = [key for key in ("members", "stacker", "settings", "calibration") if key not in record]
    if missing:
        raise DataError(
            f"no {missing[0]!r} here: an earlier version wrote this stack",
            place=Place(path),
            remedy="Stack anew; finished members are kept: gap run",
        )
    if record["members"] != members:
        # a run whose recipe was changed and that was killed before it stacked anew
        raise DataError(
            f"the stack weighs {', '.join(record['members'])}",
            place=Place(path),
            expected=f"the recipe's members: {', '.join(members)}",
            remedy="Finish the run first: gap run",
        )
    stacker = create_stacker(record["stacker"], **record["settings"])
    return Stack(stacker, create_calibrator(record["calibration"])).restore(read_state(place))
