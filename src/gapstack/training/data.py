"""Training data: rows that become tensors, in batches of similar length."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from gapstack.encoding.pieces import PieceView
from gapstack.types import Rows

Targets = NDArray[np.int64] | NDArray[np.float64]
"""Class labels (n,) int64, or soft labels (n, c): a teacher's probabilities of the classes."""

TARGET = "target"
"""Key of a batch that goes to the loss and not to the model."""
# Rows are sorted by length within pools of so many batches: large enough for batches of nearly equal length, small
# enough for batches to stay random.
POOL = 16


class Data(Protocol):
    """Rows for training or prediction."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of pieces of each row, (n,); 1 where rows are vectors."""

    @property
    def fingerprint(self) -> str:
        """Hash of everything that :meth:`batch` can return."""

    def batch(self, rows: Rows, length: int | None = None) -> dict[str, torch.Tensor]:
        """Keyword arguments of the model for ``rows``, and ``target`` where they have one.

        Rows are padded to ``length`` pieces (of :attr:`sizes`) with a mask in any case; by default to the longest of
        them.
        """


class RowData:
    """Rows that are vectors, or arrays of one shape, such as frozen features.

    Parameters
    ----------
    inputs : mapping of name to array
        The model's inputs, one entry of the first axis for each row; float64 becomes float32.
    targets : (n,) int64 or (n, c) float64, optional
    """

    def __init__(self, inputs: Mapping[str, NDArray[Any]], targets: Targets | None = None):
        self._columns = _columns(inputs, targets)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """1 for each row."""
        return np.ones(len(next(iter(self._columns.values()))), dtype=np.int64)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of inputs and targets."""
        return _fingerprint(self._columns)

    def batch(self, rows: Rows, length: int | None = None) -> dict[str, torch.Tensor]:
        """Give the inputs of ``rows`` by name, and ``target`` where there are targets; nothing is padded."""
        return {name: torch.from_numpy(column[rows]) for name, column in self._columns.items()}


class PieceData:
    """Texts as padded word pieces.

    A batch of b rows, the longest of L pieces, has ``ids`` (b, L) int64; ``keep`` (b, L) bool, True on pieces and
    False on padding, left out where nothing is padded, since attention without a mask is faster; ``mentions``
    (b, 3, 2) int64, half-open piece ranges of pronoun, A and B; and the ``extras``.

    Parameters
    ----------
    view : PieceView
    targets : (n,) int64 or (n, c) float64, optional
    extras : mapping of name to array, optional
        Further inputs, one entry of the first axis for each row; float64 becomes float32.
    """

    def __init__(
        self,
        view: PieceView,
        targets: Targets | None = None,
        extras: Mapping[str, NDArray[Any]] | None = None,
    ):
        self.view = view
        self._columns = _columns({"mentions": view.mentions, **(extras or {})}, targets)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of pieces of each text, (n,)."""
        return self.view.lengths

    @cached_property
    def fingerprint(self) -> str:
        """Hash of pieces, mentions, extras and targets."""
        return _fingerprint({"ids": self.view.ids, "bounds": self.view.bounds, **self._columns})

    def batch(self, rows: Rows, length: int | None = None) -> dict[str, torch.Tensor]:
        """See the class and :class:`Data`."""
        lengths = self.view.lengths[rows]
        keep = np.arange(lengths.max() if length is None else length) < lengths[:, None]
        ids = np.zeros(keep.shape, dtype=np.int64)
        ids[keep] = np.concatenate([self.view.ids[self.view.row(row)] for row in rows])
        arrays = {name: column[rows] for name, column in self._columns.items()} | {"ids": ids}
        if length is not None or not keep.all():
            arrays["keep"] = keep
        return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _columns(inputs: Mapping[str, NDArray[Any]], targets: Targets | None) -> dict[str, NDArray[Any]]:
    columns = dict(inputs) if targets is None else {**inputs, TARGET: targets}
    return {
        name: column.astype(np.float32) if column.dtype == np.float64 else column
        for name, column in columns.items()
    }


def _fingerprint(arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def epoch_batches(
    sizes: NDArray[np.int64], batch_size: int, seed: int, epoch: int, order: str = "by_length"
) -> list[Rows]:
    """Divide all rows into batches in an ``order`` of :class:`~gapstack.training.TrainingPlan`.

    All batches have ``batch_size`` rows but one, which has the remainder. By length, rows of a batch are sorted by
    size. Random orders depend on ``seed`` and ``epoch`` alone.
    """
    if order != "by_length":
        rows = np.arange(len(sizes))
        if order == "shuffled":
            rng = np.random.default_rng(seed)
            rows = [rng.permutation(rows) for _ in range(epoch + 1)][-1]
        return np.split(rows, range(batch_size, len(rows), batch_size))
    rng = np.random.default_rng([seed, epoch])
    shuffled = rng.permutation(len(sizes))
    parts: list[Rows] = []
    for start in range(0, len(shuffled), POOL * batch_size):
        pool = shuffled[start : start + POOL * batch_size]
        pool = pool[np.argsort(sizes[pool], kind="stable")]
        # the short batch goes to a random place in the pool, or it would always have the longest rows
        rest = len(pool) % batch_size
        cut = int(rng.integers(len(pool) // batch_size + 1)) * batch_size
        ends = [*range(batch_size, cut + 1, batch_size), *range(cut + rest, len(pool), batch_size)]
        parts += [part for part in np.split(pool, ends) if len(part)]
    return [parts[index] for index in rng.permutation(len(parts))]


def batches(lengths: NDArray[np.int64], budget: int) -> Iterator[NDArray[np.int64]]:
    """Split positions 0..n-1 into runs whose padded size, count times longest, stays within ``budget``.

    A text longer than the budget is a batch of its own. Wants ``lengths`` sorted to waste little.
    """
    start, longest = 0, 0
    for end, length in enumerate(lengths):
        longest = max(longest, int(length))
        if end > start and longest * (end + 1 - start) > budget:
            yield np.arange(start, end)
            start, longest = end, int(length)
    if start < len(lengths):
        yield np.arange(start, len(lengths))
