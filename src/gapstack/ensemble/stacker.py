"""The base of all stackers, symmetric in A and B."""

from abc import ABC, abstractmethod
from typing import ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator

from gapstack.errors import MemberError, NotFittedError
from gapstack.features import Features
from gapstack.members.learned_state import Learned
from gapstack.settings import Configured
from gapstack.types import BasePredictions, Floats, Labels, Probabilities

EVIDENCE = ("surface", "cues")  # blocks of hand-made features that stackers may read
SWAPPED = [1, 0, 2]  # columns after A and B have exchanged their names
LEAST_PROBABILITY = 1e-15
Inputs = Literal["logs", "probabilities"]
"""What a stacker reads of its members: log-probabilities or probabilities."""
_OUTLIER = 5.0  # standard deviations at which evidence is clipped


class Stacker(Learned, Configured, BaseEstimator, ABC):
    """An estimator over base predictions and, if it reads them, hand-made features of the rows ("evidence").

    Each row is learned in both orders of its names and predictions are averaged over both, so that swapping A and B
    swaps the probabilities. :attr:`LEARNED` names the learned state.
    """

    READS_EVIDENCE: ClassVar[bool] = False
    LEARNS: ClassVar[bool] = True
    """False if nothing is learned; the stacker may then pool the members of several folds at once."""
    LEARNED: ClassVar[tuple[str, ...]] = ("members",)

    def fit(
        self, base_predictions: BasePredictions, labels: Labels, evidence: Features | None = None
    ) -> Self:
        """Learn from base predictions (n, m, 3) and labels (n,), and return self.

        Raises MemberError if the stacker reads evidence and none is given.
        """
        self.check_settings()
        both_orders = np.concatenate([base_predictions, base_predictions[:, :, SWAPPED]])
        table = np.concatenate(self._tables(evidence, len(labels)))
        self._fit(both_orders, np.concatenate([labels, np.array(SWAPPED)[labels]]), table)
        self.members_ = base_predictions.shape[1]
        return self

    def predict_proba(
        self, base_predictions: BasePredictions, evidence: Features | None = None
    ) -> Probabilities:
        """Return (n, 3) probabilities.

        Raises NotFittedError before ``fit``; MemberError for another number of members or missing evidence.
        """
        if not hasattr(self, "members_"):
            raise NotFittedError(f"{type(self).__name__} is not fitted; call fit(base_predictions, labels)")
        given = base_predictions.shape[1]
        if given % self.members_ or (self.LEARNS and given != self.members_):
            raise MemberError(
                f"stacker was fitted on {self.members_} members; base predictions are of {given}"
            )
        table, swapped = self._tables(evidence, len(base_predictions))
        both = self._predict(base_predictions, table)
        both = both + self._predict(base_predictions[:, :, SWAPPED], swapped)[:, SWAPPED]
        return both / both.sum(axis=1, keepdims=True)

    def _tables(self, evidence: Features | None, rows: int) -> tuple[Floats, Floats]:
        """Evidence in both orders of the names; without columns for a stacker that reads none."""
        if not self.READS_EVIDENCE:
            return np.empty((rows, 0)), np.empty((rows, 0))
        if evidence is None:
            raise MemberError(
                f"{type(self).__name__} reads evidence of the rows, and none was given; give their features as evidence"
            )
        return self._table(evidence), self._table(evidence.swapped())

    def _table(self, evidence: Features) -> Floats:
        """Features of A, of B and of the row, (n, d), NaN for missing values; override to read less."""
        a, b = evidence.candidates[:, 0], evidence.candidates[:, 1]
        return np.concatenate([a, b, evidence.shared], axis=1)

    @abstractmethod
    def _fit(self, base: BasePredictions, labels: Labels, evidence: Floats) -> None: ...

    @abstractmethod
    def _predict(self, base: BasePredictions, evidence: Floats) -> Probabilities: ...


def column_scales(table: Floats) -> Floats:
    """Mean and standard deviation (2, d) of each column's values; 0 and 1 for a column without any."""
    known = ~np.isnan(table)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, table, 0).sum(axis=0) / count
    spread = np.sqrt((np.where(known, table - mean, 0) ** 2).sum(axis=0) / count)
    return np.stack([mean, np.where(spread > 1e-6, spread, 1)])


def standardised(table: Floats, scales: Floats) -> Floats:
    """Standardise columns by :func:`column_scales`, clip outliers, and set missing values to 0."""
    mean, spread = scales
    return np.clip(np.nan_to_num((table - mean) / spread), -_OUTLIER, _OUTLIER)


def member_inputs(base_predictions: BasePredictions, inputs: Inputs, floor: float) -> BasePredictions:
    """Return probabilities, or their logarithms centred per member, (n, m, 3); ``floor`` bounds the latter."""
    if inputs != "logs":
        return base_predictions
    logs = np.log(np.clip(base_predictions, floor, None))
    return logs - logs.mean(axis=2, keepdims=True)


def softmax(logits: Floats) -> Probabilities:
    """Softmax over the last axis."""
    # numpy is several times slower along a last axis of three
    classes = np.ascontiguousarray(np.moveaxis(logits, -1, 0))
    weights = np.exp(classes - classes.max(axis=0))
    return np.moveaxis(weights / weights.sum(axis=0), 0, -1)
