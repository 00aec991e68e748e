"""Prediction of new rows: in memory, or a file of any length as a resumable stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from gapstack.data import Corpus
from gapstack.data.cells import Quarantine
from gapstack.data.contamination import warn_of_contamination
from gapstack.data.gap_files import read_gap_chunks, submission_text
from gapstack.errors import MemberError, MismatchError
from gapstack.files import fingerprint, write_text
from gapstack.members.predictor import Predictor
from gapstack.runs.executors import create_executor
from gapstack.runs.folder import RunFolder
from gapstack.runs.predictors import FittedRun, load
from gapstack.runs.recipe import Recipe
from gapstack.runs.stream import Chunk, resumable
from gapstack.types import Probabilities

CHUNK = 4096
"""Rows of a file that are in memory at once, and the most that a kill loses."""


def predict(folder: RunFolder, rows: Corpus, label: str = "") -> Probabilities:
    """Return (n, 3) probabilities of new rows by a finished run.

    Rows that were trained on are logged as a warning.

    Parameters
    ----------
    folder : RunFolder
    rows : Corpus
    label : str
        One member; by default the stack, or the last member of a run without a stack.

    Raises
    ------
    DataError
        If the run is not finished.
    MemberError
        If it has no such member.
    """
    fitted = FittedRun(folder, [label or Recipe.of_run(folder).best])
    warn_of_contamination(fitted.contaminated_by, rows.ids)
    return fitted.predict_proba(rows)


def predict_file(
    predictor: Predictor | str,
    source: Path,
    output: Path,
    *,
    quarantine: Quarantine | None = None,
    workers: int = 1,
    executor: str = "local",
) -> int:
    """Predict the rows of a file of any length, write a submission in their order, and return the number of rows.

    The whole file is checked first (a pipe's rows are kept in memory). Then chunks of :data:`CHUNK` rows are predicted
    and stored (:func:`~gapstack.runs.stream.resumable`), each under a hash of its rows and of the predictor with what
    it has learned, so a killed call continues where it was.

    Parameters
    ----------
    predictor : Predictor or str
        Several workers need its name, as :func:`~gapstack.runs.predictors.load` takes it.
    source : Path
        GAP or Kaggle TSV.
    output : Path
        Submission CSV.
    quarantine : Quarantine, optional
        Collects bad rows; without one the first bad row is raised, before any work.
    workers, executor
        See :func:`~gapstack.runs.executors.create_executor`.

    Raises
    ------
    MemberError
        For a prediction file, or several workers without a name.
    DataError
        As :func:`~gapstack.data.gap_files.read_gap`.
    MismatchError
        If another process is writing the same output.
    """
    execute, alone = create_executor(executor, workers), (executor, workers) == ("local", 1)
    known = predictor if isinstance(predictor, Predictor) else load(predictor, keep=True)
    if known.stored:
        raise MemberError("a prediction file cannot predict new rows; give a fitted member, a stack or a run")
    if predictor is known and not alone:
        raise MemberError("workers load the predictor by its name; give the name instead of the predictor")
    checked = read_gap_chunks(source, CHUNK, quarantine=quarantine)
    chunks = None if Path(source).is_file() else list(checked)  # a pipe can be read once
    ids = [example.id for chunk in chunks or checked for example in chunk]
    warn_of_contamination(known.contaminated_by, ids)
    identity = fingerprint(dict(known.identity))
    again = None if quarantine is None else replace(quarantine, problems=[], paths=[])
    compute = partial(_submission, known) if alone else partial(_submission_of, str(predictor), identity)

    def work() -> Iterator[Chunk]:
        for rows in chunks or read_gap_chunks(source, CHUNK, quarantine=again):
            key = fingerprint(identity, rows.fingerprint)
            yield Chunk(key, len(rows), f"the rows from {rows.ids[0]} on", rows)

    with resumable(
        Path(output), work(), compute, execute=execute, total=len(ids), title="predicting"
    ) as texts:
        write_text(output, "".join(_without_header(texts)))
    return len(ids)


def _submission(predictor: Predictor, rows: Corpus) -> bytes:
    return submission_text(rows.ids, predictor.predict_proba(rows)).encode()


def _submission_of(name: str, identity: str, rows: Corpus) -> bytes:
    return _submission(_load(name, identity), rows)


@lru_cache(maxsize=1)
def _load(name: str, identity: str) -> Predictor:
    """Load a predictor once per worker; MismatchError if it was replaced since the command began."""
    predictor = load(name, keep=True)
    if fingerprint(dict(predictor.identity)) != identity:
        raise MismatchError(f"{name} was replaced during the prediction; run the command again")
    return predictor


def _without_header(texts: Iterator[bytes]) -> Iterator[str]:
    """Submissions, the header of the first only."""
    for number, text in enumerate(texts):
        yield text.decode().partition("\n")[2] if number else text.decode()
