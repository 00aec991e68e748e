"""New rows through a finished run, or any other predictor."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path

from gapstack.corpus import Corpus
from gapstack.corpus.cells import Quarantine
from gapstack.corpus.contamination import warn_of_contamination
from gapstack.corpus.readers import read_gap_chunks
from gapstack.corpus.writers import submission_text
from gapstack.errors import MemberError
from gapstack.files import fingerprint, sweep, write_text
from gapstack.members.predictor import Predictor
from gapstack.progress import progress
from gapstack.runs.fitted import FittedRun
from gapstack.runs.folder import RunFolder, locked
from gapstack.runs.recipe import Recipe
from gapstack.types import Probabilities

CHUNK = 4096
"""Rows of a file that are in memory at once, and that a kill costs at most. Other chunks, other batches: members that
compute in batches may answer otherwise in their last digits."""


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


def predict_file(
    predictor: Predictor,
    source: Path,
    output: Path,
    *,
    quarantine: Quarantine | None = None,
) -> int:
    """Answer the rows of a file of any length, and write a submission in their order.

    The whole file is checked first (a pipe's rows are kept in memory). Then :data:`CHUNK` rows at a time are read,
    answered and stored in the folder ``OUTPUT.partial``, each chunk under a hash of its rows and of the predictor, so
    that a killed call goes on where it was and nothing of other rows or of another predictor is taken up. The output
    appears whole, at the end.

    Parameters
    ----------
    predictor : Predictor
        One of stored rows alone is refused.
    source : Path
        GAP or Kaggle TSV.
    output : Path
        Submission CSV.
    quarantine : Quarantine, optional
        Takes bad rows; without one the first of them is raised, before any work.

    Returns
    -------
    int: how many rows were answered.

    Raises
    ------
    MemberError
        If the predictor knows stored rows alone.
    DataError
        As :func:`~gapstack.corpus.readers.read_gap` of the file.
    MismatchError
        If another process is writing the same output.
    """
    if predictor.stored:
        raise MemberError(
            "a file of answers knows its own rows alone; new rows need a fitted member, a stack or a run"
        )
    checked = read_gap_chunks(source, CHUNK, quarantine=quarantine)
    chunks = None if Path(source).is_file() else list(checked)  # a pipe can be read once
    ids = [example.id for chunk in chunks or checked for example in chunk]
    warn_of_contamination(predictor.contaminated_by, ids)
    output, identity = Path(output), fingerprint(dict(predictor.identity))
    parts = output.with_name(f"{output.name}.partial")
    with locked(parts), progress("predicting", len(ids)) as bar:
        sweep(output.parent)
        texts: list[str] = []
        again = None if quarantine is None else replace(quarantine, problems=[], paths=[])
        for rows in chunks or read_gap_chunks(source, CHUNK, quarantine=again):
            key = fingerprint(identity, rows.fingerprint)
            text = _stored(parts, key)
            if text is None:
                text = submission_text(rows.ids, predictor.predict_proba(rows))
                write_text(parts / f"{key}-{_digest(text)}.csv", text)
            # every chunk has a header
            texts.append(text if not texts else text.partition("\n")[2])
            bar.advance(len(rows))
        write_text(output, "".join(texts))
    shutil.rmtree(parts)
    return len(ids)


def _stored(parts: Path, key: str) -> str | None:
    """A chunk's answers, if they were stored and are what was stored."""
    for path in parts.glob(f"{key}-*.csv"):
        text = path.read_bytes().decode("utf-8", "replace")
        if path.stem == f"{key}-{_digest(text)}":
            return text
    return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
