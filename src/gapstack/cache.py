"""Cache of recomputable results, keyed by a hash of their inputs.

On disk, a file is named after the SHA-256 of its bytes; a damaged one is deleted with a warning and computed again.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache, wraps
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save

from gapstack.files import CACHE, atomic_path, digest, discard, require_writable, sweep
from gapstack.processes import fork_count, in_processes
from gapstack.progress import print_note, progress
from gapstack.types import Ints

Value = TypeVar("Value")
Read = TypeVar("Read", bound=Callable[..., Any])
SHARD_ROWS = 512
_SUFFIX = ".safetensors"
_DIGITS = 32
_KEY_BYTES = 16


def store(folder: Path, blob: bytes, suffix: str, label: str = "") -> Path:
    """Write ``blob`` to a file named by ``label``, its digest and ``suffix``, unless it is there; return the path."""
    path = folder / f"{label}{hashlib.sha256(blob).hexdigest()[:_DIGITS]}{suffix}"
    if not _is_intact(path, label, suffix):
        with atomic_path(path) as temporary:
            temporary.write_bytes(blob)
    return path


def _is_intact(path: Path, label: str, suffix: str) -> bool:
    """True for a file with the digest in its name."""
    return path.is_file() and path.name == f"{label}{digest(path)[:_DIGITS]}{suffix}"


def intact_files(folder: Path, suffix: str, label: str = "") -> list[Path]:
    """Files that :func:`store` wrote, sorted by name; damaged and unfinished ones are deleted."""
    _sweep_once(folder)
    intact = []
    for path in sorted(folder.glob(f"{label}*{suffix}")):
        with suppress(FileNotFoundError):  # deleted by another process
            if _is_intact(path, label, suffix):
                intact.append(path)
            elif not path.name.startswith("."):  # being written
                discard(path)
                warning = f"damaged cache file {path}: deleted; its contents will be computed again"
                print_note(warning, "yellow")
    return intact


_sweep_once = cache(sweep)


@dataclass(frozen=True, slots=True)
class Ragged:
    """n arrays of different lengths, concatenated: ``values`` (total, ...) and ``sizes`` (n,)."""

    values: NDArray[Any]
    sizes: Ints

    def entries(self) -> list[NDArray[Any]]:
        """The n arrays."""
        return np.split(self.values, self.sizes.cumsum())[:-1]


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """Concatenate the ranges ``start .. start + size - 1``."""
    ends = sizes.cumsum()
    return np.arange(int(sizes.sum())) + np.repeat(starts - (ends - sizes), sizes)


def array_digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Hash of every array's name, type, shape and contents."""
    digest = hashlib.blake2b(digest_size=16)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def content_key(*parts: bytes) -> bytes:
    """Key (16 bytes) of what is computed from ``parts``."""
    return hashlib.blake2b(b"".join(parts), digest_size=_KEY_BYTES).digest()


def fetch_arrays(
    folder: Path,
    keys: Sequence[bytes],
    names: Sequence[str],
    compute: Callable[[Ints, Sequence[str]], Mapping[str, Ragged]],
    lengths: Ints,
    title: str,
    *,
    in_forks: bool = False,
) -> dict[str, Ragged]:
    """Return the arrays of all keys under each name from a folder, computing and storing missing ones.

    ``compute(rows, names)`` returns arrays for up to :data:`SHARD_ROWS` distinct missing keys, sorted by ``lengths``;
    with ``in_forks``, in several processes at once where these are quicker (:func:`gapstack.processes.fork_count`).
    """
    index = _index(folder, names)
    lacking = [name for name in names if not index[name].keys() >= set(keys)]
    stored = set(keys).intersection(*(index[name] for name in lacking))
    first = {key: row for row, key in reversed(list(enumerate(keys))) if key not in stored}
    missing = np.array(sorted(first.values()) if lacking else [], dtype=np.int64)
    missing = missing[np.argsort(lengths[missing], kind="stable")]
    if len(missing):
        require_writable(folder, CACHE)

    def fill(rows: Ints) -> int:
        """Compute and store a shard, and return its number of rows."""
        shard_keys = np.frombuffer(b"".join(keys[row] for row in rows), dtype=np.uint8)
        content: dict[str, NDArray[Any]] = {"keys": shard_keys.reshape(-1, _KEY_BYTES)}
        for name, ragged in compute(rows, lacking).items():
            content[name], content[f"sizes:{name}"] = np.ascontiguousarray(ragged.values), ragged.sizes
        store(folder, save(content), _SUFFIX)
        return len(rows)

    # the longest rows first, so that processes finish together
    shards = [missing[start : start + SHARD_ROWS] for start in range(0, len(missing), SHARD_ROWS)][::-1]
    with progress(title, len(missing)) as ticker:
        for done in in_processes(fill, shards, fork_count(len(shards), len(missing)) if in_forks else 1):
            ticker.advance(done)
    if len(missing):
        index = _index(folder, names)
    return {name: _gather([index[name][key] for key in keys], name) for name in names}


