"""Intervals by bootstrap and p-values by permutation, over whole pages.

Rows of one page are not independent, so whole pages are resampled (pairs-cluster bootstrap; Cameron, Gelbach and Miller
2008, section 3.1), or two systems exchange their predictions on them. Every score follows from sums over rows, such as
counts or losses: one matrix product of (replicates, pages) by (pages, sums) gives every score of every member on the
same replicates, which pairs their differences. The same seed and number of pages give the same draws.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapstack.data import Corpus
from gapstack.errors import DataError, MismatchError
from gapstack.evaluation.metrics import METRICS, Predictions
from gapstack.types import Floats, Ints

REPLICATES = 10_000
FEWEST_PAGES = 30  # with fewer pages intervals are too narrow, which a warning says

_BLOCK = 500  # replicates at a time, so that their weights and sums fit into the processor's cache

Groups = NDArray[Any]
"""The page of each row, (n,): ``corpus.groups``, or other groups of rows that are not independent."""

Score = Callable[[Floats], Floats]
"""Maps sums (..., 1 + k), the first of which is the number of rows, to scores (...) or (..., scores)."""


class Interval(NamedTuple):
    """A value with its 95% percentile interval; NaN where it has none."""

    value: float
    low: float
    high: float


class Difference(NamedTuple):
    """First value minus second, its 95% interval, and the two-sided p-value of no difference."""

    value: float
    low: float
    high: float
    p: float


class Pages:
    """The page of each row: ``place`` (n,) numbers the pages from 0 to ``count`` - 1."""

    def __init__(self, groups: Groups) -> None:
        names, self.place = np.unique(groups, return_inverse=True)
        self.count = len(names)

    def row_sums(self, rows: Floats) -> Floats:
        """Number of rows and sums of (n, ..., k) contributions by page: (pages, ..., 1 + k)."""
        if not rows.size:
            raise DataError("there is nothing to resample", expected="at least one member and one row")
        if len(rows) != len(self.place):
            raise MismatchError(
                f"{len(rows)} contributions for {len(self.place)} rows; there must be one per row"
            )
        return page_sums(self.place, np.concatenate([np.ones((*rows.shape[:-1], 1)), rows], axis=-1))


def page_sums(place: Ints, values: Floats) -> Floats:
    """Sum (n, ...) values by page, given the number of each row's page (n,): (pages, ...)."""
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    summed: Floats = np.add.reduceat(values[order], starts, axis=0)
    return summed


def few_pages_warning(groups: Groups) -> str:
    """Warning to print with intervals over these pages; "" for at least :data:`FEWEST_PAGES` pages."""
    count = len(np.unique(groups))
    if count >= FEWEST_PAGES:
        return ""
    if count == 1:
        return "there are no intervals, because all rows are of one page"
    return f"only {count} pages: 95% intervals are too narrow (at 10 pages they cover 86%)"


@lru_cache(maxsize=1)
def page_counts(pages: int, replicates: int, seed: int) -> tuple[NDArray[np.uint8], ...]:
    """Counts of each page in samples of all pages with replacement: read-only blocks (replicates, pages).

    Cached, because all scores of a comparison or an audit are resampled with the same draws.
    """
    generator = np.random.default_rng(seed)
    blocks = []
    for start in range(0, replicates, _BLOCK):
        size = min(_BLOCK, replicates - start)
        draws = generator.integers(0, pages, (size, pages)) + np.arange(size)[:, None] * pages
        counts = np.bincount(draws.ravel(), minlength=size * pages).reshape(size, pages)
        # 8 bits are enough: the chance that a sample has a page more than 255 times is below 1e-500
        blocks.append(counts.astype(np.uint8))
        blocks[-1].flags.writeable = False
    return tuple(blocks)


def resamples(pages: int, replicates: int, seed: int) -> Iterator[Floats]:
    """Blocks of :func:`page_counts`, as floats."""
    return (counts.astype(np.float64) for counts in page_counts(pages, replicates, seed))


def sign_flips(pages: int, replicates: int, seed: int) -> Iterator[Floats]:
    """Blocks of (replicates, pages) random signs, 1 or -1."""
    generator = np.random.default_rng(seed)
    for start in range(0, replicates, _BLOCK):
        shape = min(_BLOCK, replicates - start), pages
        yield generator.integers(0, 2, shape, dtype=np.int8).astype(np.float64) * 2 - 1


