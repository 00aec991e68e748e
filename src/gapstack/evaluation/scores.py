"""All scores of one set of predictions on one corpus, and of constant baselines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from gapstack.data import Corpus, Label, html
from gapstack.data.corpus import Gold
from gapstack.errors import DataError
from gapstack.evaluation.gap import GapScores, gap_scores
from gapstack.evaluation.metrics import METRICS, Predictions, gold_decisions
from gapstack.types import Bools, Labels

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Scores:
    """Scores of one set of predictions.

    Every metric of :data:`~gapstack.evaluation.METRICS` is an attribute (``scores.logloss``), None where it needs
    probabilities and there are none. Accuracy is the share of rows with both decisions right, 0 to 1; F1 is in percent;
    ``double_true`` counts rows answered TRUE for both names, which is never right in GAP.
    """

    data: str
    label_set: str
    n: int
    gap: GapScores
    values: Mapping[str, float | None]
    double_true: int = 0

    def __getattr__(self, name: str) -> float | None:
        if name not in METRICS:
            raise AttributeError(name)
        return self.values[name]

    def value(self, metric: str) -> float | None:
        """The score called ``metric``, a key of :data:`~gapstack.evaluation.METRICS`."""
        return self.values[metric]

    def __str__(self) -> str:
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
        return f"{self.data}, {self.n:,} rows, {self.label_set} labels", shown

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "data": self.data,
            "label_set": self.label_set,
            "n": self.n,
            **self.values,
            "double_true": self.double_true,
            "gap": self.gap.as_dict(),
        }


def score_predictions(corpus: Corpus | Gold, predictions: Predictions) -> Scores:
    """Score predictions in the order of a labelled corpus.

    Raises DataError if the corpus is empty or lacks labels, or there is not one prediction for each example.
    """
    if not len(corpus):
        raise DataError("there is nothing to score", expected="at least one example")
    found = predictions
    return Scores(
        data=corpus.name,
        label_set=corpus.label_set,
        n=len(corpus),
        gap=gap_scores(gold_decisions(corpus), found.decided, corpus.genders, found.answered),
        values={name: metric.value(corpus, found) for name, metric in METRICS.items()},
        double_true=int((found.decided & found.answered).all(axis=1).sum()),
    )


def score(corpus: Corpus | Gold, probabilities: ArrayLike) -> Scores:
    """Score (n, 3) probabilities, columns A, B, NEITHER, in the order of a labelled corpus.

    Decisions are the most probable column of each row. Raises DataError as :func:`score_predictions` and
    :func:`~gapstack.evaluation.metrics.normalise`.
    """
    return score_predictions(corpus, Predictions.of(probabilities))


def score_decisions(corpus: Corpus | Gold, decided: Bools) -> Scores:
    """Score (n, 2) decisions in the order of a labelled corpus, without logloss; as :func:`score_predictions`."""
    return score_predictions(corpus, Predictions(None, decided, np.ones_like(decided)))


def degenerate_scores(corpus: Corpus | Gold, training_labels: Labels | None = None) -> dict[str, Scores]:
    """Score constant baselines by name: always A, always B, both TRUE and the class prior.

    The prior is that of ``training_labels``, by default of ``corpus``, and the name says so: no constant answer has a
    lower logloss on it. Raises DataError if the corpus is empty or lacks a label.
    """
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
