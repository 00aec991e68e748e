"""What can be audited: a run's stack and members, a saved member, or files of probabilities."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from gapstack.corpus import Corpus
from gapstack.errors import DataError, DataNotFoundError, MemberError, Place
from gapstack.members import Member
from gapstack.members.store import load
from gapstack.runs import Recipe, RunFolder, home
from gapstack.runs.predict import load_stack
from gapstack.scoring import read_predictions
from gapstack.scoring.metrics import Floats

STACK = "stack"
_SUFFIXES = (".csv", ".csv.gz", ".csv.xz")


class Target(ABC):
    """Systems by label, each with the test sets and suites that it has heard about.

    ``title`` says what is audited; ``note`` what a reader of the figures must know of it.
    """

    title: str
    note: str = ""
    systems: Mapping[str, tuple[str, ...]]

    @abstractmethod
    def answer(self, corpus: Corpus, labels: Sequence[str]) -> dict[str, Floats]:
        """Give each system's (n, 3) probabilities of A, B and NEITHER."""

    def covers(self, suite: str) -> bool:
        """Whether there are answers to a suite's rows."""
        return True


class Members(Target):
    """Fitted members by label, without a run: a saved one, or what a program has at hand."""

    def __init__(
        self,
        members: Mapping[str, Member],
        title: str = "members at hand",
        not_for: Mapping[str, tuple[str, ...]] | None = None,
    ):
        self.members, self.title = members, title
        self.systems = {
            name: _union(member.contaminates(), (not_for or {}).get(name, ()))
            for name, member in members.items()
        }

    def answer(self, corpus: Corpus, labels: Sequence[str]) -> dict[str, Floats]:
        """Ask the members, which share the views that they prepare."""
        found: dict[str, Floats] = {}
        for label in labels:
            self.members[label].prepare(corpus)
            found[label] = self.members[label].predict_proba(corpus)
        return found


class RunTarget(Target):
    """A finished run: its stack and its members, or one of them.

    Parameters
    ----------
    folder : RunFolder
    only : str, optional
        Label of a member, or ``stack``; by default all of them.
    folds : int
        How many of the run's folds answer; their answers are averaged. Each fold's fits are a whole system, so that
        one is enough to audit what was trained, at a fraction of the time.
    say : callable
        Told which member is asked.

    Raises
    ------
    DataError
        If the run is not finished.
    MemberError
        If it has no such member.
    """

    def __init__(
        self,
        folder: RunFolder,
        only: str | None = None,
        *,
        folds: int = 1,
        say: Callable[[str], None] = lambda line: None,
    ):
        self.folder, self._say = folder, say
        self.recipe = Recipe.parse(folder.manifest()["recipe"], str(folder.manifest_path))
        self.folds = min(folds, self.recipe.folds)
        self._fitted: dict[tuple[str, int], Member] = {}
        labels = [part.label for part in self.recipe.members]
        stacked = bool(self.recipe.stackers) and len(labels) > 1
        self._stack = load_stack(folder, labels) if stacked and only in (None, STACK) else None
        trained_on = tuple(f"gap-{split}" for split in self.recipe.train)
        known = {label: _union(self._not_for(label), trained_on) for label in labels}
        if self._stack is not None:
            known[STACK] = _union(*known.values())
        if only is not None and only not in known:
            raise MemberError(f"the run has no {only!r}; it has: {', '.join([*labels, STACK])}")
        self.systems = known if only is None else {only: known[only]}
        self.title = f"run {self.recipe.name}" + (f", {only}" if only else "")
        which = "its first fold's fits" if self.folds == 1 else f"the mean of {self.folds} folds' fits"
        self.note = (
            f"{which} of {self.recipe.folds} folds, trained on GAP {' and '.join(self.recipe.train)}, "
            f"{self.recipe.labels} labels"
        )

    def _not_for(self, label: str) -> tuple[str, ...]:
        path = self.folder.fold(label, 0) / "member" / "member.json"
        if not path.is_file():
            raise DataError("the run is not finished", place=Place(path), remedy="Finish it first: gap run")
        written = tuple(json.loads(path.read_text(encoding="utf-8")).get("not_for", ()))
        return _union(written, self._member(label, 0).contaminates())

    def _member(self, label: str, fold: int) -> Member:
        if (label, fold) not in self._fitted:
            self._fitted[label, fold] = load(self.folder.fold(label, fold) / "member")
        return self._fitted[label, fold]

    def answer(self, corpus: Corpus, labels: Sequence[str]) -> dict[str, Floats]:
        """Ask each member once; the stack weighs what they say, fold by fold."""
        parts = [part.label for part in self.recipe.members if STACK in labels or part.label in labels]
        opinions: dict[str, list[Floats]] = {}
        for label in parts:
            self._say(label)
            self._member(label, 0).prepare(corpus)
            opinions[label] = [self._member(label, fold).predict_proba(corpus) for fold in range(self.folds)]
        found: dict[str, Floats] = {
            label: np.mean(given, axis=0) for label, given in opinions.items() if label in labels
        }
        if STACK in labels and self._stack is not None:
            by_fold = [np.stack([opinions[p][fold] for p in parts], axis=1) for fold in range(self.folds)]
            found[STACK] = self._stack.predict_proba(by_fold, corpus)
        return found


