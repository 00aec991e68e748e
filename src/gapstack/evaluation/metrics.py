"""Metrics, and :data:`METRICS`, from which scores, intervals, tests and all tables take them.

Probabilities are clipped only here. F1 and bias are those of the official GAP scorer (gap_scorer.py;
Webster et al. 2018, section 5): every row is two binary decisions, is the pronoun A and is it B, and both may be TRUE.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from gapstack.data import Corpus, Gender, Label
from gapstack.errors import DataError
from gapstack.types import Bools, Floats, Ints, Labels

FLOOR = 1e-15  # Kaggle clips normalised probabilities to [FLOOR, 1 - FLOOR]

ECE_BINS = 15  # equal-width confidence bins of the calibration error (Guo et al. 2017 use 15)
_GENDER_BINS = 5  # fewer bins for each gender, which has half of the rows


def normalise(probabilities: ArrayLike) -> Floats:
    """Divide rows by their sum, as Kaggle does first: (..., n, 3) to float64; DataError for invalid rows."""
    values = np.asarray(probabilities, dtype=np.float64)
    if values.ndim < 2 or values.shape[-1] != len(Label):
        raise DataError(f"probabilities of shape {values.shape}", expected="(n, 3): columns A, B, NEITHER")
    totals = values.sum(axis=-1, keepdims=True)
    # NaN fails every comparison, and infinity shows in the total
    valid = (values >= 0).all(axis=-1) & (totals[..., 0] > 0) & np.isfinite(totals[..., 0])
    if not valid.all():
        where = tuple(int(i) for i in np.argwhere(~valid)[0])
        raise DataError(
            f"{np.count_nonzero(~valid)} rows are not probabilities, the first is row {where[-1]}: "
            f"{values[where].tolist()}",
            expected="finite numbers, none negative, with a sum above 0",
        )
    return values / totals


def _aligned(labels: Labels, probabilities: ArrayLike) -> Floats:
    """Normalised probabilities with one row for each label."""
    normalised = normalise(probabilities)
    if normalised.shape[-2] != len(labels):
        raise DataError(
            f"{normalised.shape[-2]} rows of probabilities", expected=f"{len(labels)}, one for each label"
        )
    return normalised


def example_losses(labels: Labels, probabilities: ArrayLike) -> Floats:
    """Logloss of each example in nats, (..., n), as Kaggle's: rows rescaled, then clipped to [1e-15, 1 - 1e-15]."""
    of_label = _aligned(labels, probabilities)[..., np.arange(len(labels)), labels]
    return -np.log(np.clip(of_label, FLOOR, 1 - FLOOR))


def log_loss(labels: Labels, probabilities: ArrayLike) -> float:
    """Mean of :func:`example_losses` (shared-task paper, equation 1); lower is better."""
    if not len(labels):
        raise DataError("there is nothing to score", expected="at least one example")
    return float(example_losses(labels, probabilities).mean())


def example_briers(labels: Labels, probabilities: ArrayLike) -> Floats:
    """Brier score of each example: squared distance to the one-hot label, 0 to 2, (..., n)."""
    truth = np.eye(len(Label))[labels]
    return np.square(_aligned(labels, probabilities) - truth).sum(axis=-1)


def answers(probabilities: ArrayLike) -> Labels:
    """Most probable column of each row, (..., n); ties go to the leftmost."""
    return np.asarray(probabilities, dtype=np.float64).argmax(axis=-1).astype(np.int64)


def decisions(probabilities: ArrayLike) -> Bools:
    """The two GAP decisions of each row, (..., n, 2): TRUE for the name that :func:`answers` chooses."""
    return answers(probabilities)[..., None] == np.array([Label.A, Label.B])


def confidence_bins(normalised: Floats, bins: int) -> Ints:
    """Bin of each row's highest probability, (..., n), among ``bins`` equal parts of (0, 1], closed on the right."""
    return np.clip(np.ceil(normalised.max(axis=-1) * bins).astype(np.int64) - 1, 0, bins - 1)


