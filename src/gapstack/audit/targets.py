"""What can be audited: a run's stack and members, a saved member, or files of probabilities and clusters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from gapstack.corpus import Corpus, Label
from gapstack.corpus.corpus import one_hot
from gapstack.errors import DataError, DataNotFoundError, Place
from gapstack.members import Member
from gapstack.members.member import each_once
from gapstack.members.store import is_saved, load, saved_record
from gapstack.resolvers.clusters import read_clusters
from gapstack.runs import RunFolder, home
from gapstack.runs.fitted import FittedRun
from gapstack.runs.folder import find_run
from gapstack.scoring import read_predictions
from gapstack.scoring.metrics import Bools, Floats

_PROBABILITIES = (".csv", ".csv.gz", ".csv.xz")
_CLUSTERS = (".jsonl", ".jsonl.gz", ".jsonl.xz")


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

    def covers(self, suite: str, system: str) -> bool:
        """Whether a system has answers to a suite's rows."""
        return True

    def remark(self, corpus: Corpus) -> str:
        """What a reader must know of the answers to a suite's rows; mostly nothing."""
        return ""


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
            name: each_once(member.contaminates(), (not_for or {}).get(name, ()))
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
    ):
        self._run = FittedRun(folder, [only] if only else (), folds=folds, keep=True)
        recipe = self._run.recipe
        trained_on = tuple(f"gap-{split}" for split in recipe.train)
        self.systems = {label: each_once(names, trained_on) for label, names in self._run.not_for.items()}
        self.title = f"run {recipe.name}" + (f", {only}" if only else "")
        which = "its first fold's fits" if folds == 1 else f"the mean of {self._run.folds} folds' fits"
        trained = f"trained on GAP {' and '.join(recipe.train)}, {recipe.labels} labels"
        self.note = f"{which} of {recipe.folds} folds, {trained}"

    def answer(self, corpus: Corpus, labels: Sequence[str]) -> dict[str, Floats]:
        """Ask each member once; the stack weighs what they say, fold by fold."""
        return self._run.ask(corpus, labels)


class Files(Target):
    """What somebody else's systems said, a file for each suite, named by it: probabilities or a resolver's clusters.

    A CSV holds probabilities (ID,A,B,NEITHER), a JSONL clusters (:mod:`gapstack.resolvers.clusters`). The pronoun's
    cluster decides as in ``gap clusters-to-gap``: the name that it has is the answer, with certainty; both names, none
    of them, and saying nothing of a row all count as NEITHER.

    Parameters
    ----------
    path : Path
        A file, a folder of them, or a folder of such folders, one for each system.
    suites : sequence of str

    Raises
    ------
    DataError
        If no file is named by a suite, or two of a system are named by the same.
    """

    def __init__(self, path: Path, suites: Sequence[str]):
        named = _by_suite(path, suites)
        if named:
            self._files = {path.name if path.is_dir() else "file": named}
        else:
            folders = (
                [folder for folder in sorted(path.iterdir()) if folder.is_dir()] if path.is_dir() else []
            )
            found = {folder.name: _by_suite(folder, suites) for folder in folders}
            self._files = {label: files for label, files in found.items() if files}
        if not self._files:
            raise DataError(
                "no file of answers to a suite",
                place=Place(path),
                expected=f"files named by suite, such as {suites[0]}.csv or {suites[0]}.jsonl "
                f"(there are: {', '.join(suites)})",
                remedy="Get the rows to answer with: gap audit-rows FOLDER",
            )
        self.title = f"files in {path.name}" if path.is_dir() else f"file {path.name}"
        self.note = "what their makers trained on is not known here, so that nothing can be refused for it"
        self.systems = dict.fromkeys(self._files, ())

    def covers(self, suite: str, system: str) -> bool:
        """Whether a file of the system is named by the suite."""
        return suite in self._files[system]

    def answer(self, corpus: Corpus, labels: Sequence[str]) -> dict[str, Floats]:
        """Read the files of the corpus's suite; their ids are those of the suite's rows.

        Raises
        ------
        DataError
            For decisions without probabilities in a CSV, other ids, or clusters of other texts.
        """
        found: dict[str, Floats] = {}
        for label in labels:
            path = self._files[label][corpus.name]
            if _holds_clusters(path):
                found[label] = _certain(read_clusters(path, corpus).decide(corpus))
                continue
            given = read_predictions(path, corpus).probabilities
            if given is None:
                raise DataError("decisions, no probabilities", place=Place(path), expected="a submission CSV")
            found[label] = given
        return found

    def remark(self, corpus: Corpus) -> str:
        """Whose clusters, how many rows they cover, and how many they name both of; which systems have no file."""
        told: list[str] = []
        for label, files in self._files.items():
            path = files.get(corpus.name)
            if path is None:
                told.append(f"{label} has no file of answers")
            elif _holds_clusters(path):
                clusters = read_clusters(path, corpus)
                covered, both = clusters.covers(corpus).sum(), clusters.decide(corpus).all(axis=1).sum()
                told.append(
                    f"{label} is what {clusters.name} decided: clusters of {covered:,} of {len(corpus):,} rows, both "
                    f"names in {both:,} of them; both, none and saying nothing count as neither"
                )
        return "; ".join(told)


def _by_suite(path: Path, suites: Sequence[str]) -> dict[str, Path]:
    """Files of answers by the suite that they are named by."""
    found: dict[str, Path] = {}
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        suite, _, suffix = file.name.partition(".")
        if suite in suites and f".{suffix}" in (*_PROBABILITIES, *_CLUSTERS):
            if suite in found:
                raise DataError(
                    f"{found[suite].name} and {file.name} both answer {suite}",
                    place=Place(path),
                    expected="one file of a system for each suite",
                    remedy="Put the files of each system into a folder of its own",
                )
            found[suite] = file
    return found


def _holds_clusters(path: Path) -> bool:
    return path.name.endswith(_CLUSTERS)


def _certain(decided: Bools) -> Floats:
    """Decisions (n, 2) for A and for B as answers (n, 3) without doubt; NEITHER where both or none is decided for."""
    one = decided[:, Label.A] != decided[:, Label.B]
    return one_hot(np.where(one, np.where(decided[:, Label.A], Label.A, Label.B), Label.NEITHER))


def target_of(name: str, suites: Sequence[str], *, folds: int = 1) -> Target:
    """What ``gap audit NAME`` means: a run or ``run:member``, a saved member's folder, or files of answers.

    Raises
    ------
    DataNotFoundError
        If it is none of them.
    """
    path = Path(name)
    if is_saved(path):
        record = saved_record(path)
        kind = record["name"]
        return Members({kind: load(path)}, f"member {kind}", {kind: tuple(record.get("not_for", ()))})
    run = find_run(name)
    if run is not None:
        folder, only = run
        return RunTarget(folder, only or None, folds=folds)
    if path.exists():
        return Files(path, suites)
    raise DataNotFoundError(
        f"{name} is no run, member or file: looked for {path}, and for a run of this name in {home() / 'models'}. "
        "Give a run (NAME or folder), RUN:MEMBER, a saved member's folder, or files named by suite in a folder"
    )
