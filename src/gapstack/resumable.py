"""Long work as a stream of chunks whose results are kept, so that a killed command resumes."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gapstack.cache import intact_files, store
from gapstack.errors import DataError, Place
from gapstack.files import locked, sweep
from gapstack.processes import create_executor
from gapstack.progress import progress

_SUFFIX = ".chunk"
_ROOM = 16 * 2**20  # bytes, more than the result of a chunk needs


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
    total: float,
    workers: int = 1,
    executor: str = "loky",
) -> Iterator[Iterator[bytes]]:
    """Compute all chunks, then yield their results in order to a block that writes ``output``.

    Results are stored in the folder ``OUTPUT.partial`` until the block ends without error. ``chunks`` are read once, a
    few ahead of the workers. Raises DataError, before a chunk is computed, if the disk has no room for its result.
    """
    folder, keys = Path(output).with_name(f"{Path(output).name}.partial"), list[str]()
    with locked(folder):
        try:
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
                for chunk, _ in create_executor(workers, executor)(work, missing()):
                    ticker.advance(chunk.size)
                ticker.finish()
            yield (_stored(folder, key)[0].read_bytes() for key in keys)
        except BaseException:
            if not any(folder.glob(f"*{_SUFFIX}")):  # nothing to resume
                shutil.rmtree(folder)
            raise
        shutil.rmtree(folder)


def _compute(chunk: Chunk, compute: Callable[[Any], bytes], folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < _ROOM:
        raise DataError(
            f"its disk has {free / 2**20:.1f} MB left",
            place=Place(folder),
            expected=f"{_ROOM // 2**20} MB for what is computed next",
            remedy="Free some space and repeat the command, which continues, or choose another output",
        )
    store(folder, compute(chunk.content), _SUFFIX, f"{chunk.key}-")


def _stored(folder: Path, key: str) -> list[Path]:
    return intact_files(folder, _SUFFIX, f"{key}-")
