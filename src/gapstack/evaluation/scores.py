"""All scores of one set of predictions on one corpus, of constant baselines, and of slices of the data.

A dimension, such as the distance, has one value for every row; the rows with one value are a slice. Pages are resampled
over all rows, so the number of rows of a slice varies from replicate to replicate, as it would in new data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from gapstack.data import Corpus, Gender, Label, html
from gapstack.errors import DataError, counted
from gapstack.evaluation.metrics import (
    METRICS,
    Metric,
    Predictions,
    f1_percent,
    f1_ratio,
    gold_decisions,
    metrics_in,
    outcomes,
)
from gapstack.evaluation.resampling import (
    REPLICATES,
    Groups,
    Pages,
    metric_columns,
    page_counts,
    page_sums,
    percentiles,
)
from gapstack.types import Bools, Floats, Labels, Matrix, Strings

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class DecisionCounts:
    """Counts of decisions; ratios are in percent, and 0 where their denominator is 0."""

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def precision(self) -> float:
        """True positives among the decisions TRUE, in percent."""
        return 100.0 * self.tp / max(self.tp + self.fp, 1)

    @property
    def recall(self) -> float:
        """True positives among the gold decisions TRUE, in percent; a missing decision counts as a false negative."""
        return 100.0 * self.tp / max(self.tp + self.fn, 1)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, in percent."""
        return float(f1_percent(self.tp, self.fp, self.fn))

    def as_dict(self) -> dict[str, float]:
        """Ratios and counts."""
        return {"recall": self.recall, "precision": self.precision, "f1": self.f1, **asdict(self)}


@dataclass(frozen=True, slots=True)
class GapScores:
    """Counts by gender of the pronoun, and over all rows, including those with ``neutral`` pronouns."""

    masculine: DecisionCounts
    feminine: DecisionCounts
    neutral: DecisionCounts  # they, ...: the official scorer refuses these; not in the bias
    overall: DecisionCounts

    @property
    def bias(self) -> float | None:
        """F1 feminine over F1 masculine; None (printed "-") where either is 0."""
        ratio = float(f1_ratio(self.feminine.f1, self.masculine.f1))
        return None if np.isnan(ratio) else ratio

    @property
    def groups(self) -> dict[str, DecisionCounts]:
        """Counts by name: overall, masculine, feminine, and neutral if there are such rows."""
        groups = {"overall": self.overall, "masculine": self.masculine, "feminine": self.feminine}
        return groups | ({"neutral": self.neutral} if any(asdict(self.neutral).values()) else {})

    def as_dict(self) -> dict[str, Any]:
        """Counts and ratios of all groups, and the bias."""
        return {**{name: counts.as_dict() for name, counts in self.groups.items()}, "bias": self.bias}


def gap_scores(gold: Bools, decided: Bools, genders: Strings, answered: Bools | None = None) -> GapScores:
    """Score decisions like the official scorer; see :func:`~gapstack.evaluation.metrics.outcomes`."""
    rows = outcomes(gold, decided, answered)
    groups = {gender.value: rows[genders == gender.value] for gender in Gender} | {"overall": rows}
    return GapScores(**{name: DecisionCounts(*each.sum(axis=0).tolist()) for name, each in groups.items()})


