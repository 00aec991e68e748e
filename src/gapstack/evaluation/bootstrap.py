"""Every metric of several members on the same resampled pages, and paired tests of all their pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapstack.data import Corpus
from gapstack.errors import DataError, MismatchError
from gapstack.evaluation.metrics import METRICS, Predictions
from gapstack.evaluation.resampling import (
    REPLICATES,
    Difference,
    Interval,
    bootstrap_p,
    clustered,
    exchange_p,
    holm,
    percentiles,
)
from gapstack.registry import unknown
from gapstack.types import Bools, Floats


def contributions(corpus: Corpus, predictions: Predictions | ArrayLike) -> Floats:
    """Contributions of each row to the sums behind every metric, (n, columns); NaN for what needs probabilities.

    ``predictions`` are (n, 3) probabilities or :class:`~gapstack.evaluation.Predictions`. Raises DataError as
    :func:`gapstack.evaluation.score`.
    """
    found = predictions if isinstance(predictions, Predictions) else Predictions.of(predictions)
    return np.concatenate([metric.contributions(corpus, found) for metric in METRICS.values()], axis=1)


def contributions_of_decisions(corpus: Corpus, decided: Bools) -> Floats:
    """As :func:`contributions`, from (n, 2) decisions."""
    return contributions(corpus, Predictions(None, decided, np.ones_like(decided)))


def metric_columns(name: str) -> slice:
    """The columns of :func:`contributions` that belong to a metric."""
    names = list(METRICS)
    start = sum(METRICS[other].columns for other in names[: names.index(name)])
    return slice(start, start + METRICS[name].columns)


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Scores of all members on the same resampled pages, by metric; missing values are NaN.

    ``points`` are the scores of all rows, (members,), ``samples`` those of the replicates, (replicates, members). A
    single page has no intervals.
    """

    members: tuple[str, ...]
    points: dict[str, Floats]
    samples: dict[str, Floats]
    pages: int

    def interval(self, member: str, metric: str) -> Interval:
        """Percentile interval of one score; replicates without a value are left out.

        Noise biases the calibration error upwards, and resampling adds noise: its interval may lie above its value, so
        use it to compare members and not to test for 0.
        """
        column = self._column(member)
        value = float(self.points[metric][column])
        return Interval(value, *self._ends(self.samples[metric][:, column]))

    def intervals(self, metric: str) -> Floats:
        """Value, low and high of all members, (members, 3)."""
        return np.array([self.interval(member, metric) for member in self.members])

    def difference(self, first: str, second: str, metric: str) -> Difference:
        """Paired difference of two members' scores, first minus second, with :func:`bootstrap_p`."""
        one, two = self._column(first), self._column(second)
        values = self.samples[metric][:, one] - self.samples[metric][:, two]
        value = float(self.points[metric][one] - self.points[metric][two])
        low, high = self._ends(values)
        return Difference(value, low, high, float(bootstrap_p(values)))

    def reordered(self, order: list[int]) -> Bootstrap:
        """The same with the members in this order."""
        return Bootstrap(
            tuple(self.members[place] for place in order),
            {metric: points[order] for metric, points in self.points.items()},
            {metric: samples[:, order] for metric, samples in self.samples.items()},
            self.pages,
        )

    def _ends(self, samples: Floats) -> list[float]:
        return percentiles(samples).tolist() if self.pages > 1 else [np.nan, np.nan]

    def _column(self, member: str) -> int:
        if member not in self.members:
            raise unknown("member", member, self.members)
        return self.members.index(member)


def bootstrap(
    groups: NDArray[np.str_], members: Mapping[str, Floats], *, replicates: int = REPLICATES, seed: int = 0
) -> Bootstrap:
    """Resample pages with replacement and score every member on every replicate.

    The same seed and groups give the same replicates for any members. Raises DataError if there are no rows or no
    members; MismatchError if a member has another number of rows.

    Parameters
    ----------
    groups : (n,) array
        What is resampled as a whole: ``corpus.groups``.
    members : mapping of name to (n, columns) array
        From :func:`contributions`, rows in the order of ``groups``.
    replicates, seed : int
    """
    found = clustered(groups, _stacked(groups, members), _all_scores, replicates=replicates, seed=seed)
    return Bootstrap(
        tuple(members),
        {metric: found.points[..., place] for place, metric in enumerate(METRICS)},
        {metric: found.samples[..., place] for place, metric in enumerate(METRICS)},
        found.pages,
    )