def calibration_gaps(labels: Labels, probabilities: ArrayLike, *, bins: int = ECE_BINS) -> Floats:
    """Confidence minus 1 if right of each example, in the bin of its confidence; 0 in other bins: (..., n, bins)."""
    normalised = _aligned(labels, probabilities)
    gap = normalised.max(axis=-1) - (answers(normalised) == labels)
    return np.where(confidence_bins(normalised, bins)[..., None] == np.arange(bins), gap[..., None], 0.0)


def f1_percent(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike) -> Floats:
    """F1 in percent from counts of any shape; 0 without a true positive, as in the official scorer."""
    twice = 2.0 * np.asarray(tp, dtype=np.float64)
    whole = twice + np.asarray(fp) + np.asarray(fn)
    return 100.0 * np.divide(twice, whole, out=np.zeros_like(whole), where=whole > 0)


def f1_ratio(feminine: ArrayLike, masculine: ArrayLike) -> Floats:
    """F1 feminine over F1 masculine, of any shape; NaN where either is 0 (the official scorer's "-")."""
    top, bottom = np.asarray(feminine, dtype=np.float64), np.asarray(masculine, dtype=np.float64)
    return np.divide(top, bottom, out=np.full(top.shape, np.nan), where=(top > 0) & (bottom > 0))


