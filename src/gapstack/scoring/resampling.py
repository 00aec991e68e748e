"""Pages as the units of resampling: sums by page, resamples of pages, random signs of pages.

Rows of one page are not independent, so whole pages are resampled or exchanged. The same seed and number of pages give
the same draws, which pairs separate calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gapstack.errors import MismatchError
from gapstack.types import Floats

REPLICATES = 10_000

_BLOCK = 500  # replicates at a time: 500 x 2,000 pages of weights are 8 MB, which stays near the cache


@dataclass(frozen=True, eq=False)
class Pages:
    """Which page each row is on: ``place`` (n,) numbers the pages 0 to ``count`` - 1."""

    place: NDArray[np.int64]
    count: int

    @classmethod
    def of(cls, groups: NDArray[np.str_]) -> Pages:
        """Number the pages of a corpus's ``groups``."""
        names, place = np.unique(groups, return_inverse=True)
        return cls(place, len(names))

    @property
    def sizes(self) -> Floats:
        """Rows of each page, (pages,)."""
        return np.bincount(self.place, minlength=self.count).astype(np.float64)

    def sums(self, values: Floats) -> Floats:
        """Sum (n, ...) values by page: (pages, ...).

        Raises MismatchError if there is not one value for each row.
        """
        if len(values) != len(self.place):
            raise MismatchError(f"{len(values)} values for {len(self.place)} rows")
        order = np.argsort(self.place, kind="stable")
        starts = np.flatnonzero(np.diff(self.place[order], prepend=-1))
        summed: Floats = np.add.reduceat(np.asarray(values)[order], starts, axis=0)
        return summed


def resamples(pages: int, replicates: int, seed: int) -> Iterator[Floats]:
    """Blocks of (replicates, pages): counts of each page in a sample of all pages with replacement."""
    generator = np.random.default_rng(seed)
    for size in _blocks(replicates):
        draws = generator.integers(0, pages, (size, pages))
        draws += np.arange(size)[:, None] * pages
        yield np.bincount(draws.ravel(), minlength=size * pages).reshape(size, pages).astype(np.float64)


def sign_flips(pages: int, replicates: int, seed: int) -> Iterator[Floats]:
    """Blocks of (replicates, pages) fair signs, 1 or -1."""
    generator = np.random.default_rng(seed)
    for size in _blocks(replicates):
        yield generator.integers(0, 2, (size, pages), dtype=np.int8).astype(np.float64) * 2 - 1


def mean_intervals(
    groups: NDArray[np.str_],
    values: Floats,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    level: float = 0.95,
) -> Floats:
    """Means of (n, k) values over rows with percentile intervals, pages resampled: (k, 3) value, low, high."""
    pages = Pages.of(groups)
    table = np.column_stack([pages.sizes, pages.sums(values)])
    totals = np.concatenate([weights @ table for weights in resamples(pages.count, replicates, seed)])
    means = totals[:, 1:] / totals[:, :1]
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return np.stack([np.asarray(values).mean(axis=0), low, high], axis=1)


def _blocks(replicates: int) -> Iterator[int]:
    for start in range(0, replicates, _BLOCK):
        yield min(_BLOCK, replicates - start)