class Files(Target):
    """Probabilities that somebody else's system gave, a CSV (ID,A,B,NEITHER) for each suite, named by it."""

    def __init__(self, path: Path, suites: Sequence[str]):
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        self._files = {
            file.name.removesuffix(suffix): file
            for file in files
            for suffix in _SUFFIXES
            if file.name.endswith(suffix) and file.name.removesuffix(suffix) in suites
        }
        if not self._files:
            raise DataError(
                "no file of probabilities for a suite",
                place=Place(path),
                expected=f"files named by suite, such as {suites[0]}.csv (there are: {', '.join(suites)})",
                remedy="Get the rows to answer with: gap audit-rows FOLDER",
            )
        self._label = path.name if path.is_dir() else "file"
        self.title = f"files in {path.name}" if path.is_dir() else f"file {path.name}"
        self.note = "what their makers trained on is not known here, so that nothing can be refused for it"
        self.systems = {self._label: ()}

    def covers(self, suite: str) -> bool:
        """Whether a file is named by the suite."""
        return suite in self._files

    def answer(self, corpus: Corpus, labels: Sequence[str]) -> dict[str, Floats]:
        """Read the file of the corpus's suite; its ids are those of the suite's rows.

        Raises
        ------
        DataError
            For decisions without probabilities, or other ids.
        """
        path = self._files[corpus.name]
        found = read_predictions(path, corpus).probabilities
        if found is None:
            raise DataError("decisions, no probabilities", place=Place(path), expected="a submission CSV")
        return {self._label: found}


def target_of(
    name: str, suites: Sequence[str], *, folds: int = 1, say: Callable[[str], None] = lambda line: None
) -> Target:
    """What ``gap audit NAME`` means: a run or ``run:member``, a saved member's folder, or files of probabilities.

    Raises
    ------
    DataNotFoundError
        If it is none of them.
    """
    path = Path(name)
    if (path / "member.json").is_file():
        record = json.loads((path / "member.json").read_text(encoding="utf-8"))
        kind = record["name"]
        return Members({kind: load(path)}, f"member {kind}", {kind: tuple(record.get("not_for", ()))})
    run, _, only = name.partition(":")
    for folder in (path, Path(run), home() / "models" / name, home() / "models" / run):
        if (folder / "run.json").is_file():
            whole = folder.name == path.name
            return RunTarget(RunFolder(folder), None if whole else only or None, folds=folds, say=say)
    if path.exists():
        return Files(path, suites)
    raise DataNotFoundError(
        f"{name} is no run, member or file: looked for {path}, and for a run of this name in {home() / 'models'}. "
        "Give a run (NAME or folder), RUN:MEMBER, a saved member's folder, or a CSV or folder of CSVs named by suite"
    )


def _union(*names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(names)))