def resample(
    groups: Groups, rows: Floats, score: Score, *, replicates: int = REPLICATES, seed: int = 0
) -> tuple[Floats, Floats]:
    """Scores of all rows, (...), and of resampled pages, (replicates, ...), from contributions (n, ..., k)."""
    pages = Pages(groups)
    sums = pages.row_sums(rows)
    flat = sums.reshape(pages.count, -1)
    blocks = [
        score((weights @ flat).reshape(-1, *sums.shape[1:]))
        for weights in resamples(pages.count, replicates, seed)
    ]
    samples = np.concatenate(blocks)
    return score(sums.sum(axis=0)), samples if pages.count > 1 else np.full_like(samples, np.nan)


def clustered(
    groups: Groups, rows: Floats, score: Score, *, replicates: int = REPLICATES, seed: int = 0
) -> Floats:
    """Value, low and high of every score, (..., 3); arguments are those of :func:`resample`."""
    points, samples = resample(groups, rows, score, replicates=replicates, seed=seed)
    return np.stack([points, *percentiles(samples)], axis=-1)


def mean_intervals(groups: Groups, values: Floats, *, replicates: int = REPLICATES, seed: int = 0) -> Floats:
    """Means of (n, k) values over rows with their intervals, (k, 3)."""
    return clustered(
        groups, values, lambda sums: sums[..., 1:] / sums[..., :1], replicates=replicates, seed=seed
    )


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
    """Two-sided p-values of (replicates, ...) resampled differences (Davison and Hinkley 1997, section 4.2)."""
    side = np.minimum((differences <= 0).sum(axis=0), (differences >= 0).sum(axis=0))
    total = (~np.isnan(differences)).sum(axis=0)
    return np.where(total > 0, np.minimum(1.0, 2 * (side + 1) / (total + 1)), np.nan)


def exchange_p(
    groups: Groups, rows: Floats, score: Score, *, replicates: int = REPLICATES, seed: int = 0
) -> Floats:
    """Two-sided p-values of equal scores for all pairs of members, (m, m), NaN on the diagonal and without a score.

    Predictions of two members are exchanged on random pages (approximate randomisation: Noreen 1989; Yeh 2000). The
    sums after an exchange are half the total plus or minus half the signed difference, so one matrix product serves all
    pairs.
    """
    pages = Pages(groups)
    sums = pages.row_sums(rows)
    count, flat = sums.shape[1], sums.reshape(pages.count, -1)
    signed = np.concatenate([signs @ flat for signs in sign_flips(pages.count, replicates, seed)])
    # (1 + k, m, replicates), so that values that are used together are adjacent in memory
    signed = np.ascontiguousarray(signed.reshape(-1, *sums.shape[1:]).transpose(2, 1, 0))
    totals = sums.sum(axis=0).T
    scores = score(totals.T)
    p = np.full((count, count), np.nan)
    for first in range(count - 1):
        others = slice(first + 1, count)
        middle = ((totals[:, first, None] + totals[:, others]) / 2)[..., None]
        # equal sums added in another order differ in their last bits; those are ties, and count
        observed = np.abs(scores[first] - scores[others]) - 1e-9 * (1 + np.abs(scores[first]))
        beyond = np.ones(count - first - 1)
        for start in range(0, replicates, _BLOCK):
            block = slice(start, start + _BLOCK)
            half = (signed[:, first, None, block] - signed[:, others, block]) / 2
            swapped = score(np.moveaxis(middle + half, 0, -1)) - score(np.moveaxis(middle - half, 0, -1))
            # an exchange after which a score has no value counts against a difference
            beyond += (~(np.abs(swapped) < observed[:, None])).sum(axis=1)
        p[first, others] = p[others, first] = np.where(np.isnan(observed), np.nan, beyond / (replicates + 1))
    return p