@dataclass(frozen=True, repr=False)
class Scores:
    """Scores of one set of predictions.

    Every metric of :data:`~gapstack.evaluation.METRICS` is an attribute (``scores.logloss``), None if it needs
    probabilities and there are only decisions. F1 is in percent; accuracy, 0 to 1, is the share of rows with both
    decisions right.
    """

    data: str
    """Name of the corpus."""
    label_set: str
    """Name of the label set."""
    n: int
    """Number of rows."""
    gap: GapScores
    """Precision, recall and F1 by gender, as the official scorer prints them."""
    values: Mapping[str, float | None]
    """Each metric's value, by name."""
    double_true: int = 0
    """Rows with TRUE for both names, which is never right in GAP."""

    def __getattr__(self, name: str) -> float | None:
        if name not in METRICS:
            raise AttributeError(name)
        return self.values[name]

    def value(self, metric: str) -> float | None:
        """The score called ``metric``, a key of :data:`~gapstack.evaluation.METRICS`."""
        return self.values[metric]

    def __repr__(self) -> str:
        heading, values = self._shown()
        return f"{heading}: {', '.join(f'{title} {value}' for title, value in values.items())}"

    def _repr_html_(self) -> str:
        heading, values = self._shown()
        return html.table(list(values), [list(values.values())], caption=heading)

    def to_pandas(self) -> pd.DataFrame:
        """A data frame of one row: data, label set, number of rows and every metric."""
        import pandas as pd  # slow to import

        return pd.DataFrame([{key: value for key, value in self.as_dict().items() if key != "gap"}])

    def _shown(self) -> tuple[str, dict[str, str]]:
        """Heading, and each metric that has a value, as printed, by its title."""
        values = {METRICS[name]: value for name, value in self.values.items() if value is not None}
        shown = {metric.title: f"{value:.{metric.decimals}f}" for metric, value in values.items()}
        return f"{self.data}, {counted(self.n, 'row')}, {self.label_set} labels", shown

    def as_dict(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return {
            "data": self.data,
            "label_set": self.label_set,
            "n": self.n,
            **self.values,
            "double_true": self.double_true,
            "gap": self.gap.as_dict(),
        }


def score_predictions(corpus: Corpus, predictions: Predictions) -> Scores:
    """Score predictions in the order of a labelled corpus; DataError if it is empty or lacks labels."""
    if not len(corpus):
        raise DataError("there is nothing to score", expected="at least one example")
    if len(predictions.decided) != len(corpus):
        raise DataError(
            f"{len(predictions.decided):,} rows of predictions",
            expected=f"{len(corpus):,}, one for each example",
        )
    return Scores(
        data=corpus.name,
        label_set=corpus.label_set,
        n=len(corpus),
        gap=gap_scores(gold_decisions(corpus), predictions.decided, corpus.genders, predictions.answered),
        values={name: metric.value(corpus, predictions) for name, metric in METRICS.items()},
        double_true=int((predictions.decided & predictions.answered).all(axis=1).sum()),
    )


def score(corpus: Corpus, probabilities: ArrayLike) -> Scores:
    """Score probabilities as Kaggle (logloss) and the official GAP scorer (F1, bias) do.

    Parameters
    ----------
    corpus : Corpus
        Labelled rows.
    probabilities : array-like of shape (n, 3)
        Columns A, B, NEITHER, in the order of the rows. Rows are rescaled to sum to 1. The most probable column is the
        decision.

    Returns
    -------
    Scores
        Metrics as attributes, such as ``logloss``, ``f1_overall`` and ``bias``.

    Raises
    ------
    DataError
        If a row has no label, or the array has another shape or invalid values.
    """
    return score_predictions(corpus, Predictions.of(probabilities))


def score_decisions(corpus: Corpus, decided: Bools) -> Scores:
    """Score (n, 2) decisions in the order of a labelled corpus, without logloss; raises as :func:`score` does."""
    return score_predictions(corpus, Predictions(None, decided, np.ones_like(decided)))


def degenerate_scores(corpus: Corpus, training_labels: Labels | None = None) -> dict[str, Scores]:
    """Scores of always A, always B, both TRUE and the class prior of ``training_labels``, by name."""
    n = len(corpus)
    certain = np.eye(len(Label))
    source = "training labels" if training_labels is not None else "these labels"
    labels = corpus.labels if training_labels is None else training_labels
    prior = np.bincount(labels, minlength=len(Label)).astype(np.float64)
    return {
        "always A": score(corpus, np.tile(certain[Label.A], (n, 1))),
        "always B": score(corpus, np.tile(certain[Label.B], (n, 1))),
        "both TRUE": score_decisions(corpus, np.ones((n, 2), dtype=bool)),
        f"class prior of {source}": score(corpus, np.tile(prior, (n, 1))),
    }


_SLICED, _GAPS = metrics_in("slices"), metrics_in("gaps")
SLICE_SCORES = (*_SLICED, *(f"{name}_gap" for name in _GAPS))
"""Scores of a slice; gaps are feminine minus masculine, so F1 is lower on feminine pronouns if its gap is negative."""


@dataclass(frozen=True, eq=False)
class Slice:
    """The rows with one value of a dimension: their number, also by gender, and scores of all members."""

    dimension: str
    value: str
    rows: int
    masculine: int
    feminine: int
    scores: dict[str, Floats]  # value, low and high (m, 3) of SLICE_SCORES; NaN without a value


def slice_scores(
    groups: Groups,
    genders: Strings,
    members: Mapping[str, Floats],
    dimensions: Mapping[str, Strings],
    *,
    order: Mapping[str, tuple[str, ...]] | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> list[Slice]:
    """Score every member on every slice.

    ``members`` are :func:`contributions` (n, columns) by name, ``dimensions`` values (n,) by name. Values in ``order``
    come first.
    """
    pages = Pages(groups)
    table = np.stack(list(members.values()), axis=1)  # (n, m, columns)
    # number of rows and contributions of each member: on all rows, on feminine and on masculine ones
    sides = [genders == gender.value for gender in (Gender.FEMININE, Gender.MASCULINE)]
    masks = [(np.ones(len(groups)), _SLICED), *((side.astype(np.float64), _GAPS) for side in sides)]
    columns = np.hstack([_contributions(table, names) * here[:, None] for here, names in masks])
    draws = page_counts(pages.count, replicates, seed)
    result: list[Slice] = []
    for name, values in dimensions.items():
        ordered = dict.fromkeys([*(order or {}).get(name, ()), *np.unique(values).tolist()])
        for value in (value for value in ordered if value and value in values):
            here = np.flatnonzero(values == value)
            touched, place = np.unique(pages.place[here], return_inverse=True)
            by_page = page_sums(place, columns[here])
            # single precision is enough for sums of a few thousand rows
            single = by_page.astype(np.float32)
            samples = [
                _scores(block[:, touched].astype(np.float32) @ single, len(members)) for block in draws
            ]
            points = _scores(by_page.sum(axis=0, keepdims=True), len(members))
            ends = (
                percentiles(np.concatenate(samples))
                if pages.count > 1
                else np.full((2, *points.shape[1:]), np.nan)
            )
            # (m, 3, scores)
            intervals = np.concatenate([points, ends]).swapaxes(0, 1)
            scores = {key: intervals[..., number] for number, key in enumerate(SLICE_SCORES)}
            feminine, masculine = (int(side[here].sum()) for side in sides)
            result.append(Slice(name, value, len(here), masculine, feminine, scores))
    return result


def _contributions(table: Floats, names: Sequence[str]) -> Floats:
    """A column of ones, then the columns of each metric for each member: (n, 1 + m * columns)."""
    picked = [table[..., metric_columns(name)].reshape(len(table), -1) for name in names]
    return np.hstack([np.ones((len(table), 1)), *picked])


def _scores(totals: Matrix, members: int) -> Floats:
    """Scores (replicates, members, scores) from sums of all, feminine and masculine rows side by side."""
    sums = totals.astype(np.float64)
    scores: list[list[Floats]] = []
    start = 0
    for names in (_SLICED, _GAPS, _GAPS):
        rows, start = sums[:, start], start + 1
        scores.append([])
        for name in names:
            stop = start + members * METRICS[name].columns
            scores[-1].append(
                _slice_score(METRICS[name], rows, sums[:, start:stop].reshape(len(sums), members, -1))
            )
            start = stop
    whole, feminine, masculine = scores
    gaps = [on_feminine - on_masculine for on_feminine, on_masculine in zip(feminine, masculine, strict=True)]
    return np.stack([*whole, *gaps], axis=-1)


def _slice_score(metric: Metric, rows: Floats, sums: Floats) -> Floats:
    """A metric (replicates, members) from numbers of rows (replicates,) and sums; NaN without a value."""
    number = np.broadcast_to(np.where(rows > 0, rows, np.nan)[:, None, None], (*sums.shape[:-1], 1))
    whole = np.concatenate([number, sums], axis=-1)
    score = np.where(np.isnan(number[..., 0]), np.nan, metric.score(whole))
    return score if metric.defined is None else np.where(metric.defined(whole), score, np.nan)
