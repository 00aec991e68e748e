"""Paired tests of all members on the same pages, with Holm's correction for the number of pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapstack.errors import DataError, MismatchError
from gapstack.scoring.intervals import COLUMNS_OF, Bootstrap, score_of_sums
from gapstack.scoring.metrics import METRICS
from gapstack.scoring.resampling import REPLICATES, Pages, sign_flips
from gapstack.types import Floats

_BLOCK = 500  # replicates at a time: what is computed of them for 200 members stays near the cache


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of members under one metric.

    Attributes
    ----------
    metric : str
        Key of :data:`gapstack.scoring.METRICS`.
    members : tuple of str
    value, low, high : (m, m) float64
        Score of the row's member minus that of the column's, and its percentile interval, pages resampled.
    p_bootstrap, p_permutation : (m, m) float64
        Two-sided p-values of no difference: from the replicates, and from exchanging the two members' answers
        on random pages. NaN on the diagonal, and where a member has no such score.
    p_holm : (m, m) float64
        The permutation's, corrected for all pairs.
    """

    metric: str
    members: tuple[str, ...]
    value: Floats
    low: Floats
    high: Floats
    p_bootstrap: Floats
    p_permutation: Floats
    p_holm: Floats

    def wins(self, alpha: float = 0.05) -> NDArray[np.int64]:
        """(m, m): 1 where the row's member beats the column's at ``alpha`` after correction, -1 where it is beaten.

        0 where the difference is not significant, which does not mean that they are equal.
        """
        sign = -1 if METRICS[self.metric].better == "low" else 1
        significant = self.p_holm <= alpha  # False where there is no value
        return np.where(significant, sign * np.sign(np.nan_to_num(self.value)), 0).astype(np.int64)


def all_pairs(
    groups: NDArray[np.str_],
    members: Mapping[str, Floats],
    bootstrap: Bootstrap,
    metrics: Iterable[str],
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    level: float = 0.95,
) -> dict[str, Pairs]:
    """Compare every pair of members under each of ``metrics``.

    The permutation test swaps two members' predictions on whole pages at random and scores them again (approximate
    randomisation: Noreen 1989; Yeh 2000 for F1). Since every score follows from sums, the sums of the two after any
    swaps are half their total plus and minus half the signed difference, so one matrix product serves all pairs and
    metrics. Raises DataError for a metric that has no better side; MismatchError if ``bootstrap`` is of other members.

    Parameters
    ----------
    groups : (n,) array
        Pages: ``corpus.groups``.
    members : mapping of name to (n, columns) array
        From :func:`~gapstack.scoring.contributions`.
    bootstrap : Bootstrap
        Of the same members, in the same order.
    metrics : iterable of str
        Keys of :data:`gapstack.scoring.METRICS` that are better low or high.
    replicates, seed : int
        Of the swaps.
    level : float
        Of the intervals.
    """
    if bootstrap.members != tuple(members):
        raise MismatchError(f"replicates of {bootstrap.members} for contributions of {tuple(members)}")
    names = list(metrics)
    sideless = [metric for metric in names if METRICS[metric].better == "one"]
    if sideless:
        raise DataError(f"{sideless[0]} has no better side", expected="a metric that is better low or high")
    pages = Pages.of(groups)
    table = np.stack(list(members.values()), axis=1)
    # of all columns those that a wanted metric follows from
    columns = sorted({column for metric in names for column in COLUMNS_OF[metric]})
    sums = pages.sums(table[..., columns])
    flat = sums.reshape(pages.count, -1)
    signed = np.concatenate([signs @ flat for signs in sign_flips(pages.count, replicates, seed)])
    # (columns, m, replicates), so that what is computed together lies together
    signed = np.ascontiguousarray(signed.reshape(-1, len(members), len(columns)).transpose(2, 1, 0))
    totals = sums.sum(axis=0).T
    # equal sums added in another order differ in their last bits; those are ties, and count
    rows = np.array(float(len(groups)))
    result = {}
    for metric in names:
        own = [columns.index(column) for column in COLUMNS_OF[metric]]
        result[metric] = _pairs(
            metric, bootstrap, level, _permutation_p(metric, rows, totals[own], signed[own])
        )
    return result


