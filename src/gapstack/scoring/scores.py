"""All scores of one set of predictions on one corpus, in one record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from gapstack.corpus import Corpus, Label, html
from gapstack.corpus.corpus import Gold
from gapstack.errors import DataError
from gapstack.scoring import metrics
from gapstack.scoring.gap import GapScores, gap_scores, outcomes
from gapstack.scoring.metrics import METRICS
from gapstack.types import Bools

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of one set of predictions.

    ``logloss``, ``brier`` and ``ece`` are None where there were decisions but no probabilities. Accuracy is
    the share of rows with both decisions right, 0 to 1; F1 is in percent. ``double_true`` counts rows
    answered TRUE for both names, which is never right in GAP.
    """

    data: str
    label_set: str
    n: int
    accuracy: float
    gap: GapScores
    double_true: int = 0
    logloss: float | None = None
    brier: float | None = None
    ece: float | None = None

    @property
    def f1_masculine(self) -> float:
        """F1 over rows with a masculine pronoun, in percent."""
        return self.gap.masculine.f1

    @property
    def f1_feminine(self) -> float:
        """F1 over rows with a feminine pronoun, in percent."""
        return self.gap.feminine.f1

    @property
    def f1_overall(self) -> float:
        """F1 over all rows, in percent."""
        return self.gap.overall.f1

    @property
    def bias(self) -> float | None:
        """F1 feminine over F1 masculine; None where either is 0."""
        return self.gap.bias

    def value(self, metric: str) -> float | None:
        """The score called ``metric``, a key of :data:`~gapstack.scoring.METRICS`."""
        value: float | None = getattr(self, METRICS[metric].name)
        return value

    def __str__(self) -> str:
        values = ", ".join(f"{title} {value}" for title, value in self._shown().items())
        return f"{self._heading}: {values}"

    def _repr_html_(self) -> str:
        shown = self._shown()
        return html.table(list(shown), [list(shown.values())], caption=self._heading)

    def to_pandas(self) -> pd.DataFrame:
        """A data frame of one row: data, label set, number of rows and every metric."""
        import pandas as pd  # slow to import

        return pd.DataFrame([{key: value for key, value in self.as_dict().items() if key != "gap"}])

    @property
    def _heading(self) -> str:
        return f"{self.data}, {self.n:,} rows, {self.label_set} labels"

    def _shown(self) -> dict[str, str]:
        """Each metric that has a value, as it is printed, by its title."""
        values = {metric: self.value(metric.name) for metric in METRICS.values()}
        return {m.title: f"{value:.{m.decimals}f}" for m, value in values.items() if value is not None}

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "data": self.data,
            "label_set": self.label_set,
            "n": self.n,
            **{name: self.value(name) for name in METRICS},
            "double_true": self.double_true,
            "gap": self.gap.as_dict(),
        }


def gold_decisions(corpus: Corpus | Gold) -> Bools:
    """Whether the pronoun is A and whether it is B, (n, 2), by the corpus's labels."""
    return corpus.labels[:, None] == np.array([Label.A, Label.B])


def score(corpus: Corpus | Gold, probabilities: ArrayLike) -> Scores:
    """Score (n, 3) probabilities, columns A, B, NEITHER, in the order of a labelled corpus.

    Decisions are the most probable column of each row (see :func:`~gapstack.scoring.metrics.decisions`). Raises
    DataError if the corpus is empty or has no labels, or the probabilities are none (see
    :func:`~gapstack.scoring.metrics.normalise`) or not one row for each example.
    """
    labels = corpus.labels
    decided = metrics.decisions(metrics.normalise(probabilities))
    return Scores(
        data=corpus.name,
        label_set=corpus.label_set,
        n=len(corpus),
        accuracy=metrics.accuracy(labels, probabilities),
        gap=gap_scores(gold_decisions(corpus), decided, corpus.genders),
        logloss=metrics.log_loss(labels, probabilities),
        brier=metrics.brier(labels, probabilities),
        ece=metrics.expected_calibration_error(labels, probabilities),
    )


def score_decisions(corpus: Corpus | Gold, decided: Bools, answered: Bools | None = None) -> Scores:
    """Score (n, 2) decisions in the order of a labelled corpus; there is no logloss.

    ``answered`` is False where there is no decision (see :func:`~gapstack.scoring.gap.outcomes`). Raises DataError if
    the corpus is empty or has no labels, or there are not two decisions for each example.
    """
    if not len(corpus):
        raise DataError("there is nothing to score", expected="at least one example")
    gold = gold_decisions(corpus)
    rows = outcomes(gold, decided, answered)
    positive = decided if answered is None else decided & answered
    return Scores(
        data=corpus.name,
        label_set=corpus.label_set,
        n=len(corpus),
        # both decisions right: neither a false positive nor a false negative
        accuracy=float((rows[:, 1:3].sum(axis=1) == 0).mean()),
        gap=gap_scores(gold, decided, corpus.genders, answered),
        double_true=int(positive.all(axis=1).sum()),
    )
