"""Confidence intervals and p-values: bootstrap clustered by page, and a paired permutation test.

Rows of one page are not independent, so whole pages are resampled (the clustered or pairs-cluster
bootstrap; Cameron, Gelbach and Miller 2008, section 3.1). Every score here follows from sums over rows:
logloss and accuracy are means, F1 and bias are ratios of counts, the calibration error sums absolute gaps.
So one matrix product, (replicates x pages) by (pages x sums), gives every score of every member on the
same replicates, which is what makes the differences between members paired.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapstack.corpus import Corpus, Gender
from gapstack.errors import DataError, MismatchError
from gapstack.registry import unknown
from gapstack.scoring import metrics
from gapstack.scoring.gap import f1_percent, f1_ratio, outcomes
from gapstack.scoring.metrics import ECE_BINS
from gapstack.scoring.resampling import REPLICATES, Pages, resamples, sign_flips
from gapstack.scoring.scores import gold_decisions
from gapstack.types import Bools, Floats

# Columns of a member's contributions: what each row adds to the sums that every score follows from.
LOSS, BRIER, HIT = 0, 1, 2
COUNTS = {"masculine": slice(3, 6), "feminine": slice(6, 9), "overall": slice(9, 12)}  # tp, fp, fn
GAPS = slice(12, 12 + ECE_BINS)
COLUMNS = 12 + ECE_BINS


class Interval(NamedTuple):
    """A score or difference with its percentile interval; NaN where it has no value."""

    value: float
    low: float
    high: float


class Difference(NamedTuple):
    """First member's score minus the second's, its interval, and the two-sided p-value of no difference."""

    value: float
    low: float
    high: float
    p: float


def contributions(corpus: Corpus, probabilities: ArrayLike) -> Floats:
    """What each row adds to the sums behind every score, (n, columns), for (n, 3) probabilities.

    Raises DataError as :func:`gapstack.scoring.score` does.
    """
    labels = corpus.labels
    table = contributions_of_decisions(corpus, metrics.decisions(metrics.normalise(probabilities)))
    table[:, LOSS] = metrics.example_losses(labels, probabilities)
    table[:, BRIER] = metrics.example_briers(labels, probabilities)
    table[:, GAPS] = metrics.calibration_gaps(labels, probabilities)
    return table


def contributions_of_decisions(corpus: Corpus, decided: Bools, answered: Bools | None = None) -> Floats:
    """As :func:`contributions`, for (n, 2) decisions: what needs probabilities is NaN.

    Raises DataError as :func:`gapstack.scoring.score_decisions` does.
    """
    rows = outcomes(gold_decisions(corpus), decided, answered)[:, :3].astype(np.float64)
    table = np.full((len(corpus), COLUMNS), np.nan)
    table[:, HIT] = rows[:, 1:].sum(axis=1) == 0
    table[:, COUNTS["overall"]] = rows
    for gender in (Gender.MASCULINE, Gender.FEMININE):
        table[:, COUNTS[gender.value]] = rows * (corpus.genders == gender.value)[:, None]
    return table


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Scores of all members on the same resampled pages.

    ``points`` holds the plain scores, (members,) by metric; ``samples`` the replicates, (replicates, members) by
    metric; metrics are the keys of :data:`gapstack.scoring.METRICS`. Values that do not exist are NaN.
    """

    members: tuple[str, ...]
    points: dict[str, Floats]
    samples: dict[str, Floats]

    def interval(self, member: str, metric: str, level: float = 0.95) -> Interval:
        """Percentile interval of one score; replicates where the score has no value are left out.

        The calibration error is biased upwards by noise, and resampling adds noise: its interval may lie
        above its value, so use it to compare and not to test for 0.
        """
        column = self._column(member)
        return Interval(
            float(self.points[metric][column]), *_percentiles(self.samples[metric][:, column], level)
        )

    def difference(self, first: str, second: str, metric: str, level: float = 0.95) -> Difference:
        """Paired difference of two members' scores, first minus second.

        The p-value is twice the smaller share of replicates on either side of 0, the observed one counted
        in (Davison and Hinkley 1997, section 4.2), so it is never 0.
        """
        one, two = self._column(first), self._column(second)
        values = self.samples[metric][:, one] - self.samples[metric][:, two]
        value = float(self.points[metric][one] - self.points[metric][two])
        low, high = _percentiles(values, level)
        values = values[~np.isnan(values)]
        if not len(values):
            return Difference(value, low, high, np.nan)
        side = min(int((values <= 0).sum()), int((values >= 0).sum()))
        return Difference(value, low, high, min(1.0, 2 * (side + 1) / (len(values) + 1)))

    def _column(self, member: str) -> int:
        try:
            return self.members.index(member)
        except ValueError:
            raise unknown("member", member, self.members) from None


def bootstrap(
    groups: NDArray[np.str_], members: Mapping[str, Floats], *, replicates: int = REPLICATES, seed: int = 0
) -> Bootstrap:
    """Resample pages with replacement and score every member on every replicate.

    Raises DataError if there are no rows or no members; MismatchError if a member has another number of rows.

    Parameters
    ----------
    groups : (n,) array
        What is resampled as a whole: ``corpus.groups``.
    members : mapping of name to (n, columns) array
        From :func:`contributions` or :func:`contributions_of_decisions`, rows in the order of ``groups``.
    replicates : int
        How often.
    seed : int
        Of the resampling alone; the same seed and groups give the same replicates to whatever members.
    """
    return bootstrap_label_sets(groups, {"": members}, replicates=replicates, seed=seed)[""]


