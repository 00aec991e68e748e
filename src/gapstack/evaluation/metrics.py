"""Metrics, and :data:`METRICS`, the list from which scores, intervals, tests and all tables take them.

This is the one place where probabilities are clipped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from gapstack.data import Corpus, Gender, Label
from gapstack.data.corpus import Gold
from gapstack.errors import DataError
from gapstack.evaluation.gap import f1_percent, f1_ratio, outcomes
from gapstack.types import Bools, Floats, Labels

FLOOR = 1e-15
"""Kaggle clips normalised probabilities to [FLOOR, 1 - FLOOR]."""

ECE_BINS = 15
"""Equal-width confidence bins of the calibration error (Guo et al. 2017 use 15)."""


def normalise(probabilities: ArrayLike) -> Floats:
    """Divide each row by its sum, as Kaggle does first: (..., n, 3) to float64 rows that sum to 1.

    Columns are A, B, NEITHER; leading axes may hold members. Raises DataError, which names the first bad row from 0, if
    the shape is another, or a value is negative or not finite, or a row sums to 0.
    """
    values = np.asarray(probabilities, dtype=np.float64)
    if values.ndim < 2 or values.shape[-1] != len(Label):
        raise DataError(f"probabilities of shape {values.shape}", expected="(n, 3): columns A, B, NEITHER")
    totals = values.sum(axis=-1, keepdims=True)
    # NaN fails every comparison, and infinity shows in the total
    good = (values >= 0).all(axis=-1) & (totals[..., 0] > 0) & np.isfinite(totals[..., 0])
    if not good.all():
        where = tuple(int(i) for i in np.argwhere(~good)[0])
        raise DataError(
            f"{np.count_nonzero(~good)} rows are not probabilities, the first is row {where[-1]}: "
            f"{values[where].tolist()}",
            expected="finite numbers, none negative, with a sum above 0",
        )
    return values / totals


def _aligned(labels: Labels, probabilities: ArrayLike) -> Floats:
    """Normalised probabilities with one row for each label."""
    normalised = normalise(probabilities)
    if normalised.shape[-2] != len(labels):
        raise DataError(
            f"{normalised.shape[-2]} rows of probabilities for {len(labels)} labels",
            expected="one row for each example",
        )
    return normalised


def example_losses(labels: Labels, probabilities: ArrayLike) -> Floats:
    """Logloss of each example in nats, (..., n): minus the log of the probability of its label.

    Kaggle's rule: rows divided by their sum, then clipped to [1e-15, 1 - 1e-15]. Labels are (n,), probabilities (...,
    n, 3). Raises DataError as :func:`normalise`, and if there is not one row for each label.
    """
    normalised = _aligned(labels, probabilities)
    of_label = normalised[..., np.arange(len(labels)), labels]
    return -np.log(np.clip(of_label, FLOOR, 1 - FLOOR))


def log_loss(labels: Labels, probabilities: ArrayLike) -> float:
    """Mean of :func:`example_losses` (shared-task paper, equation 1); lower is better."""
    if not len(labels):
        raise DataError("there is nothing to score", expected="at least one example")
    return float(example_losses(labels, probabilities).mean())


def example_briers(labels: Labels, probabilities: ArrayLike) -> Floats:
    """Brier score of each example: squared distance to the one-hot label, 0 to 2. Shapes as in the losses."""
    truth = np.eye(len(Label))[labels]
    return np.square(_aligned(labels, probabilities) - truth).sum(axis=-1)


def answers(probabilities: ArrayLike) -> Labels:
    """Most probable column of each row, (..., n); ties go to the leftmost."""
    return np.asarray(probabilities, dtype=np.float64).argmax(axis=-1).astype(np.int64)


def decisions(probabilities: ArrayLike) -> Bools:
    """The two GAP decisions of each row, (..., n, 2): TRUE for the name that :func:`answers` chooses."""
    return answers(probabilities)[..., None] == np.array([Label.A, Label.B])


def example_hits(labels: Labels, probabilities: ArrayLike) -> Floats:
    """1.0 where the most probable column is the label, else 0.0. Shapes as in the losses."""
    return (answers(_aligned(labels, probabilities)) == labels).astype(np.float64)


def calibration_gaps(labels: Labels, probabilities: ArrayLike, *, bins: int = ECE_BINS) -> Floats:
    """Confidence minus hit of each example in the bin of its confidence, 0 in all others: (..., n, bins).

    Confidence is the highest probability of the row; the bins are equal parts of (0, 1], closed on the right.
    """
    confidence = _aligned(labels, probabilities).max(axis=-1)
    place = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
    gap = confidence - example_hits(labels, probabilities)
    return np.where(place[..., None] == np.arange(bins), gap[..., None], 0.0)


def expected_calibration_error(labels: Labels, probabilities: ArrayLike, *, bins: int = ECE_BINS) -> float:
    """Expected calibration error of the top answer, 0 to 1 (Naeini et al. 2015; Guo et al. 2017, equation 3)."""
    gaps = calibration_gaps(labels, probabilities, bins=bins)
    return float(np.abs(gaps.sum(axis=0)).sum() / max(len(labels), 1))


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predictions of one system for the rows of a corpus, in their order.

    ``probabilities`` (n, 3) are normalised, or None for a system that only decides; ``decided`` and ``answered`` (n, 2)
    are as in :func:`~gapstack.evaluation.gap.outcomes`; ``notes`` tell what the scorer of their file format accepts
    silently.
    """

    probabilities: Floats | None
    decided: Bools
    answered: Bools
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, probabilities: ArrayLike) -> Predictions:
        """Predictions from (n, 3) probabilities; DataError as :func:`normalise`."""
        normalised = normalise(probabilities)
        decided = decisions(normalised)
        return cls(normalised, decided, np.ones_like(decided))


