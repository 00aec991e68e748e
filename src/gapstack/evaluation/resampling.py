"""Resampling of whole pages: intervals by bootstrap, p-values by exchanging two systems' predictions.

Rows of one page are not independent, so whole pages are resampled (pairs-cluster bootstrap; Cameron, Gelbach and Miller
2008, section 3.1) or exchanged. Every score follows from sums over rows, such as counts or losses, so that one matrix
product of (replicates, pages) by (pages, sums) gives every score of every member on the same replicates, which pairs
their differences. The same seed and number of pages give the same draws, which pairs separate calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapstack.errors import DataError, MismatchError
from gapstack.types import Floats

REPLICATES = 10_000
FEWEST_PAGES = 30
"""Below this number of pages intervals are too narrow, and come with a warning."""

_BLOCK = 500  # replicates at a time, whose weights and sums stay near the cache

Score = Callable[[Floats], Floats]
"""Maps sums (..., 1 + k), the first of which is the number of rows, to scores (...) or (..., scores)."""


class Interval(NamedTuple):
    """A value with its percentile interval; NaN where it has none."""

    value: float
    low: float
    high: float


class Difference(NamedTuple):
    """First value minus second, its interval, and the two-sided p-value of no difference."""

    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, eq=False)
class Pages:
    """The page of each row: ``place`` (n,) numbers the pages from 0 to ``count`` - 1."""

    place: NDArray[np.int64]
    count: int

    @classmethod
    def of(cls, groups: NDArray[np.str_]) -> Pages:
        """Number the pages of a corpus's ``groups``."""
        names, place = np.unique(groups, return_inverse=True)
        return cls(place, len(names))

    def sums(self, values: Floats) -> Floats:
        """Sum (n, ...) values by page: (pages, ...). Raises MismatchError if there is not one value for each row."""
        if len(values) != len(self.place):
            raise MismatchError(f"{len(values)} values for {len(self.place)} rows")
        order = np.argsort(self.place, kind="stable")
        starts = np.flatnonzero(np.diff(self.place[order], prepend=-1))
        summed: Floats = np.add.reduceat(np.asarray(values)[order], starts, axis=0)
        return summed

    def row_sums(self, rows: Floats) -> Floats:
        """Number of rows and sums of (n, ..., k) contributions by page: (pages, ..., 1 + k)."""
        if not rows.size:
            raise DataError("there is nothing to resample", expected="at least one member and one row")
        return self.sums(np.concatenate([np.ones((*rows.shape[:-1], 1)), rows], axis=-1))


def few_pages_warning(groups: NDArray[np.str_]) -> str:
    """The warning that belongs next to intervals over these pages; empty from :data:`FEWEST_PAGES` pages on."""
    count = len(np.unique(groups))
    if count >= FEWEST_PAGES:
        return ""
    if count == 1:
        return "there are no intervals, because all rows are of one page"
    return f"only {count} pages: 95% intervals are too narrow (at 10 pages they cover 86%)"


def resamples(pages: int, replicates: int, seed: int) -> Iterator[Floats]:
    """Blocks of (replicates, pages): counts of each page in a sample of all pages with replacement."""
    generator = np.random.default_rng(seed)
    for size in _blocks(replicates):
        draws = generator.integers(0, pages, (size, pages))
        draws += np.arange(size)[:, None] * pages
        yield np.bincount(draws.ravel(), minlength=size * pages).reshape(size, pages).astype(np.float64)


def sign_flips(pages: int, replicates: int, seed: int) -> Iterator[Floats]:
    """Blocks of (replicates, pages) random signs, 1 or -1."""
    generator = np.random.default_rng(seed)
    for size in _blocks(replicates):
        yield generator.integers(0, 2, (size, pages), dtype=np.int8).astype(np.float64) * 2 - 1


def _blocks(replicates: int) -> Iterator[int]:
    for start in range(0, replicates, _BLOCK):
        yield min(_BLOCK, replicates - start)


@dataclass(frozen=True, eq=False)
class Resampled:
    """Scores of all rows, ``points`` (...), and of resampled pages, ``samples`` (replicates, ...)."""

    points: Floats
    samples: Floats
    pages: int

    def intervals(self) -> Floats:
        """Value, low and high of every score, (..., 3)."""
        ends = percentiles(self.samples) if self.pages > 1 else np.full((2, *self.points.shape), np.nan)
        return np.stack([self.points, *ends], axis=-1)


def clustered(
    groups: NDArray[np.str_], rows: Floats, score: Score, *, replicates: int = REPLICATES, seed: int = 0
) -> Resampled:
    """Score resampled pages.

    Parameters
    ----------
    groups : (n,) array
        What is resampled as a whole: ``corpus.groups``.
    rows : (n, ..., k) float64
        Contributions of the rows to the sums that the score follows from; other axes may hold members.
    score : callable
        See :data:`Score`.
    replicates, seed : int
    """
    pages = Pages.of(groups)
    sums = pages.row_sums(rows)
    flat = sums.reshape(pages.count, -1)
    blocks = [
        score((weights @ flat).reshape(-1, *sums.shape[1:]))
        for weights in resamples(pages.count, replicates, seed)
    ]
    return Resampled(score(sums.sum(axis=0)), np.concatenate(blocks), pages.count)