def paired(
    groups: Groups,
    first: Floats,
    second: Floats,
    score: Score,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Difference:
    """Difference of two systems' scores from (n, k) contributions, with bootstrap interval and :func:`exchange_p`."""
    rows = np.stack([first, second], axis=1)

    def difference(sums: Floats) -> Floats:
        return score(sums[..., 0, :]) - score(sums[..., 1, :])

    value, low, high = clustered(groups, rows, difference, replicates=replicates, seed=seed).tolist()
    p = exchange_p(groups, rows, score, replicates=replicates, seed=seed)[0, 1]
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


def contributions(corpus: Corpus, predictions: Predictions | ArrayLike) -> Floats:
    """Contributions of each row to every metric, (n, columns of all); NaN for metrics without their probabilities."""
    predicted = predictions if isinstance(predictions, Predictions) else Predictions.of(predictions)
    return np.concatenate([metric.contributions(corpus, predicted) for metric in METRICS.values()], axis=1)


def metric_columns(name: str) -> slice:
    """Columns of :func:`contributions` that belong to a metric."""
    names = list(METRICS)
    start = sum(METRICS[other].columns for other in names[: names.index(name)])
    return slice(start, start + METRICS[name].columns)


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Scores of all members on the same resampled pages, by metric; missing values are NaN.

    ``intervals`` hold value, low and high, (members, 3); ``samples`` the scores of the replicates, (replicates,
    members). A single page has no intervals. Noise raises the calibration error, and resampling adds noise, so its
    interval may lie above its value: use it to compare members, not to test for 0.
    """

    members: tuple[str, ...]
    intervals: dict[str, Floats]
    samples: dict[str, Floats]

    def points(self, metric: str) -> Floats:
        """Scores of all rows, (members,)."""
        return self.intervals[metric][:, 0]

    def interval(self, member: str, metric: str) -> Interval:
        """Score of a member with its 95% percentile interval; replicates without a value are left out."""
        return Interval(*self.intervals[metric][self.members.index(member)].tolist())


def bootstrap(
    groups: Groups, members: Mapping[str, Floats], *, replicates: int = REPLICATES, seed: int = 0
) -> Bootstrap:
    """Bootstrap every metric of every member, by its :func:`contributions`, on the same resampled pages."""
    rows = np.stack(list(members.values()), axis=1) if members else np.empty((len(groups), 0, 1))
    points, samples = resample(groups, rows, _all_scores, replicates=replicates, seed=seed)
    ends = np.stack([points, *percentiles(samples)], axis=1)
    return Bootstrap(
        tuple(members),
        {metric: ends[..., place] for place, metric in enumerate(METRICS)},
        {metric: samples[..., place] for place, metric in enumerate(METRICS)},
    )


def _all_scores(sums: Floats) -> Floats:
    scores = []
    for name, metric in METRICS.items():
        at = metric_columns(name)
        scores.append(metric.score(sums[..., [0, *range(at.start + 1, at.stop + 1)]]))
    return np.stack(scores, axis=-1)


@dataclass(frozen=True, eq=False)
class PairwiseTests:
    """Tests of all pairs of members by one metric: the row's member minus the column's; NaN without a score."""

    metric: str
    difference: Floats  # (m, m, 3) value, low and high
    p_bootstrap: Floats
    p_permutation: Floats
    p_holm: Floats  # p_permutation, corrected for all pairs

    def compared(self, first: int, second: int) -> Difference:
        """First member minus second, with the p-value corrected for all pairs."""
        value, low, high = self.difference[first, second].tolist()
        return Difference(value, low, high, float(self.p_holm[first, second]))

    def wins(self) -> Ints:
        """(m, m): 1 where the row's member wins at 5% after correction, -1 where it loses, else 0."""
        sign = -1 if METRICS[self.metric].better == "low" else 1
        won = sign * np.sign(np.nan_to_num(self.difference[..., 0]))
        return np.where(self.p_holm <= 0.05, won, 0).astype(np.int64)


def all_pairs(
    groups: Groups,
    members: Mapping[str, Floats],
    bootstrapped: Bootstrap,
    metrics: Iterable[str],
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> dict[str, PairwiseTests]:
    """Compare all pairs of members by each of ``metrics``; ``bootstrapped`` are the scores of the same members."""
    rows = np.stack(list(members.values()), axis=1)
    upper = np.triu_indices(len(members), 1)
    tests = {}
    for metric in metrics:
        of_metric = rows[..., metric_columns(metric)]
        p_permutation = exchange_p(groups, of_metric, METRICS[metric].score, replicates=replicates, seed=seed)
        p_holm = np.full_like(p_permutation, np.nan)
        p_holm[upper] = p_holm.T[upper] = holm(p_permutation[upper])
        points, samples = bootstrapped.points(metric), np.ascontiguousarray(bootstrapped.samples[metric].T)
        difference = np.zeros((*p_holm.shape, 3))
        difference[..., 0] = np.where(np.eye(len(points)), 0.0, points[:, None] - points)
        p_bootstrap = np.full_like(p_holm, np.nan)
        for first in range(len(points) - 1):
            rest = slice(first + 1, None)
            each = (samples[first] - samples[rest]).T
            low, high = percentiles(each)
            difference[first, rest, 1:] = np.stack([low, high], axis=-1)
            difference[rest, first, 1:] = np.stack([-high, -low], axis=-1)
            p_bootstrap[first, rest] = p_bootstrap[rest, first] = bootstrap_p(each)
        tests[metric] = PairwiseTests(metric, difference, p_bootstrap, p_permutation, p_holm)
    return tests
