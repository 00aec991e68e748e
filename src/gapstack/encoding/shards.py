"""A cache of arrays on disk, keyed by the content that they are computed from.

A shard holds up to :data:`SHARD_ROWS` keys and, by name, an entry of any length for each of them, end to end. It is one
safetensors file, written whole or not at all and never changed. So a killed run loses at most one shard, and several
processes may fill one folder: what two of them compute at once is stored twice. A damaged shard is deleted and computed
again (:mod:`gapstack.cache`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save

from gapstack.cache import intact_files, store
from gapstack.progress import progress
from gapstack.types import Ints

SHARD_ROWS = 512
_KEY_BYTES = 16
_SUFFIX = ".safetensors"
# A shard may be deleted between listing and reading, by the user or as damaged by another process; more than twice in a
# row is no accident.
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Ragged:
    """n entries of any length, end to end.

    Attributes
    ----------
    values : (total, ...) array
    sizes : (n,) int64
        Length of each entry.
    """

    values: NDArray[Any]
    sizes: Ints

    def __len__(self) -> int:
        return len(self.sizes)

    def entries(self) -> list[NDArray[Any]]:
        """Values of each entry."""
        return np.split(self.values, self.sizes.cumsum())[:-1]

    def take(self, rows: Ints) -> NDArray[Any]:
        """Values of the entries ``rows``, end to end in that order."""
        starts = self.sizes.cumsum() - self.sizes
        return np.asarray(self.values[ranges(starts[rows], self.sizes[rows])])


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """Positions ``start .. start + size - 1`` of every pair, end to end."""
    ends = sizes.cumsum()
    return np.arange(int(sizes.sum())) + np.repeat(starts - (ends - sizes), sizes)


def content_key(*parts: bytes) -> bytes:
    """Key of what is computed from ``parts``: 16 bytes."""
    return hashlib.blake2b(b"".join(parts), digest_size=_KEY_BYTES).digest()


class _GoneError(KeyError):
    """Entries that are not there, or no more."""


class Shards:
    """One folder of shards.

    Parameters
    ----------
    folder : Path
        Need not exist. Its name should identify all else that decides the values.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    def fetch(
        self,
        keys: Sequence[bytes],
        names: Sequence[str],
        compute: Callable[[Ints, Sequence[str]], Mapping[str, Ragged]],
        lengths: Ints,
        title: str,
    ) -> dict[str, Ragged]:
        """Entries of all keys under each of ``names``; missing ones are computed.

        ``compute`` gets up to :data:`SHARD_ROWS` positions of distinct keys, in order of their ``lengths``, so that
        texts of a batch are alike, and the incomplete names; it returns the entries of each such name in that order.
        """
        attempt = 0
        while True:
            index, needs = self._index(names), set(keys)
            incomplete = [name for name in names if not needs <= index[name].keys()]
            if incomplete:
                missing = self.missing(keys, incomplete)
                missing = missing[np.argsort(lengths[missing], kind="stable")]
                with progress(title, total=len(missing)) as ticker:
                    for start in range(0, len(missing), SHARD_ROWS):
                        rows = missing[start : start + SHARD_ROWS]
                        self.add([keys[row] for row in rows], compute(rows, incomplete))
                        ticker.advance(len(rows))
            try:
                return self.read(keys, names)
            except _GoneError:
                attempt += 1
                if attempt == _TRIES:
                    raise

    def missing(self, keys: Sequence[bytes], names: Sequence[str]) -> Ints:
        """Positions of the keys that have no entry under some of ``names``; of equal keys the first."""
        stored = set(keys).intersection(*self._index(names).values())
        first = {key: row for row, key in reversed(list(enumerate(keys))) if key not in stored}
        return np.array(sorted(first.values()), dtype=np.int64)

    def add(self, keys: Sequence[bytes], entries: Mapping[str, Ragged]) -> None:
        """Store a shard."""
        content: dict[str, NDArray[Any]] = {
            "keys": np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, _KEY_BYTES)
        }
        for name, entry in entries.items():
            content |= {name: np.ascontiguousarray(entry.values), f"sizes:{name}": entry.sizes}
        store(self.folder, save(content), _SUFFIX)

    def read(self, keys: Sequence[bytes], names: Sequence[str]) -> dict[str, Ragged]:
        """Give the entries of all keys under each of ``names``; KeyError where there is none.

        Of no keys at all the values are of shape (0,).
        """
        index = self._index(names)
        try:
            return {name: _gather([index[name][key] for key in keys], name) for name in names}
        except (KeyError, FileNotFoundError) as error:
            raise _GoneError(f"{self.folder} does not hold all of {', '.join(names)} ({error})") from error

    def _index(self, names: Sequence[str]) -> dict[str, dict[bytes, tuple[Path, int]]]:
        """Where each key's entry of each name lies: a shard and a row of it."""
        index: dict[str, dict[bytes, tuple[Path, int]]] = {name: {} for name in names}
        for shard in intact_files(self.folder, _SUFFIX):
            keys, there = _contents(shard)
            for name in names:
                if name in there:
                    index[name].update((key, (shard, row)) for row, key in enumerate(keys))
        return index


# a shard is named after its bytes, so its path identifies its contents
@lru_cache(maxsize=4096)
def _contents(shard: Path) -> tuple[list[bytes], set[str]]:
    """Keys of a shard, in order, and the names under which it has entries of them."""
    with safe_open(shard, framework="numpy") as tensors:
        keys = [key.tobytes() for key in tensors.get_tensor("keys")]
        return keys, set(tensors.keys())


def _gather(locations: Sequence[tuple[Path, int]], name: str) -> Ragged:
    """Read the entries at ``locations``, shard by shard, into their places."""
    places: dict[Path, list[int]] = {}
    for place, (shard, _) in enumerate(locations):
        places.setdefault(shard, []).append(place)
    rows = np.array([row for _, row in locations], dtype=np.int64)
    sizes = np.zeros(len(rows), dtype=np.int64)
    own_sizes: dict[Path, Ints] = {}
    for shard, own in places.items():
        with safe_open(shard, framework="numpy") as tensors:
            own_sizes[shard] = tensors.get_tensor(f"sizes:{name}")
        sizes[own] = own_sizes[shard][rows[own]]
    starts = sizes.cumsum() - sizes
    values: NDArray[Any] = np.empty(0)
    for number, (shard, own) in enumerate(places.items()):
        with safe_open(shard, framework="numpy") as tensors:
            there = Ragged(tensors.get_tensor(name), own_sizes[shard])
        if number == 0:
            values = np.empty((int(sizes.sum()), *there.values.shape[1:]), there.values.dtype)
        values[ranges(starts[own], sizes[own])] = there.take(rows[own])
    return Ragged(values, sizes)
