"""Resumable streams: chunks computed by an executor, stored as they are finished, and read back in order."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gapstack.cache import intact_files, store
from gapstack.ensemble.stack import Executor
from gapstack.errors import DataError, Place
from gapstack.files import sweep
from gapstack.progress import progress
from gapstack.runs.folder import locked

_SUFFIX = ".chunk"


@dataclass(frozen=True)
class Chunk:
    """Work that is stored as one file: a hash of everything that decides its result, its size, what it is."""

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
    execute: Executor,
    total: float,
    title: str,
) -> Iterator[Iterator[bytes]]:
    """Compute all chunks, then yield their results in order to a block that writes ``output``.

    Results are stored in the folder ``OUTPUT.partial``, so a killed call continues where it was; the folder is
    deleted when the block ends without error.

    Parameters
    ----------
    output : Path
    chunks : iterable of Chunk
        Read once, a few ahead of the workers.
    compute : callable
        Returns the result of a chunk's content; must be picklable for several workers.
    execute : Executor
    total : float
        Sum of the chunks' sizes, for the progress bar called ``title``.

    Raises
    ------
    MismatchError
        If another process is writing the same output.
    """
    folder, keys = output.with_name(f"{output.name}.partial"), list[str]()
    with locked(folder):
        sweep(output.parent)
        with progress(title, total) as ticker:

            def missing() -> Iterator[Chunk]:
                for chunk in chunks:
                    keys.append(chunk.key)
                    if _stored(folder, chunk.key):
                        ticker.advance(chunk.size)
                    else:
                        yield chunk

            for chunk in execute(partial(_compute, compute=compute, folder=folder), missing()):
                ticker.advance(chunk.size)
        yield (_read(folder, key) for key in keys)
    shutil.rmtree(folder)


def _compute(chunk: Chunk, compute: Callable[[Any], bytes], folder: Path) -> None:
    store(folder, compute(chunk.content), _SUFFIX, f"{chunk.key}-")


def _stored(folder: Path, key: str) -> list[Path]:
    return intact_files(folder, _SUFFIX, f"{key}-")


def _read(folder: Path, key: str) -> bytes:
    paths = _stored(folder, key)
    if not paths:
        raise DataError(
            "stored results disappeared; is another process deleting them?",
            place=Place(folder),
            remedy="Run the command again",
        )
    return paths[0].read_bytes()