def outcomes(gold: Bools, decided: Bools, answered: Bools | None = None) -> Ints:
    """True and false positives, false and true negatives, (n, 4); no answer is a false negative, as officially."""
    if gold.shape[1:] != (2,) or decided.shape != gold.shape:
        raise DataError(f"gold of shape {gold.shape}, decisions of shape {decided.shape}", expected="(n, 2)")
    present = np.ones_like(decided) if answered is None else answered
    kinds = (
        gold & decided & present,
        ~gold & decided & present,
        ~present | (gold & ~decided),
        ~gold & ~decided & present,
    )
    # (n, 2, 4), summed over the two decisions
    return np.stack(kinds, axis=-1).sum(axis=1)


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predictions of one system for the rows of a corpus: normalised probabilities, or decisions alone."""

    probabilities: Floats | None
    decided: Bools  # (n, 2)
    answered: Bools  # (n, 2), False without a decision
    notes: tuple[str, ...] = ()  # irregularities that the scorer of the file format accepts silently

    @classmethod
    def of(cls, probabilities: ArrayLike) -> Predictions:
        """Predictions from (n, 3) probabilities; raises as :func:`normalise` does."""
        normalised = normalise(probabilities)
        decided = decisions(normalised)
        return cls(normalised, decided, np.ones_like(decided))


RowValues = Callable[[Corpus, Predictions], Floats]
"""Maps labelled rows and predictions for them to contributions, (n, k)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A score that is a function of sums over rows, so that the bootstrap need not predict again."""

    name: str
    """Attribute of :class:`~gapstack.evaluation.Scores`, and key in JSON."""
    title: str
    """Heading of its columns."""
    better: str | None
    """``low``, ``high``, or None if neither (a ratio is best near 1, a difference near 0)."""
    decimals: int
    """Decimals in tables."""
    rows: RowValues
    """Contributions of the rows, (n, ``columns``)."""
    score: Callable[[Floats], Floats]
    """Maps sums (..., 1 + columns), the number of rows first, to scores (...); NaN without a value."""
    tables: tuple[str, ...]
    """Tables that show it: ``score``, ``compare``, ``summary`` (runs, with intervals), ``overview`` (as in the shared
    task's overview, and model cards), ``pairs`` (tests of all pairs), ``balance`` (rows reweighted by difficulty),
    ``slices``, and ``gaps`` (feminine minus masculine, by slice). Systems are ranked by the first metric in ``ranking``
    that has a value."""
    columns: int = 1
    """Number of contributions of a row."""
    probabilities: bool = False
    """True if it needs probabilities, not decisions alone."""
    help: str = ""
    """Explanation of its columns."""
    defined: Callable[[Floats], Bools] | None = None
    """Maps sums to True where a slice has a value; None if it always has."""

    def contributions(self, corpus: Corpus, predictions: Predictions) -> Floats:
        """Contributions of the rows, (n, columns); NaN if it needs probabilities and there are none."""
        if self.probabilities and predictions.probabilities is None:
            return np.full((len(corpus), self.columns), np.nan)
        return self.rows(corpus, predictions)

    def value(self, corpus: Corpus, predictions: Predictions) -> float | None:
        """Score of all rows; None without a value."""
        sums = self.contributions(corpus, predictions).sum(axis=0)
        value = float(self.score(np.concatenate([[len(corpus)], sums])))
        return None if np.isnan(value) else value


def gold_decisions(corpus: Corpus) -> Bools:
    """The two correct GAP decisions of each row, (n, 2), by the corpus's labels."""
    return corpus.labels[:, None] == np.array([Label.A, Label.B])


def mean_score(sums: Floats) -> Floats:
    """Mean of a single column."""
    mean: Floats = sums[..., 1] / sums[..., 0]
    return mean


def _f1(sums: Floats) -> Floats:
    return f1_percent(sums[..., 1], sums[..., 2], sums[..., 3])


def _bias(sums: Floats) -> Floats:
    return f1_ratio(_f1(sums), _f1(sums[..., [0, 4, 5, 6]]))


def _calibration_error(sums: Floats) -> Floats:
    """Expected calibration error of the top answer, 0 to 1 (Naeini et al. 2015; Guo et al. 2017, equation 3)."""
    error: Floats = np.abs(sums[..., 1:]).sum(axis=-1) / sums[..., 0]
    return error


def _counts(corpus: Corpus, predicted: Predictions) -> Floats:
    """True positives, false positives and false negatives of each row, (n, 3)."""
    return outcomes(gold_decisions(corpus), predicted.decided, predicted.answered)[:, :3].astype(np.float64)


def _counts_of(*genders: Gender) -> RowValues:
    """Counts on the rows of each gender side by side, 0 on other rows, (n, 3 * genders)."""
    return lambda corpus, predicted: np.hstack(
        [_counts(corpus, predicted) * (corpus.genders == gender.value)[:, None] for gender in genders]
    )


def _both_right(corpus: Corpus, predicted: Predictions) -> Floats:
    """1 where both decisions are right, else 0, (n, 1)."""
    return (_counts(corpus, predicted)[:, 1:].sum(axis=1, keepdims=True) == 0).astype(np.float64)


def _outcomes_by_gender(corpus: Corpus, predicted: Predictions) -> Floats:
    """True and false positives, false and true negatives of each gender's rows side by side, (n, 8)."""
    counts = outcomes(gold_decisions(corpus), predicted.decided, predicted.answered).astype(np.float64)
    return np.hstack([counts * (corpus.genders == gender.value)[:, None] for gender in _GENDERS])


def _odds_difference(sums: Floats) -> Floats:
    """Equalised odds difference, in points (Hardt, Price and Srebro 2016); NaN if a gender lacks a rate."""
    by_gender = sums[..., 1:].reshape(*sums.shape[:-1], 2, 4)
    tp, fp, fn, tn = np.moveaxis(by_gender, -1, 0)
    wanted, unwanted = tp + fn, fp + tn
    rates = np.stack(
        [
            np.divide(tp, wanted, out=np.full(tp.shape, np.nan), where=wanted > 0),
            np.divide(fp, unwanted, out=np.full(tp.shape, np.nan), where=unwanted > 0),
        ]
    )
    return np.asarray(100.0 * np.abs(rates[..., 0] - rates[..., 1]).max(axis=0))


def _gender_gaps(corpus: Corpus, predicted: Predictions) -> Floats:
    """1 and the calibration gaps of each gender's rows side by side, 0 on other rows, (n, 2 * (1 + bins))."""
    gaps = _soft(partial(calibration_gaps, bins=_GENDER_BINS))(corpus, predicted)
    counted = np.hstack([np.ones((len(corpus), 1)), gaps])
    return np.hstack([counted * (corpus.genders == gender.value)[:, None] for gender in _GENDERS])


def _calibration_difference(sums: Floats) -> Floats:
    """Expected calibration error on feminine minus that on masculine rows; NaN without either."""
    by_gender = sums[..., 1:].reshape(*sums.shape[:-1], 2, 1 + _GENDER_BINS)
    rows, gaps = by_gender[..., 0], np.abs(by_gender[..., 1:]).sum(axis=-1)
    errors = np.divide(gaps, rows, out=np.full(rows.shape, np.nan), where=rows > 0)
    return np.asarray(errors[..., 0] - errors[..., 1])


def _soft(values: Callable[..., Floats]) -> RowValues:
    """Contributions from a function of labels and probabilities."""
    return lambda corpus, predicted: values(corpus.labels, predicted.probabilities).reshape(len(corpus), -1)


_GENDERS = Gender.FEMININE, Gender.MASCULINE


def _has_right_name(sums: Floats) -> Bools:
    """True where some name is right: without one, F1 is 0 whatever is predicted."""
    defined: Bools = sums[..., 1] + sums[..., 3] > 0
    return defined


_f1_metric = partial(Metric, better="high", decimals=1, columns=3, score=_f1, defined=_has_right_name)

_LIST = [
    Metric(
        name="logloss",
        title="logloss",
        better="low",
        decimals=4,
        rows=_soft(example_losses),
        score=mean_score,
        tables=("score", "compare", "summary", "pairs", "slices", "gaps", "ranking", "overview"),
        probabilities=True,
        help="Mean of minus the log of the right answer's probability; 0 is perfect",
    ),
    _f1_metric(
        name="f1_masculine",
        title="F1 M",
        rows=_counts_of(Gender.MASCULINE),
        tables=("score", "compare", "balance", "slices", "overview"),
        help="F1 on masculine pronouns, percent",
    ),
    _f1_metric(
        name="f1_feminine",
        title="F1 F",
        rows=_counts_of(Gender.FEMININE),
        tables=("score", "compare", "balance", "slices", "overview"),
        help="F1 on feminine pronouns, percent",
    ),
    _f1_metric(
        name="f1_overall",
        title="F1 O",
        rows=_counts,
        tables=("score", "compare", "summary", "pairs", "balance", "slices", "gaps", "ranking", "overview"),
        help="F1 on all pronouns, percent",
    ),
    Metric(
        name="bias",
        title="bias",
        better=None,
        decimals=3,
        rows=_counts_of(*_GENDERS),
        columns=6,
        score=_bias,
        tables=("score", "compare", "summary", "balance", "overview"),
        help="F1 on feminine divided by F1 on masculine pronouns; 1 is even",
    ),
    Metric(
        name="accuracy",
        title="acc",
        better="high",
        decimals=3,
        rows=_both_right,
        score=mean_score,
        tables=("score", "compare", "pairs", "slices"),
        help="Share of rows with the right answer",
    ),
    Metric(
        name="brier",
        title="Brier",
        better="low",
        decimals=4,
        rows=_soft(example_briers),
        score=mean_score,
        tables=(),
        probabilities=True,
        help="Mean squared distance of the probabilities to the right answer, 0 to 2",
    ),
    Metric(
        name="ece",
        title="ECE",
        better="low",
        decimals=3,
        rows=_soft(calibration_gaps),
        columns=ECE_BINS,
        score=_calibration_error,
        tables=("compare",),
        probabilities=True,
        help="Expected calibration error: mean distance between confidence and accuracy",
    ),
    Metric(
        name="ece_gap",
        title="ECE F-M",
        better=None,
        decimals=3,
        rows=_gender_gaps,
        columns=2 * (1 + _GENDER_BINS),
        score=_calibration_difference,
        tables=(),
        probabilities=True,
        help="Calibration error (5 bins) on feminine minus that on masculine pronouns; 0 is even",
    ),
    Metric(
        name="equalised_odds",
        title="eq. odds",
        better="low",
        decimals=1,
        rows=_outcomes_by_gender,
        columns=8,
        score=_odds_difference,
        tables=(),
        help="Larger difference between the genders in true and in false positive rate, points; 0 is even",
    ),
]
METRICS: dict[str, Metric] = {metric.name: metric for metric in _LIST}
"""All metrics by name. A new one is one entry of the list: scores, intervals, tests, tables and plots follow."""


def metrics_in(table: str) -> tuple[str, ...]:
    """Names of the metrics shown in a table; see :attr:`Metric.tables`."""
    return tuple(name for name, metric in METRICS.items() if table in metric.tables)