RowSums = Callable[[Corpus | Gold, Predictions], Floats]


@dataclass(frozen=True, slots=True)
class Metric:
    """A score that follows from sums over rows, so that it can be resampled.

    Attributes
    ----------
    name, title : str
        Attribute of :class:`~gapstack.evaluation.Scores` and key in JSON; heading of its columns.
    better : {"low", "high", "one"}
        Its direction; "one" is best near 1.
    decimals : int
    rows : callable
        Maps a labelled corpus and :class:`Predictions` to the (n, columns) contributions of the rows.
    score : callable
        Maps sums (..., 1 + columns), the number of rows first, to scores (...); NaN without a value.
    probabilities : bool
        True if it has no value without probabilities.
    tables : tuple of str
        Where it is shown: ``score`` (tables of scores), ``summary`` (with intervals, in runs and their listing),
        ``compare`` and ``leaderboard`` (of a comparison), ``pairs`` (tests of all pairs), ``balance`` (genders
        reweighted by difficulty).
    """

    name: str
    title: str
    better: str
    decimals: int
    rows: RowSums
    score: Callable[[Floats], Floats]
    columns: int = 1
    probabilities: bool = False
    tables: tuple[str, ...] = ()

    @property
    def best(self) -> str | None:
        """``"low"`` or ``"high"``; None for a metric that is best near 1."""
        return None if self.better == "one" else self.better

    def contributions(self, corpus: Corpus | Gold, predictions: Predictions) -> Floats:
        """Contributions of the rows, (n, k); NaN where it lacks probabilities."""
        if self.probabilities and predictions.probabilities is None:
            return np.full((len(corpus), self.columns), np.nan)
        return self.rows(corpus, predictions)

    def value(self, corpus: Corpus | Gold, predictions: Predictions) -> float | None:
        """The score of all rows; None without a value."""
        sums = self.contributions(corpus, predictions).sum(axis=0)
        value = float(self.score(np.concatenate([[len(corpus)], sums])))
        return None if np.isnan(value) else value


def gold_decisions(corpus: Corpus | Gold) -> Bools:
    """The two correct GAP decisions of each row, (n, 2), by the corpus's labels."""
    return corpus.labels[:, None] == np.array([Label.A, Label.B])


def mean_score(sums: Floats) -> Floats:
    """Mean of a single column."""
    mean: Floats = sums[..., 1] / sums[..., 0]
    return mean


def f1_score(sums: Floats) -> Floats:
    """F1 in percent from true positives, false positives and false negatives."""
    return f1_percent(sums[..., 1], sums[..., 2], sums[..., 3])


def _bias(sums: Floats) -> Floats:
    return f1_ratio(f1_score(sums), f1_score(sums[..., [0, 4, 5, 6]]))


def _calibration_error(sums: Floats) -> Floats:
    error: Floats = np.abs(sums[..., 1:]).sum(axis=-1) / sums[..., 0]
    return error


def _counts(*genders: Gender) -> RowSums:
    """True positives, false positives and false negatives: of each gender, or without genders of all rows."""

    def rows(corpus: Corpus | Gold, found: Predictions) -> Floats:
        counts = outcomes(gold_decisions(corpus), found.decided, found.answered)[:, :3].astype(np.float64)
        masks = [corpus.genders == gender.value for gender in genders] or [np.ones(len(corpus), dtype=bool)]
        return np.concatenate([counts * mask[:, None] for mask in masks], axis=1)

    return rows


def _both_right(corpus: Corpus | Gold, found: Predictions) -> Floats:
    wrong = _counts()(corpus, found)[:, 1:].sum(axis=1, keepdims=True)
    return (wrong == 0).astype(np.float64)


def _soft(name: str, title: str, decimals: int, values: Callable[..., Floats], *tables: str) -> Metric:
    """A metric that is the mean of values per example, which need probabilities; lower is better."""

    def rows(corpus: Corpus | Gold, found: Predictions) -> Floats:
        return values(corpus.labels, found.probabilities).reshape(len(corpus), -1)

    return Metric(name, title, "low", decimals, rows, mean_score, probabilities=True, tables=tables)


def _f1(name: str, title: str, genders: Sequence[Gender], *tables: str) -> Metric:
    return Metric(name, title, "high", 1, _counts(*genders), f1_score, columns=3, tables=tables)


_M, _F = Gender.MASCULINE, Gender.FEMININE
_BIAS = Metric("bias", "bias", "one", 3, _counts(_F, _M), _bias, columns=6)
_ECE = replace(_soft("ece", "ECE", 3, calibration_gaps), score=_calibration_error, columns=ECE_BINS)
_ACCURACY = Metric("accuracy", "acc", "high", 3, _both_right, mean_score)

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        _soft("logloss", "logloss", 4, example_losses, "score", "compare", "summary", "pairs", "leaderboard"),
        _f1("f1_masculine", "F1 M", [_M], "score", "compare", "leaderboard", "balance"),
        _f1("f1_feminine", "F1 F", [_F], "score", "compare", "leaderboard", "balance"),
        _f1("f1_overall", "F1 O", [], "score", "compare", "summary", "pairs", "balance"),
        replace(_BIAS, tables=("score", "compare", "summary", "leaderboard", "balance")),
        replace(_ACCURACY, tables=("score", "compare", "pairs")),
        _soft("brier", "Brier", 4, example_briers),
        replace(_ECE, tables=("compare", "leaderboard")),
    )
}
"""All metrics by name. A new one is one entry here: scores, intervals, tests, tables and plots follow."""


def metrics_in(table: str) -> tuple[str, ...]:
    """Names of the metrics shown in a table; see :attr:`Metric.tables`."""
    return tuple(name for name, metric in METRICS.items() if table in metric.tables)