def bootstrap_label_sets(
    groups: NDArray[np.str_],
    label_sets: Mapping[str, Mapping[str, Floats]],
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> dict[str, Bootstrap]:
    """As :func:`bootstrap`, for the same members under several label sets, in little more than the time of one.

    Label sets differ on few rows, so that only the first is resampled whole; to its sums are added those of the
    differences, on the pages that have any. Raises DataError, MismatchError as :func:`bootstrap` does, and where label
    sets have different members.
    """
    pages = Pages.of(groups)
    tables = {name: _table(groups, pages, members) for name, members in label_sets.items()}
    base, *others = tables.values()
    names = tuple(next(iter(label_sets.values())))
    if any(tuple(members) != names for members in label_sets.values()):
        raise MismatchError("the label sets have different members")
    changes = []
    for other in others:
        # what has no value (NaN) has none under any labels, and stays so by the first table
        change = np.nan_to_num(other - base, nan=0.0)
        touched = np.flatnonzero(change.any(axis=1))
        changes.append((touched, change[touched]))
    samples: list[list[dict[str, Floats]]] = [[] for _ in tables]
    for weights in resamples(pages.count, replicates, seed):
        # scores are a third of the sums that they follow from, so only they are kept
        whole = weights @ base
        samples[0].append(_scores(whole))
        for blocks, (touched, change) in zip(samples[1:], changes, strict=True):
            blocks.append(_scores(whole + weights[:, touched] @ change))
    return {
        name: Bootstrap(
            members=names,
            points={key: row[0] for key, row in _scores(table.sum(axis=0)[None]).items()},
            samples={
                metric: np.concatenate([block[metric] for block in blocks]) for metric in metrics.METRICS
            },
        )
        for (name, table), blocks in zip(tables.items(), samples, strict=True)
    }


def permutation_test(
    groups: NDArray[np.str_],
    first: ArrayLike,
    second: ArrayLike,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Floats:
    """Two-sided p-values of equal per-example values, by flipping the sign of whole pages' differences.

    Under the hypothesis that the two members may change names on any page, the sign of each page's summed
    difference is a fair coin (Good 2005, section 3.2; Fisher's paired test, clustered).

    Parameters
    ----------
    groups : (n,) array
        What is flipped as a whole: ``corpus.groups``.
    first, second : (n,) or (pairs, n) arrays
        Per-example values of the two members (``example_losses``, say).
    replicates, seed : int
        Number of random sign patterns, and their seed.

    Returns
    -------
    () or (pairs,) float64 array: share of patterns with a sum at least as far from 0 as the observed one,
    that one counted in.
    """
    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    if differences.shape[-1] != len(groups):
        raise MismatchError(f"{differences.shape[-1]} values for {len(groups)} rows")
    pairs = np.atleast_2d(differences)
    pages = Pages.of(groups)
    sums = pages.sums(pairs.T)
    observed = np.abs(sums.sum(axis=0))
    # equal sums added in another order differ in their last bits; those are ties, and count
    slack = 1e-12 * np.abs(sums).sum(axis=0)
    beyond = np.ones(len(pairs))
    for signs in sign_flips(pages.count, replicates, seed):
        beyond += (np.abs(signs @ sums) >= observed - slack).sum(axis=0)
    return (beyond / (replicates + 1)).reshape(differences.shape[:-1])


def _table(groups: NDArray[np.str_], pages: Pages, members: Mapping[str, Floats]) -> Floats:
    """(pages, 1 + members * columns): rows of each page, since a replicate's number of rows varies, and sums."""
    if not members or not len(groups):
        raise DataError("there is nothing to resample", expected="at least one member and one row")
    for name, rows in members.items():
        if rows.shape != (len(groups), COLUMNS):
            raise MismatchError(
                f"contributions of {name!r} have shape {rows.shape}, expected {(len(groups), COLUMNS)}"
            )
    return np.column_stack([pages.sizes, pages.sums(np.concatenate(list(members.values()), axis=1))])


def score_of_sums(metric: str, rows: Floats, sums: Floats) -> Floats:
    """A score from sums over rows.

    Parameters
    ----------
    metric : str
        Key of :data:`gapstack.scoring.METRICS`.
    rows : array that broadcasts to (...)
        How many rows were summed.
    sums : (..., columns) array
        Of the contributions in :data:`COLUMNS_OF` the metric.
    """
    if metric == "bias":
        return f1_ratio(
            score_of_sums("f1_feminine", rows, sums[..., :3]),
            score_of_sums("f1_masculine", rows, sums[..., 3:]),
        )
    if metric == "ece":
        return np.abs(sums).sum(axis=-1) / rows
    if metric in _MEANS:
        mean: Floats = sums[..., 0] / rows
        return mean
    return f1_percent(*np.moveaxis(sums, -1, 0))


_MEANS = {"logloss": LOSS, "brier": BRIER, "accuracy": HIT}

COLUMNS_OF: dict[str, list[int]] = {
    **{metric: [column] for metric, column in _MEANS.items()},
    **{f"f1_{gender}": list(range(COLUMNS))[counts] for gender, counts in COUNTS.items()},
    "bias": list(range(COLUMNS))[COUNTS["feminine"]] + list(range(COLUMNS))[COUNTS["masculine"]],
    "ece": list(range(COLUMNS))[GAPS],
}
"""By metric the columns of contributions that it follows from."""


def _scores(totals: Floats) -> dict[str, Floats]:
    """Scores by metric, (replicates, members), of (replicates, 1 + members * columns) totals."""
    rows, sums = totals[:, :1], totals[:, 1:].reshape(len(totals), -1, COLUMNS)
    return {metric: score_of_sums(metric, rows, sums[..., COLUMNS_OF[metric]]) for metric in metrics.METRICS}


def _percentiles(values: Floats, level: float) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    if not len(known):
        return np.nan, np.nan
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
