"""Shares, correlations and paired differences with cluster-bootstrap intervals.

Sentences from one template, or about one occupation, are not independent: whole groups of them are resampled (as in
:mod:`gapstack.scoring.intervals`) and exchanged in the paired tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapstack.scoring import Difference, Interval
from gapstack.scoring.resampling import Pages, resamples, sign_flips
from gapstack.types import Bools, Floats

REPLICATES = 2_000
_LEVEL = 0.95


def shares(
    groups: NDArray[np.str_], values: Floats, where: Bools, *, replicates: int = REPLICATES, seed: int = 0
) -> list[Interval]:
    """Mean in percent of each column of ``values`` (n, k) over the rows ``where`` (n, k); NaN without rows."""
    points, samples = _means(groups, np.where(where, values, 0.0), where, replicates, seed)
    return [Interval(float(p), *ends(samples[:, k])) for k, p in enumerate(points)]


def contrast(
    groups: NDArray[np.str_],
    values: Floats,
    one: Bools,
    other: Bools,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Interval:
    """Difference in percent of the means of (n,) values over the rows ``one`` and ``other``; NaN without rows."""
    where = np.stack([one, other], axis=1)
    table = where * np.asarray(values, dtype=np.float64)[:, None]
    points, samples = _means(groups, table, where, replicates, seed)
    return Interval(float(points[0] - points[1]), *ends(samples[:, 0] - samples[:, 1]))


def correlation(x: Floats, y: Floats, *, replicates: int = REPLICATES, seed: int = 0) -> Interval:
    """Pearson correlation of two (n,) arrays, points resampled; NaN where one is constant."""
    rows = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)
    sums = np.concatenate([weights @ rows for weights in resamples(len(x), replicates, seed)])
    return Interval(float(_pearson(rows.sum(axis=0, keepdims=True))[0]), *ends(_pearson(sums)))


def paired(
    first: Floats,
    second: Floats,
    score: Callable[[Floats], Floats],
    *,
    groups: NDArray[np.str_] | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Difference:
    """Difference of two scores over paired rows, with bootstrap interval and permutation p-value.

    Parameters
    ----------
    first, second : (pairs, k) float64
        Each row's contribution to the sums that determine the score.
    score : callable
        Maps sums (..., k + 1), the first of which is the number of rows, to scores (...,).
    groups : (pairs,) array, optional
        Pairs that are resampled and exchanged together; by default each pair is a group.

    Returns
    -------
    Difference
        p is two-sided: the share of random exchanges with a difference at least as large in magnitude, the observed
        one included; 1 where no pair differs.
    """
    names = np.arange(len(first)).astype(str) if groups is None else groups
    pages = Pages.of(names)
    one, two = (pages.sums(np.column_stack([np.ones(len(rows)), rows])) for rows in (first, second))
    observed = float(score(one.sum(axis=0)) - score(two.sum(axis=0)))
    samples = np.concatenate(
        [score(w @ one) - score(w @ two) for w in resamples(pages.count, replicates, seed)]
    )
    middle, half = (one + two).sum(axis=0) / 2, (one - two) / 2
    beyond = 1
    for signs in sign_flips(pages.count, replicates, seed):
        shift = signs @ half
        exchanged = np.abs(score(middle + shift) - score(middle - shift))
        beyond += int((exchanged >= abs(observed) - 1e-9).sum())
    return Difference(observed, *ends(samples), beyond / (replicates + 1))


class Sides(NamedTuple):
    """Scores on pro and anti rows, their average, and pro - anti, with intervals."""

    pro: Interval
    anti: Interval
    average: Interval
    difference: Interval


def over_seeds(
    pro: Floats,
    anti: Floats,
    score: Callable[[Floats], Floats],
    *,
    groups: NDArray[np.str_] | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Sides:
    """Means over trainings of the scores on paired rows; bootstrap over trainings and over groups of pairs.

    Parameters
    ----------
    pro, anti : (trainings, pairs, k) float64
        Each row's contribution to the sums that determine the score.
    score, groups
        As of :func:`paired`.
    """
    pages = Pages.of(np.arange(pro.shape[1]).astype(str) if groups is None else groups)
    ones = np.ones((*pro.shape[:2], 1))
    # (pages, 2 * trainings, k + 1)
    sums = pages.sums(np.concatenate([np.dstack([ones, rows]) for rows in (pro, anti)]).swapaxes(0, 1))
    halves = (-1, 2, len(pro), sums.shape[2])

    def means(weights: Floats, shares: Floats) -> Floats:
        """Scores (replicates, 2) of weights (replicates, pages) and shares of trainings (replicates, trainings)."""
        scores = score((weights @ sums.reshape(pages.count, -1)).reshape(halves))
        return np.asarray((scores * shares[:, None]).sum(axis=2))

    trainings = len(pro)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(trainings, np.full(trainings, 1 / trainings), replicates) / trainings
    blocks, start = [], 0
    for weights in resamples(pages.count, replicates, seed):
        blocks.append(means(weights, drawn[start : start + len(weights)]))
        start += len(weights)
    points = means(np.ones((1, pages.count)), np.full((1, trainings), 1 / trainings))
    table = np.concatenate([points, *blocks])
    columns = (table[:, 0], table[:, 1], table.mean(axis=1), table[:, 0] - table[:, 1])
    return Sides(*(Interval(float(column[0]), *ends(column[1:])) for column in columns))


def mean_percent(sums: Floats) -> Floats:
    """Score for :func:`paired`: mean of a single column, in percent."""
    return 100.0 * sums[..., 1] / sums[..., 0]


def regression(points: Floats, at: Floats) -> Floats | None:
    """Least-squares line through (n, 2) points, evaluated at (k,) abscissas: value and ends of the band, (k, 3).

    The 95% confidence band of the mean is by normal theory (Student's t with n - 2 degrees of freedom). None where
    the abscissas are constant or there are fewer than three points.
    """
    from scipy.stats import t  # slow to import

    x, y = points.T
    if len(x) < 3 or np.ptp(x) == 0:
        return None
    spread = np.square(x - x.mean()).sum()
    slope = ((x - x.mean()) * (y - y.mean())).sum() / spread
    fit = y.mean() + slope * (at - x.mean())
    residual = np.square(y - y.mean() - slope * (x - x.mean())).sum() / (len(x) - 2)
    half = t.ppf((1 + _LEVEL) / 2, len(x) - 2) * np.sqrt(
        residual * (1 / len(x) + np.square(at - x.mean()) / spread)
    )
    return np.stack([fit, fit - half, fit + half], axis=1)


def ends(samples: Floats) -> tuple[float, float]:
    """Percentile interval of (replicates,) values, ignoring NaN; NaN where all are."""
    samples = samples[~np.isnan(samples)]
    if not len(samples):
        return np.nan, np.nan
    low, high = np.quantile(samples, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return float(low), float(high)


def _means(
    groups: NDArray[np.str_], values: Floats, where: Bools, replicates: int, seed: int
) -> tuple[Floats, Floats]:
    """Means in percent of columns (n, k), which are 0 off the rows ``where``: (k,), and resampled (replicates, k)."""
    pages = Pages.of(groups)
    table = np.concatenate([values, where.astype(np.float64)], axis=1)
    by_page = pages.sums(table)
    samples = _ratio(np.concatenate([w @ by_page for w in resamples(pages.count, replicates, seed)]))
    return _ratio(table.sum(axis=0, keepdims=True))[0], samples


def _ratio(sums: Floats) -> Floats:
    top, bottom = np.split(sums, 2, axis=1)
    return 100.0 * np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0)


def _pearson(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = sums.T
    over, under = n * xy - x * y, (n * xx - x * x) * (n * yy - y * y)
    # a constant's variance is 0 up to rounding of the sums
    varies = (n * xx - x * x > 1e-9 * n * xx) & (n * yy - y * y > 1e-9 * n * yy)
    root = np.sqrt(np.where(varies, under, 1.0))
    return np.where(varies, over / root, np.nan)
