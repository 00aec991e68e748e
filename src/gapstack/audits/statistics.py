"""Shares, correlations and paired differences with cluster-bootstrap intervals.

Sentences from one template, or about one occupation, are not independent: whole groups of them are resampled.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from gapstack.display.render import Cell
from gapstack.evaluation import Interval, clustered, paired
from gapstack.evaluation.resampling import Pages, Score, percentiles, resamples
from gapstack.types import Bools, Floats

REPLICATES = 2_000

Groups = NDArray[np.str_]  # what is resampled as a whole, (n,)


def shares(groups: Groups, values: Floats | Bools, parts: Mapping[str, Bools]) -> dict[str, Interval]:
    """Mean in percent of (n,) values over the rows of each part, (n,) bool; NaN without rows."""
    intervals = clustered(groups, _part_sums(values, parts.values()), _percent, replicates=REPLICATES)
    return {name: Interval(*row) for name, row in zip(parts, intervals.tolist(), strict=True)}


def contrast(groups: Groups, values: Floats | Bools, first: Bools, second: Bools) -> Interval:
    """Mean of (n,) values over the rows ``first`` minus that over ``second``, in percent; NaN without rows."""
    sums = _part_sums(values, (second, first))
    interval = clustered(groups, sums, lambda sums: np.diff(_percent(sums))[..., 0], replicates=REPLICATES)
    return Interval(*interval.tolist())


def _part_sums(values: Floats | Bools, parts: Iterable[Bools]) -> Floats:
    """Value and 1 of each row in each part, 0 outside: (n, parts, 2), whose sums give the mean of a part."""
    where = np.stack(list(parts), axis=1)
    return np.stack([where * np.asarray(values, dtype=np.float64)[:, None], where], axis=2)


def _percent(sums: Floats) -> Floats:
    """Ratio of two sums in percent, NaN where the second is 0."""
    top, bottom = sums[..., 1], sums[..., 2]
    return 100.0 * np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0)


def mean_percent(sums: Floats) -> Floats:
    """Score of a single column: its mean, in percent."""
    return 100.0 * sums[..., 1] / sums[..., 0]


def correlation(x: Floats, y: Floats) -> Interval:
    """Pearson correlation of two (n,) arrays, points resampled; NaN if one is constant."""
    columns = np.stack([x, y, x * x, y * y, x * y], axis=1)
    return Interval(*clustered(np.arange(len(x)), columns, _pearson, replicates=REPLICATES).tolist())


def _pearson(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    over, x_spread, y_spread = n * xy - x * y, n * xx - x * x, n * yy - y * y
    # a constant's variance is 0 up to rounding of the sums
    varies = (x_spread > 1e-9 * n * xx) & (y_spread > 1e-9 * n * yy)
    return np.where(varies, over / np.sqrt(np.where(varies, x_spread * y_spread, 1.0)), np.nan)


def sides(groups: Groups, pro: Floats, anti: Floats, score: Score) -> dict[str, Cell]:
    """Scores on pro and anti rows from contributions (pairs, k), their average, and the tested difference."""
    on_pro, on_anti = (float(score(np.append(len(rows), rows.sum(axis=0)))) for rows in (pro, anti))
    both = np.stack([pro, anti], axis=1)
    average = clustered(groups, both, lambda sums: score(sums).mean(axis=-1), replicates=REPLICATES)
    difference = paired(groups, pro, anti, score, replicates=REPLICATES)
    return {"pro": on_pro, "anti": on_anti, "average": Interval(*average.tolist()), "difference": difference}


def over_seeds(groups: Groups, pro: Floats, anti: Floats, score: Score) -> dict[str, Interval]:
    """Scores as in :func:`sides`, from (trainings, pairs, k): means over trainings, which are resampled as well."""
    pages, trainings = Pages(groups), len(pro)
    # (pages, 2 * trainings, k + 1)
    sums = pages.row_sums(np.concatenate([pro, anti]).swapaxes(0, 1))
    drawn = np.random.default_rng(0).multinomial(trainings, np.full(trainings, 1 / trainings), REPLICATES)

    def means(weights: Floats, counts: NDArray[np.int64]) -> Floats:
        """Scores (replicates, 2) for weights (replicates, pages) and counts of trainings (replicates, trainings)."""
        scores = score((weights @ sums.reshape(pages.count, -1)).reshape(-1, 2, trainings, sums.shape[2]))
        return np.asarray((scores * (counts / trainings)[:, None]).sum(axis=2))

    weights = np.concatenate(list(resamples(pages.count, REPLICATES, 0)))
    samples = means(weights, drawn)
    points = means(np.ones((1, pages.count)), np.ones((1, trainings), dtype=np.int64))
    on_pro, on_anti = np.concatenate([points, samples]).T
    average, difference = (on_pro + on_anti) / 2, on_pro - on_anti
    columns = {"pro": on_pro, "anti": on_anti, "average": average, "difference": difference}
    return {key: Interval(float(c[0]), *percentiles(c[1:]).tolist()) for key, c in columns.items()}


def regression(points: Floats, at: Floats) -> Floats:
    """Least-squares line through (n, 2) points at (k,) abscissas, with its 95% band: (k, 3)."""
    from scipy.stats import t  # slow to import

    x, y = points.T
    slope, intercept = np.polyfit(x, y, 1)
    fit, residual = intercept + slope * at, y - intercept - slope * x
    leverage = 1 / len(x) + np.square(at - x.mean()) / np.square(x - x.mean()).sum()
    half = t.ppf(0.975, len(x) - 2) * np.sqrt(residual @ residual / (len(x) - 2) * leverage)
    return np.stack([fit, fit - half, fit + half], axis=1)
