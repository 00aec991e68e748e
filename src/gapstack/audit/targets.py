"""What can be audited: a run's stack and members, a saved member, or files of probabilities and clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gapstack.corpus import Corpus
from gapstack.errors import DataError, DataNotFoundError, Place
from gapstack.files import fingerprint
from gapstack.members.predictor import Predictor
from gapstack.members.store import is_saved, load, saved_record
from gapstack.runs import RunFolder, home
from gapstack.runs.fitted import FittedRun
from gapstack.runs.folder import find_run
from gapstack.runs.predictors import CLUSTERS, PROBABILITIES, PredictionFile, prediction_file
from gapstack.types import Probabilities


@dataclass(frozen=True)
class Target:
    """Predictors by label.

    ``title`` names what is audited; ``note`` is what a reader of the figures must know of it.
    """

    systems: Mapping[str, Predictor]
    title: str = "members at hand"
    note: str = ""


class SuiteFiles(Predictor):
    """One system's files, each named by the suite whose rows it has; a corpus is known by its suite's name."""

    stored = True

    def __init__(self, files: Mapping[str, PredictionFile]):
        self.files = files

    @property
    def identity(self) -> Mapping[str, str]:
        """Digests of the files, by suite."""
        return {suite: fingerprint(dict(file.identity)) for suite, file in self.files.items()}

    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Read the suite's file; raises as that does."""
        return self.files[corpus.name].predict_proba(corpus)

    def save(self, folder: Path) -> None:
        """Copy the files."""
        for file in self.files.values():
            file.save(folder)

    def covers(self, name: str) -> bool:
        """Whether a file is named by the suite."""
        return name in self.files

    def remark(self, corpus: Corpus) -> str:
        """The file's remark, or that there is none."""
        return (
            self.files[corpus.name].remark(corpus) if self.covers(corpus.name) else "has no file of answers"
        )


def run_target(folder: RunFolder, only: str | None = None, *, folds: int = 1) -> Target:
    """Audit a finished run: its stack and its members, or one of them.

    Parameters
    ----------
    folder : RunFolder
    only : str, optional
        Label of a member, or ``stack``; by default all of them.
    folds : int
        How many of the run's folds predict; their probabilities are averaged. Each fold's fits are a whole system, so
        that one is enough to audit what was trained, at a fraction of the time.

    Raises
    ------
    DataError
        If the run is not finished.
    MemberError
        If it has no such member.
    """
    run = FittedRun(folder, [only] if only else (), folds=folds, keep=True)
    recipe = run.recipe
    which = "its first fold's fits" if folds == 1 else f"the mean of {run.folds} folds' fits"
    trained = f"trained on {recipe.trained_on}, {recipe.labels} labels"
    return Target(
        run.systems,
        f"run {recipe.name}" + (f", {only}" if only else ""),
        f"{which} of {recipe.folds} folds, {trained}",
    )


def files_target(path: Path, suites: Sequence[str]) -> Target:
    """Audit somebody else's systems by files of answers to the suites, each file named by its suite.

    Parameters
    ----------
    path : Path
        A file, a folder of them, or a folder of such folders, one for each system;
        :func:`~gapstack.runs.predictors.prediction_file` says what files may be.
    suites : sequence of str

    Raises
    ------
    DataError
        If no file is named by a suite, or two of a system are named by the same.
    """
    by_label = {path.name if path.is_dir() else "file": _by_suite(path, suites)}
    if not any(by_label.values()) and path.is_dir():
        by_label = {
            folder.name: _by_suite(folder, suites) for folder in sorted(path.iterdir()) if folder.is_dir()
        }
    systems = {label: SuiteFiles(files) for label, files in by_label.items() if files}
    if not systems:
        raise DataError(
            "no file of answers to a suite",
            place=Place(path),
            expected=f"files named by suite, such as {suites[0]}.csv or {suites[0]}.jsonl "
            f"(there are: {', '.join(suites)})",
            remedy="Get the rows to answer with: gap audit-rows FOLDER",
        )
    return Target(
        systems,
        f"files in {path.name}" if path.is_dir() else f"file {path.name}",
        "what their makers trained on is not known here, so that nothing can be refused for it",
    )


def _by_suite(path: Path, suites: Sequence[str]) -> dict[str, PredictionFile]:
    """Files of answers by the suite that they are named by."""
    files: dict[str, PredictionFile] = {}
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        suite, _, suffix = file.name.partition(".")
        if suite in suites and f".{suffix}" in (*PROBABILITIES, *CLUSTERS):
            if suite in files:
                raise DataError(
                    f"{files[suite].path.name} and {file.name} both answer {suite}",
                    place=Place(path),
                    expected="one file of a system for each suite",
                    remedy="Put the files of each system into a folder of its own",
                )
            files[suite] = prediction_file(file)
    return files


def as_target(
    system: Target | Predictor | Mapping[str, Predictor] | str | Path, suites: Sequence[str], **options: Any
) -> Target:
    """Make a target of fitted predictors, or of what :func:`target_of` finds by a name or path."""
    if isinstance(system, Target):
        return system
    if isinstance(system, str | Path):
        return target_of(str(system), suites, **options)
    return Target({type(system).__name__: system} if isinstance(system, Predictor) else system)


def target_of(name: str, suites: Sequence[str], *, folds: int = 1) -> Target:
    """What ``gap audit NAME`` means: a run or ``run:member``, a saved member's folder, or files of answers.

    Raises
    ------
    DataNotFoundError
        If it is none of them.
    """
    path = Path(name)
    if is_saved(path):
        kind = saved_record(path)["name"]
        return Target({kind: load(path)}, f"member {kind}")
    run = find_run(name)
    if run is not None:
        folder, only = run
        return run_target(folder, only or None, folds=folds)
    if path.exists():
        return files_target(path, suites)
    raise DataNotFoundError(
        f"{name} is no run, member or file: looked for {path}, and for a run of this name in {home() / 'models'}. "
        "Give a run (NAME or folder), RUN:MEMBER, a saved member's folder, or files named by suite in a folder"
    )