def mean_intervals(
    groups: NDArray[np.str_], values: Floats, *, replicates: int = REPLICATES, seed: int = 0
) -> Floats:
    """Means of (n, k) values over rows with their intervals, (k, 3)."""
    means = clustered(
        groups, values, lambda sums: sums[..., 1:] / sums[..., :1], replicates=replicates, seed=seed
    )
    return means.intervals()


def percentiles(samples: Floats) -> Floats:
    """Ends of the 95% percentile intervals of (replicates, ...) samples without their NaNs, (2, ...)."""
    ends = [0.025, 0.975]
    known = ~np.isnan(samples)
    if known.all():
        return np.asarray(np.quantile(samples, ends, axis=0))
    result = np.full((2, *samples.shape[1:]), np.nan)
    some = known.any(axis=0)
    result[:, some] = np.nanquantile(samples[:, some], ends, axis=0)
    return result


def bootstrap_p(differences: Floats) -> Floats:
    """Two-sided p-values of (replicates, ...) resampled differences, (...); NaN without a value.

    Twice the smaller share of replicates on either side of 0, the observed one counted in (Davison and Hinkley 1997,
    section 4.2), so never 0.
    """
    side = np.minimum((differences <= 0).sum(axis=0), (differences >= 0).sum(axis=0))
    total = (~np.isnan(differences)).sum(axis=0)
    return np.where(total > 0, np.minimum(1.0, 2 * (side + 1) / (total + 1)), np.nan)


def exchange_p(
    groups: NDArray[np.str_], rows: Floats, score: Score, *, replicates: int = REPLICATES, seed: int = 0
) -> Floats:
    """Two-sided p-values of equal scores for all pairs of members, (m, m), NaN on the diagonal and without a score.

    The test exchanges the predictions of two members on random pages (approximate randomisation: Noreen 1989; Yeh 2000
    for F1). The sums after an exchange are half their total plus and minus half the signed difference, so one matrix
    product serves all pairs. ``rows`` are (n, m, k); all else as in :func:`clustered`.
    """
    pages = Pages.of(groups)
    sums = pages.row_sums(rows)
    count, flat = sums.shape[1], sums.reshape(pages.count, -1)
    signed = np.concatenate([signs @ flat for signs in sign_flips(pages.count, replicates, seed)])
    # (1 + k, m, replicates), so that what is computed together lies together
    signed = np.ascontiguousarray(signed.reshape(-1, *sums.shape[1:]).transpose(2, 1, 0))
    totals = sums.sum(axis=0).T
    scores = score(totals.T)
    p = np.full((count, count), np.nan)
    for one in range(count - 1):
        others = slice(one + 1, count)
        middle = ((totals[:, one, None] + totals[:, others]) / 2)[..., None]
        observed = np.abs(scores[one] - scores[others])
        # equal sums added in another order differ in their last bits; those are ties, and count
        slack = 1e-9 * (1 + np.abs(scores[one]))
        beyond = np.ones(count - one - 1)
        for start in range(0, replicates, _BLOCK):
            half = (
                signed[:, one, None, start : start + _BLOCK] - signed[:, others, start : start + _BLOCK]
            ) / 2
            swapped = score(np.moveaxis(middle + half, 0, -1)) - score(np.moveaxis(middle - half, 0, -1))
            # an exchange after which a score has no value speaks for no difference
            beyond += (~(np.abs(swapped) < (observed - slack)[:, None])).sum(axis=1)
        p[one, others] = p[others, one] = np.where(np.isnan(observed), np.nan, beyond / (replicates + 1))
    return p


def permutation_test(
    groups: NDArray[np.str_],
    first: ArrayLike,
    second: ArrayLike,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> float:
    """Two-sided p-value of equal means of two systems' (n,) per-example values, such as ``example_losses``."""
    rows = np.stack([first, second], axis=1).astype(np.float64)[..., None]
    found = exchange_p(groups, rows, lambda sums: sums[..., 1], replicates=replicates, seed=seed)
    return float(found[0, 1])


def paired(
    groups: NDArray[np.str_],
    first: Floats,
    second: Floats,
    score: Score,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Difference:
    """Difference of the scores of two systems' (n, k) contributions, with bootstrap interval and :func:`exchange_p`."""
    rows = np.stack([first, second], axis=1)

    def difference(sums: Floats) -> Floats:
        return score(sums[..., 0, :]) - score(sums[..., 1, :])

    interval = clustered(groups, rows, difference, replicates=replicates, seed=seed).intervals()
    p = exchange_p(groups, rows, score, replicates=replicates, seed=seed)[0, 1]
    value, low, high = interval.tolist()
    return Difference(value, low, high, float(p))


def holm(p: ArrayLike) -> Floats:
    """Holm's step-down correction of (k,) p-values (Holm 1979); NaNs do not count as tests and stay NaN."""
    values = np.asarray(p, dtype=np.float64)
    corrected = np.full(values.shape, np.nan)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    steps = values[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected
