"""A finished run as predictors of new rows: every fold's members, and the stack over them."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from gapstack.corpus import Corpus
from gapstack.corpus.sources import SPLITS
from gapstack.ensemble.fitted_stacker import FittedStacker
from gapstack.errors import DataError, Place
from gapstack.files import atomic_folder, fingerprint, sha256
from gapstack.members import Member
from gapstack.members.member import each_once
from gapstack.members.predictor import Predictor
from gapstack.members.store import load, read_state
from gapstack.progress import progress
from gapstack.registry import unknown
from gapstack.runs.folder import STACK, RunFolder
from gapstack.runs.identity import of_stack, refuse_changed_members, refuse_stored
from gapstack.runs.recipe import Recipe
from gapstack.types import Probabilities

_log = logging.getLogger(__name__)
KEPT_BYTES = 1 << 30
"""Fitted members that are kept in memory take no more on disk: all folds of trees and heads, and of small encoders.

Others are read again for each corpus, which takes seconds where their predictions take minutes.
"""


class FittedRun(Predictor):
    """The fits of a finished run; predicts as its stack, or its last member if it has none.

    Each fold's fits are a whole system; their probabilities are averaged. ``systems`` has each member and the stack
    as a predictor. They share the base predictions of the last corpus, so that each member computes them once however
    many systems predict it. ``members`` are the labels of the members that are read for them.

    Parameters
    ----------
    folder : RunFolder
    only : collection of str
        Labels of members, or ``stack``; by default all that the run has.
    folds : int, optional
        How many folds predict, the first ones; by default all.
    keep : bool
        Keep fitted members in memory for the next corpus, as many as :data:`KEPT_BYTES` have room for; else one
        fold's fit of one member is there at a time.

    Raises
    ------
    MemberError
        If the run has no such member.
    DataError
        If what is needed is not finished or damaged; nothing has been computed then.
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
        self._base: dict[str, list[Probabilities]] = {}
        self._base_rows = ""
        self._logged: set[str] = set()
        every = [part.label for part in self.recipe.members]
        labels = [*every, *([STACK] if self.recipe.stacked else ())]
        for label in only:
            if label not in labels:
                raise unknown(f"member of run {folder.root.name}", label, labels)
        self.systems: Mapping[str, RunSystem] = {
            label: RunSystem(lambda: self, label) for label in labels if not only or label in only
        }
        stacked = STACK in self.systems
        self.members = [label for label in every if stacked or label in self.systems]
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

    @property
    def best(self) -> RunSystem:
        """The stack if it is there, else the last member."""
        return list(self.systems.values())[-1]

    @property
    def contaminated_by(self) -> tuple[str, ...]:
        """As of the best system."""
        return self.best.contaminated_by

    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Give (n, 3) of the best system."""
        return self.predict_as(self.best.label, corpus)

    def predict_as(self, label: str, corpus: Corpus) -> Probabilities:
        """Give (n, 3) of one system: a member's mean over folds, or the mean of the stacks of each fold's members."""
        if label != STACK or self._stack is None:
            mean: Probabilities = np.mean(self._base_predictions(corpus, [label])[label], axis=0)
            return mean
        base = self._base_predictions(corpus, self.members)
        by_fold = [
            np.stack([base[member][fold] for member in self.members], axis=1) for fold in range(self.folds)
        ]
        return self._stack.predict_proba(by_fold, corpus)

    def _base_predictions(self, corpus: Corpus, labels: Collection[str]) -> dict[str, list[Probabilities]]:
        """By member, (n, 3) of each fold's fit; kept until another corpus comes."""
        if corpus.fingerprint != self._base_rows:
            self._base, self._base_rows = {}, corpus.fingerprint
        missing = [label for label in labels if label not in self._base]
        with progress("asking", len(missing) * self.folds) as ticker:
            for label in missing:
                if label not in self._logged:
                    _log.info("asking %s", label)
                    self._logged.add(label)
                predictions = []
                for fold in range(self.folds):
                    member = self._member(label, fold)
                    if fold == 0:
                        member.prepare(corpus)
                    predictions.append(member.predict_proba(corpus))
                    ticker.advance(note=label)
                self._base[label] = predictions
        return self._base

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

    @cached_property
    def identity(self) -> Mapping[str, str]:
        """Digest of all files that decide the probabilities: the recipe, the stack and each member's fits."""
        places = [
            self.folder.fold(label, fold) / "member" for label in self.members for fold in range(self.folds)
        ]
        if self._stack is not None:
            places.append(self.folder.member(STACK))
        files = [path for place in places for path in sorted(place.iterdir()) if path.is_file()]
        digest = fingerprint(
            [
                (str(path.relative_to(self.folder.root)), sha256(path))
                for path in [self.folder.manifest_path, *files]
            ]
        )
        return {"run": f"{self.recipe.name} {digest}"}

    def save(self, folder: Path) -> None:
        """Copy the run, whole or not at all."""
        with atomic_folder(folder) as temporary:
            shutil.copytree(
                self.folder.root, temporary, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".lock")
            )


class RunSystem(Predictor):
    """A member or the stack of a finished run.

    Parameters
    ----------
    run : callable
        Gives the run, whose checks take time, when it is first needed.
    label : str
        Of the member, or ``stack``.
    """

    def __init__(self, run: Callable[[], FittedRun], label: str):
        self._run, self.label = run, label

    @property
    def contaminated_by(self) -> tuple[str, ...]:
        """What it learned from beside GAP, and GAP's splits that the run trained on."""
        recipe = self._run().recipe
        splits = (f"gap-{name}" for name in recipe.train if name in SPLITS)
        return each_once(recipe.contaminated_by()[self.label], splits)

    @property
    def identity(self) -> Mapping[str, str]:
        """That of the run, and the label."""
        return {**self._run().identity, "system": self.label}

    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Give (n, 3), from base predictions that the run's systems share."""
        return self._run().predict_as(self.label, corpus)

    def save(self, folder: Path) -> None:
        """Copy the run; ``load("FOLDER:LABEL")`` reads the system."""
        self._run().save(folder)


def _load_stack(folder: RunFolder, recipe: Recipe) -> FittedStacker:
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
    # whose base predictions it weighs is asked of the members themselves
    before = {key: value for key, value in record.get("identity", {}).items() if key != "base_predictions"}
    refuse_stored(f"{recipe.name}:{STACK}", record | ({"identity": before} if before else {}), now, path)
    return FittedStacker.restored(
        record["stacker"], record["settings"], record["calibration"], read_state(place)
    )