def _all_scores(sums: Floats) -> Floats:
    scores = []
    for name, metric in METRICS.items():
        own = metric_columns(name)
        scores.append(metric.score(sums[..., [0, *range(own.start + 1, own.stop + 1)]]))
    return np.stack(scores, axis=-1)


def _stacked(groups: NDArray[np.str_], members: Mapping[str, Floats]) -> Floats:
    """Contributions of all members, (n, m, columns)."""
    if not members:
        raise DataError("there is nothing to resample", expected="at least one member and one row")
    expected = (len(groups), sum(metric.columns for metric in METRICS.values()))
    for name, rows in members.items():
        if rows.shape != expected:
            raise MismatchError(f"contributions of {name!r} have shape {rows.shape}, expected {expected}")
    return np.stack(list(members.values()), axis=1)


@dataclass(frozen=True, eq=False)
class PairwiseTests:
    """All pairs of members under one metric, (m, m) each: the row's member minus the column's.

    ``p_bootstrap`` and ``p_permutation`` are two-sided, by :func:`bootstrap_p` and :func:`exchange_p`; ``p_holm`` is
    the latter, corrected for all pairs. NaN on the diagonal, and where a member has no such score.
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
        """(m, m): 1 where the row's member wins at ``alpha`` after correction, -1 where it loses, else 0."""
        sign = -1 if METRICS[self.metric].better == "low" else 1
        significant = self.p_holm <= alpha  # False where there is no value
        return np.where(significant, sign * np.sign(np.nan_to_num(self.value)), 0).astype(np.int64)


def all_pairs(
    groups: NDArray[np.str_],
    members: Mapping[str, Floats],
    found: Bootstrap,
    metrics: Iterable[str],
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> dict[str, PairwiseTests]:
    """Compare every pair of members under each of ``metrics``, which need a direction.

    ``found`` is the bootstrap of the same members in the same order; ``replicates`` and ``seed`` are of the exchanges.
    Raises DataError for a metric that is best near 1, MismatchError if ``found`` is of other members.
    """
    if found.members != tuple(members):
        raise MismatchError(f"replicates of {found.members} for contributions of {tuple(members)}")
    names = list(metrics)
    if undirected := [metric for metric in names if METRICS[metric].best is None]:
        raise DataError(
            f"cannot rank by {undirected[0]}: neither higher nor lower is better", expected="another metric"
        )
    rows = _stacked(groups, members)
    result = {}
    for metric in names:
        p = exchange_p(
            groups, rows[..., metric_columns(metric)], METRICS[metric].score, replicates=replicates, seed=seed
        )
        result[metric] = _pairwise(metric, found, p)
    return result


def _pairwise(metric: str, found: Bootstrap, p_permutation: Floats) -> PairwiseTests:
    points, samples = found.points[metric], np.ascontiguousarray(found.samples[metric].T)
    count = len(points)
    low, high, p_bootstrap = (
        np.zeros((count, count)),
        np.zeros((count, count)),
        np.full((count, count), np.nan),
    )
    for one in range(count - 1):
        rest = slice(one + 1, count)
        differences = (samples[one] - samples[rest]).T
        low[one, rest], high[one, rest] = percentiles(differences) if found.pages > 1 else (np.nan, np.nan)
        low[rest, one], high[rest, one] = -high[one, rest], -low[one, rest]
        p_bootstrap[one, rest] = p_bootstrap[rest, one] = bootstrap_p(differences)
    upper = np.triu_indices(count, 1)
    p_holm = np.full((count, count), np.nan)
    p_holm[upper] = p_holm.T[upper] = holm(p_permutation[upper])
    value = points[:, None] - points
    np.fill_diagonal(value, 0.0)
    return PairwiseTests(metric, found.members, value, low, high, p_bootstrap, p_permutation, p_holm)
