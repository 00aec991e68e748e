"""New rows through a finished run, or any other predictor."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from gapstack.cache import intact_files, store
from gapstack.corpus import Corpus
from gapstack.corpus.cells import Quarantine
from gapstack.corpus.contamination import warn_of_contamination
from gapstack.corpus.readers import read_gap_chunks
from gapstack.corpus.writers import submission_text
from gapstack.errors import DataError, MemberError, Place
from gapstack.files import fingerprint, sweep, write_text
from gapstack.members.predictor import Predictor
from gapstack.progress import progress
from gapstack.runs.executors import create_executor, execute_stream
from gapstack.runs.fitted import FittedRun
from gapstack.runs.folder import RunFolder, locked
from gapstack.runs.predictors import load
from gapstack.runs.recipe import Recipe
from gapstack.types import Probabilities

CHUNK = 4096
"""Rows of a file that are in memory at once, and that a kill costs at most. Other chunks, other batches: members that
compute in batches may answer otherwise in their last digits."""
_SUFFIX = ".csv"
_ROUND = 8
"""Chunks for each worker that are handed out together: workers start anew for the next ones."""


def predict(folder: RunFolder, rows: Corpus, label: str = "") -> Probabilities:
    """Give (n, 3) probabilities for new rows by a finished run: every fold's members, stacked, averaged over folds.

    Rows that were trained on are logged as a warning.

    Parameters
    ----------
    folder : RunFolder
    rows : Corpus
    label : str
        One member that shall answer alone; by default the stack, or the last member of a run without.

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


@dataclass(frozen=True)
class Chunk:
    """Some rows to answer; a job for :mod:`gapstack.runs.executors`.

    Attributes
    ----------
    predictor : Predictor or str
        Or its name, by which each process reads it once.
    identity : str
        Hash of what it is.
    rows : Corpus
    """

    predictor: Predictor | str
    identity: str
    rows: Corpus

    @property
    def name(self) -> str:
        """Name for display."""
        return f"the rows from {self.rows.ids[0]} on"

    @property
    def key(self) -> str:
        """Hash of everything that decides the answers."""
        return fingerprint(self.identity, self.rows.fingerprint)

    @property
    def size(self) -> int:
        """Rows."""
        return len(self.rows)

    def is_done(self, folder: RunFolder) -> bool:
        """Whether its answers are stored."""
        return bool(intact_files(folder.root, _SUFFIX, f"{self.key}-"))

    def run(self, folder: RunFolder) -> None:
        """Answer the rows and store the answers, as a submission."""
        predictor = (
            self.predictor if isinstance(self.predictor, Predictor) else _kept(self.predictor, self.identity)
        )
        text = submission_text(self.rows.ids, predictor.predict_proba(self.rows))
        store(folder.root, text.encode(), _SUFFIX, f"{self.key}-")


@lru_cache(maxsize=1)
def _kept(name: str, identity: str) -> Predictor:
    """The predictor of this process, until it is asked for another."""
    return load(name, keep=True)


def predict_file(
    predictor: Predictor | str,
    source: Path,
    output: Path,
    *,
    quarantine: Quarantine | None = None,
    workers: int = 1,
    executor: str = "local",
) -> int:
    """Answer the rows of a file of any length, and write a submission in their order.

    The whole file is checked first (a pipe's rows are kept in memory). Then chunks of :data:`CHUNK` rows are read,
    answered and stored in the folder ``OUTPUT.partial``, each under a hash of its rows and of the predictor, so
    that a killed call goes on where it was and nothing of other rows or of another predictor is taken up. The output
    appears whole, at the end, and its bytes do not depend on the workers.

    Parameters
    ----------
    predictor : Predictor or str
        One of stored rows alone is refused. Several workers need its name, as :func:`~gapstack.runs.predictors.load`
        takes it.
    source : Path
        GAP or Kaggle TSV.
    output : Path
        Submission CSV.
    quarantine : Quarantine, optional
        Takes bad rows; without one the first of them is raised, before any work.
    workers, executor
        See :func:`~gapstack.runs.executors.create_executor`.

    Returns
    -------
    int: how many rows were answered.

    Raises
    ------
    MemberError
        If the predictor knows stored rows alone, or several workers are given no name.
    DataError
        As :func:`~gapstack.corpus.readers.read_gap` of the file.
    MismatchError
        If another process is writing the same output.
    """
    execute, here = create_executor(executor, workers), (executor, workers) == ("local", 1)
    known = predictor if isinstance(predictor, Predictor) else load(predictor, keep=True)
    if known.stored:
        raise MemberError(
            "a file of answers knows its own rows alone; new rows need a fitted member, a stack or a run"
        )
    if predictor is known and not here:
        raise MemberError("workers read the predictor by its name; give the name instead of the predictor")
    checked = read_gap_chunks(source, CHUNK, quarantine=quarantine)
    chunks = None if Path(source).is_file() else list(checked)  # a pipe can be read once
    ids = [example.id for chunk in chunks or checked for example in chunk]
    warn_of_contamination(known.contaminated_by, ids)
    output, identity = Path(output), fingerprint(dict(known.identity))
    parts = RunFolder(output.with_name(f"{output.name}.partial"))
    with locked(parts.root), progress("predicting", len(ids)) as bar:
        sweep(output.parent)
        again = None if quarantine is None else replace(quarantine, problems=[], paths=[])
        coming = (
            Chunk(known if here else predictor, identity, rows)
            for rows in chunks or read_gap_chunks(source, CHUNK, quarantine=again)
        )
        keys = execute_stream(coming, parts, execute, 1 if here else _ROUND * workers, bar.advance)
        write_text(output, "".join(_texts(parts.root, keys)))
    shutil.rmtree(parts.root)
    return len(ids)


def _texts(parts: Path, keys: Sequence[str]) -> Iterator[str]:
    """The stored answers of each chunk, with the header of the first."""
    for number, key in enumerate(keys):
        stored = intact_files(parts, _SUFFIX, f"{key}-")
        if not stored:
            raise DataError(
                "answers vanish after they are stored", place=Place(parts), remedy="Name another --output"
            )
        text = stored[0].read_bytes().decode()
        yield text.partition("\n")[2] if number else text
