"""Prediction of files of any length."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from gapstack.data import Corpus
from gapstack.data.cells import Quarantine
from gapstack.data.contamination import warn_of_contamination
from gapstack.data.gap_files import read_gap_chunks, submission_text
from gapstack.errors import MemberError
from gapstack.files import fingerprint, write_text
from gapstack.members.member import Predictor
from gapstack.resumable import Chunk, resumable
from gapstack.runs.predictors import load

CHUNK = 2048
"""Rows in memory at once. An interruption loses at most the predictions of one chunk per worker, and at the end workers
wait for each other for one chunk at most."""


def predict_file(
    predictor: Predictor | str,
    source: Path,
    output: Path,
    *,
    quarantine: Quarantine | None = None,
    workers: int = 1,
    executor: str = "loky",
    limit: int | None = None,
) -> int:
    """Predict the rows of a file of any length, write a submission in their order, and return the number of rows.

    The whole file, or its first ``limit`` rows, is checked first. Then chunks of :data:`CHUNK` rows are predicted and
    stored (:func:`resumable`), each under a hash of its rows and of the predictor with its learned state. Raises
    MemberError for a prediction file, or for several workers and a predictor that is not given by name.
    """
    alone = workers == 1
    known = predictor if isinstance(predictor, Predictor) else load(predictor)
    if known.stored:
        raise MemberError("a prediction file cannot predict new rows; give a fitted member, a stack or a run")
    if predictor is known and not alone:
        raise MemberError("workers load the predictor by its name; give the name instead of the predictor")
    checked = _chunks(source, limit, quarantine)
    chunks = None if Path(source).is_file() else list(checked)  # a pipe can be read only once
    ids = [example.id for chunk in chunks or checked for example in chunk]
    warn_of_contamination(known.contaminated_by, ids)
    identity = fingerprint(dict(known.identity))
    again = None if quarantine is None else replace(quarantine, problems=[], paths=[])

    def work() -> Iterator[Chunk]:
        for rows in chunks or _chunks(source, limit, again):
            key = fingerprint(identity, rows.fingerprint)
            yield Chunk(key, len(rows), f"the rows from {rows.ids[0]} on", rows)

    compute = partial(_submission, known if alone else str(predictor))
    with resumable(output, work(), compute, total=len(ids), workers=workers, executor=executor) as texts:
        lines = (text.decode().splitlines(keepends=True) for text in texts)
        write_text(output, "".join("".join(chunk[number > 0 :]) for number, chunk in enumerate(lines)))
    return len(ids)


def _chunks(source: Path, limit: int | None, quarantine: Quarantine | None) -> Iterator[Corpus]:
    """Rows of a file, the first ``limit`` at most, a chunk at a time."""
    left = limit
    for chunk in read_gap_chunks(
        source, CHUNK if limit is None else min(CHUNK, limit), quarantine=quarantine
    ):
        yield chunk if left is None else chunk[:left]
        if left is not None and (left := left - len(chunk)) <= 0:
            return


def _submission(predictor: Predictor | str, rows: Corpus) -> bytes:
    known = _load_once(predictor) if isinstance(predictor, str) else predictor
    return submission_text(rows.ids, known.predict_proba(rows)).encode()


_load_once = lru_cache(maxsize=1)(load)
