"""What can be audited: a run's stack and members, a saved member, or files of probabilities and clusters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gapstack.data import Corpus
from gapstack.errors import DataError, DataNotFoundError, Place
from gapstack.files import fingerprint
from gapstack.members.member import Predictor
from gapstack.members.saved import saved_record
from gapstack.runs.folder import RunFolder, fetch, find_run, home, language_model, on_hub
from gapstack.runs.predictors import CLUSTERS, PROBABILITIES, FittedRun, PredictionFile, load, saved_folder
from gapstack.types import Probabilities


@dataclass(frozen=True)
class Target:
    """What is audited: predictors by label, a title, and a caveat (``note``) for readers of the figures.

    ``loads`` are the arguments with which :func:`target_of` loads it in another process, None for objects.
    """

    systems: Mapping[str, Predictor]
    title: str
    note: str = ""
    loads: tuple[str, int] | None = None


class SuiteFiles(Predictor):
    """One system's prediction files by suite; a corpus is recognised by its suite's name."""

    stored = True

    def __init__(self, files: Mapping[str, PredictionFile]):
        self.files = files

    @property
    def identity(self) -> Mapping[str, str]:
        """Digests of the files, by suite."""
        return {suite: fingerprint(dict(file.identity)) for suite, file in self.files.items()}

    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Read the suite's file; raises as :meth:`PredictionFile.predict_proba` does."""
        return self.files[corpus.name].predict_proba(corpus)

    def save(self, folder: Path) -> None:
        """Copy the files."""
        for file in self.files.values():
            file.save(folder)

    def covers(self, name: str) -> bool:
        """True if there is a file for the suite."""
        return name in self.files

    def remark(self, corpus: Corpus) -> str:
        """The remark of the suite's file, or that there is no file."""
        file = self.files.get(corpus.name)
        return file.remark(corpus) if file else "has no file of answers"


def run_target(folder: RunFolder, only: str | None = None, *, folds: int = 1) -> Target:
    """Target of a finished run, or of ``only`` one of its members; the fits of the first ``folds`` are averaged."""
    run = FittedRun(folder, only or "", folds=folds).check()
    recipe = run.recipe
    which = "its first fold's fits" if folds == 1 else f"the mean of {run.folds} folds' fits"
    note = f"{which} of {recipe.folds} folds, trained on {recipe.trained_on}, {recipe.labels} labels"
    return Target(
        {run.label: run} if only else run.systems, f"run {recipe.name}" + (f", {only}" if only else ""), note
    )


def files_target(path: Path, suites: Sequence[str]) -> Target:
    """Target of prediction files named by suite: a file, a folder of files, or a folder for each system.

    Raises DataError if there is no such file, or two for one suite.
    """
    by_label = {path.name: _files_by_suite(path, suites)}
    if not any(by_label.values()) and path.is_dir():
        folders = (folder for folder in sorted(path.iterdir()) if folder.is_dir())
        by_label = {folder.name: _files_by_suite(folder, suites) for folder in folders}
    systems = {label: SuiteFiles(files) for label, files in by_label.items() if files}
    if not systems:
        names = f"such as {suites[0]}.csv or {suites[0]}.jsonl (suites: {', '.join(suites)})"
        raise DataError(
            "no file of answers to a suite",
            place=Place(path),
            expected=f"files named by suite, {names}",
            remedy="Write the rows to predict with: gap audit-rows FOLDER",
        )
    title = f"files in {path.name}" if path.is_dir() else f"file {path.name}"
    return Target(
        systems, title, "what they were trained on is not known, so nothing is refused as contaminated"
    )


def _files_by_suite(path: Path, suites: Sequence[str]) -> dict[str, PredictionFile]:
    files: dict[str, PredictionFile] = {}
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        suite, _, suffix = file.name.partition(".")
        if suite not in suites or f".{suffix}" not in (*PROBABILITIES, *CLUSTERS):
            continue
        if suite in files:
            raise DataError(
                f"{files[suite].path.name} and {file.name} are both predictions for {suite}",
                place=Place(path),
                expected="one file for each system and suite",
                remedy="Put the files of each system into a folder of its own",
            )
        files[suite] = PredictionFile(file)
    return files


def target_of(name: str, suites: Sequence[str], *, folds: int = 1) -> Target:
    """Find the target of ``gap audit NAME``: what :func:`gapstack.load` reads, or files named by suite."""
    return replace(_target_of(name, suites, folds), loads=(name, folds))


def _target_of(name: str, suites: Sequence[str], folds: int) -> Target:
    path = Path(name)
    if (saved := saved_folder(name)) is not None:
        kind = saved_record(saved)["name"]
        return Target({path.resolve().name: load(name)}, name, f"a saved member, {kind}")
    run = find_run(name)
    if run is not None:
        folder, only = run
        return run_target(folder, only or None, folds=folds)
    if path.exists():
        return files_target(path, suites)
    if language_model(name) is not None:
        return Target({"prompted": load(name)}, f"language model {name}", "without examples, not calibrated")
    if on_hub(name):
        return _target_of(fetch(name), suites, folds)
    raise DataNotFoundError(
        f"{name} is not a run, member or file: looked for {path}, and for a run of this name in {home() / 'models'}. "
        "Give a run (NAME or folder), RUN:MEMBER, a saved member's folder, or files named by suite in a folder"
    )
