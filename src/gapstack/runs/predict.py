"""Prediction of a file of any length, and other long work, as resumable streams of chunks."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from gapstack.cache import intact_files, store
from gapstack.data import Corpus
from gapstack.data.cells import Quarantine
from gapstack.data.contamination import warn_of_contamination
from gapstack.data.gap_files import read_gap_chunks, submission_text
from gapstack.errors import MemberError
from gapstack.files import fingerprint, sweep, write_text
from gapstack.members.member import Predictor
from gapstack.processes import create_executor
from gapstack.progress import progress
from gapstack.runs.folder import locked
from gapstack.runs.predictors import load

CHUNK = 4096  # rows of a file that are in memory at once, and the most that a kill loses


def predict_file(
    predictor: Predictor | str,
    source: Path,
    output: Path,
    *,
    quarantine: Quarantine | None = None,
    workers: int = 1,
) -> int:
    """Predict the rows of a file of any length, write a submission in their order, and return the number of rows.

    The whole file is checked first. Then chunks of :data:`CHUNK` rows are predicted and stored (:func:`resumable`),
    each under a hash of its rows and of the predictor with what it has learned.
    """
    alone = workers == 1
    known = predictor if isinstance(predictor, Predictor) else load(predictor)
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

    def work() -> Iterator[Chunk]:
        for rows in chunks or read_gap_chunks(source, CHUNK, quarantine=again):
            key = fingerprint(identity, rows.fingerprint)
            yield Chunk(key, len(rows), f"the rows from {rows.ids[0]} on", rows)

    compute = partial(_submission, known if alone else str(predictor))
    with resumable(output, work(), compute, workers=workers, total=len(ids)) as texts:
        lines = (text.decode().splitlines(keepends=True) for text in texts)
        write_text(output, "".join("".join(one[number > 0 :]) for number, one in enumerate(lines)))
    return len(ids)


def _submission(predictor: Predictor | str, rows: Corpus) -> bytes:
    known = _load_once(predictor) if isinstance(predictor, str) else predictor
    return submission_text(rows.ids, known.predict_proba(rows)).encode()


_load_once = lru_cache(maxsize=1)(load)


@dataclass(frozen=True)
class Chunk:
    """Work whose result is stored as one file under ``key``, a hash of everything that decides it."""

    key: str
    size: float
    name: str
    content: Any


@contextmanager
def resumable(
    output: Path,
    chunks: Iterable[Chunk],
    compute: Callable[[Any], bytes],
    *,
    workers: int,
    total: float,
) -> Iterator[Iterator[bytes]]:
    """Compute all chunks, then yield their results in order to a block that writes ``output``.

    Results are stored in the folder ``OUTPUT.partial`` until the block ends without error. ``chunks`` are read once, a
    few ahead of the workers.
    """
    folder, keys = Path(output).with_name(f"{Path(output).name}.partial"), list[str]()
    with locked(folder):
        sweep(folder.parent)
        with progress("predicting", total) as ticker:

            def missing() -> Iterator[Chunk]:
                for chunk in chunks:
                    keys.append(chunk.key)
                    if _stored(folder, chunk.key):
                        ticker.advance(chunk.size)
                    else:
                        yield chunk

            work = partial(_compute, compute=compute, folder=folder)
            for chunk in create_executor(workers)(work, missing()):
                ticker.advance(chunk.size)
        yield (_stored(folder, key)[0].read_bytes() for key in keys)
    shutil.rmtree(folder)


def _compute(chunk: Chunk, compute: Callable[[Any], bytes], folder: Path) -> None:
    store(folder, compute(chunk.content), ".chunk", f"{chunk.key}-")


def _stored(folder: Path, key: str) -> list[Path]:
    return intact_files(folder, ".chunk", f"{key}-")