def _index(folder: Path, names: Sequence[str]) -> dict[str, dict[bytes, tuple[Path, int]]]:
    """Shard and row of each key's array, by name."""
    index: dict[str, dict[bytes, tuple[Path, int]]] = {name: {} for name in names}
    for shard in intact_files(folder, _SUFFIX):
        keys, shard_names = _contents(shard)
        for name in shard_names.intersection(names):
            index[name].update((key, (shard, row)) for row, key in enumerate(keys))
    return index


@lru_cache(maxsize=4096)  # a shard's path identifies its contents
def _contents(shard: Path) -> tuple[list[bytes], set[str]]:
    with safe_open(shard, framework="numpy") as tensors:
        return [key.tobytes() for key in tensors.get_tensor("keys")], set(tensors.keys())


def _gather(locations: Sequence[tuple[Path, int]], name: str) -> Ragged:
    """Read arrays by shard and row."""
    shards: dict[Path, list[NDArray[Any]]] = {}
    for shard, _ in locations:
        if shard not in shards:
            with safe_open(shard, framework="numpy") as tensors:
                whole = Ragged(tensors.get_tensor(name), tensors.get_tensor(f"sizes:{name}"))
            shards[shard] = whole.entries()
    arrays = [shards[shard][row] for shard, row in locations]
    sizes = np.array([len(array) for array in arrays], dtype=np.int64)
    return Ragged(np.concatenate(arrays or [np.empty(0)]), sizes)


def row_key(example: Any, *more: Hashable) -> tuple[Hashable, ...]:
    """Everything of a :class:`~gapstack.data.Example` except id and label, and ``more``, as a key."""
    return (example.text, example.pronoun, example.a, example.b, example.url, *more)


class Memory(Generic[Value]):
    """At most ``most`` values by key in memory; least recently used ones are evicted first."""

    def __init__(self, most: int):
        self._most = most
        self._values: OrderedDict[Hashable, Value] = OrderedDict()

    def fetch(self, keys: Sequence[Hashable], compute: Callable[[list[int]], Iterable[Value]]) -> list[Value]:
        """Value of each key; ``compute`` is called at most once, with the positions of distinct missing keys."""
        new = {key: position for position, key in reversed(list(enumerate(keys))) if key not in self._values}
        positions = sorted(new.values())
        if positions:
            for position, value in zip(positions, compute(positions), strict=True):
                self._values[keys[position]] = value
        values = [self._values[key] for key in keys]
        for key in keys:  # not popped meanwhile, since other threads read them
            self._values.move_to_end(key)
        for key in list(islice(self._values, max(0, len(self._values) - self._most))):
            del self._values[key]
        return values

    def forget(self) -> None:
        """Drop all values."""
        self._values.clear()


def by_content(key: Callable[..., Hashable], most: int = 8) -> Callable[[Read], Read]:
    """Cache a function that reads files by ``key``, digests of all that decides its result."""

    def decorate(read: Read) -> Read:
        memory: Memory[Any] = Memory(most)

        @wraps(read)
        def remember(*args: Any, **kwargs: Any) -> Any:
            return memory.fetch([key(*args, **kwargs)], lambda _: [read(*args, **kwargs)])[0]

        return cast(Read, remember)

    return decorate