def holm(p: ArrayLike) -> Floats:
    """Holm's step-down correction of (k,) p-values (Holm 1979); NaNs are no tests and stay NaN.

    The chance of one or more false discoveries among all k stays below any level at which the corrected values
    are read, however the tests depend on each other.
    """
    values = np.asarray(p, dtype=np.float64)
    corrected = np.full(values.shape, np.nan)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    steps = values[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected


def _permutation_p(metric: str, rows: Floats, totals: Floats, signed: Floats) -> Floats:
    """(m, m) p-values, the upper triangle alone, of (columns, m) totals and (columns, m, replicates) signed sums."""
    _, count, replicates = signed.shape
    p = np.full((count, count), np.nan)

    def score(sums: Floats) -> Floats:
        return score_of_sums(metric, rows, np.moveaxis(sums, 0, -1))

    scores = score(totals)
    for one in range(count - 1):
        others = slice(one + 1, count)
        middle = ((totals[:, one, None] + totals[:, others]) / 2)[..., None]
        observed = np.abs(scores[one] - scores[others])
        slack = 1e-9 * (1 + np.abs(scores[one]))
        beyond = np.ones(count - one - 1)
        for start in range(0, replicates, _BLOCK):
            block = slice(start, start + _BLOCK)
            half = (signed[:, one, None, block] - signed[:, others, block]) / 2
            swapped = score(middle + half) - score(middle - half)
            # a swap after which a score has no value speaks for no difference, not against it
            beyond += (~(np.abs(swapped) < (observed - slack)[:, None])).sum(axis=1)
        p[one, others] = np.where(np.isnan(observed), np.nan, beyond / (replicates + 1))
    return p


def _pairs(metric: str, bootstrap: Bootstrap, level: float, upper_p: Floats) -> Pairs:
    count = len(bootstrap.members)
    first, second = np.triu_indices(count, 1)
    points, samples = bootstrap.points[metric], np.ascontiguousarray(bootstrap.samples[metric].T)
    parts = [_intervals(samples[one] - samples[one + 1 :], level) for one in range(count - 1)]
    p, low, high = np.concatenate(parts, axis=1) if parts else np.empty((3, 0))

    def full(upper: Floats, lower: Floats, diagonal: float) -> Floats:
        square = np.full((count, count), diagonal)
        square[first, second], square[second, first] = upper, lower
        return square

    value = points[first] - points[second]
    permuted = upper_p[first, second]
    corrected = holm(permuted)
    return Pairs(
        metric,
        bootstrap.members,
        full(value, -value, 0.0),
        full(low, -high, 0.0),
        full(high, -low, 0.0),
        *(full(each, each, np.nan) for each in (p, permuted, corrected)),
    )


def _intervals(differences: Floats, level: float) -> Floats:
    """(3, k) two-sided p-values, lows and highs of (k, replicates) differences; NaN where no replicate has a value."""
    known = ~np.isnan(differences)
    # twice the smaller share of replicates on either side of 0, the observed one counted in
    side = np.minimum((differences <= 0).sum(axis=1), (differences >= 0).sum(axis=1))
    total = known.sum(axis=1)
    result = np.full((3, len(differences)), np.nan)
    some = total > 0
    result[0, some] = np.minimum(1.0, 2 * (side + 1) / (total + 1))[some]
    ends = [(1 - level) / 2, (1 + level) / 2]
    if known.all():
        result[1:] = np.quantile(differences, ends, axis=1)
    elif some.any():
        result[1:, some] = np.nanquantile(differences[some], ends, axis=1)
    return result
