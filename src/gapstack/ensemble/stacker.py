"""The base of all stackers: each row is learned in both orders, so that swapping A and B swaps the probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from gapstack.errors import MemberError, NotFittedError
from gapstack.features.blocks import Features
from gapstack.kinds import Inputs
from gapstack.members.member import Probabilities, State
from gapstack.rowwise import rowwise
from gapstack.settings import check_settings
from gapstack.signatures import Configured
from gapstack.types import BasePredictions, Labels

Table = NDArray[np.float64]
"""Evidence as float64 (n, d): features of A, of B, and those of the row; NaN where there is no value."""

_MOST = 5.0  # standard deviations: beyond, evidence is an outlier and says no more

EVIDENCE = ("surface", "cues")
"""Blocks of features that stackers which read evidence are shown."""

SWAPPED = [1, 0, 2]
"""Columns after A and B have exchanged their names."""


class Stacker(Configured, BaseEstimator, ABC):
    """An estimator over base predictions and, where :attr:`READS_EVIDENCE`, hand-made features of the rows."""

    READS_EVIDENCE: ClassVar[bool] = False
    LEARNS: ClassVar[bool] = True
    """False: nothing is learned, so that it may pool the members of several folds at once, one fold after the other."""

    def fit(
        self, base_predictions: BasePredictions, labels: Labels, evidence: Features | None = None
    ) -> Self:
        """Learn from base predictions on rows with known labels (0 A, 1 B, 2 NEITHER) and return self.

        Raises
        ------
        MemberError
            If it reads evidence and there is none.
        """
        check_settings(self)
        tables = self._tables(evidence)
        mirrored = np.concatenate([base_predictions, base_predictions[:, :, SWAPPED]])
        table = None if tables is None else np.concatenate(tables)
        self._fit(mirrored, np.concatenate([labels, np.array(SWAPPED)[labels]]), table)
        self.members_ = base_predictions.shape[1]
        return self

    def predict_proba(
        self, base_predictions: BasePredictions, evidence: Features | None = None
    ) -> Probabilities:
        """Give (n, 3) probabilities.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        MemberError
            If the number of members is not that of ``fit``, or it reads evidence and there is none.
        """
        if not hasattr(self, "members_"):
            raise NotFittedError(
                f"{type(self).__name__} is not fitted; call fit(base_predictions, labels) first"
            )
        given = base_predictions.shape[1]
        if given % self.members_ or (self.LEARNS and given != self.members_):
            raise MemberError(
                f"stacker was fitted on {self.members_} members; base predictions are of {base_predictions.shape[1]}"
            )
        table, swapped = self._tables(evidence) or (None, None)
        both = rowwise(self._predict, base_predictions, table)
        both = both + rowwise(self._predict, base_predictions[:, :, SWAPPED], swapped)[:, SWAPPED]
        probabilities: Probabilities = both / both.sum(axis=1, keepdims=True)
        return probabilities

    def _tables(self, evidence: Features | None) -> tuple[Table, Table] | None:
        """Evidence in both orders; None for a stacker that reads none."""
        if not self.READS_EVIDENCE:
            return None
        if evidence is None:
            raise MemberError(f"{type(self).__name__} reads evidence of the rows, and none was given")
        return self._table(evidence), self._table(evidence.swapped())

    def _table(self, evidence: Features) -> Table:
        """What is read of the evidence: all of it, unless a stacker reads less."""
        a, b = evidence.candidates[:, 0], evidence.candidates[:, 1]
        return np.concatenate([a, b, evidence.shared], axis=1)

    def state(self) -> State:
        """Give the learned state."""
        state = self._state()
        state.values["members"] = self.members_
        return state

    def restore(self, state: State) -> Self:
        """Inverse of :meth:`state`; returns self."""
        self._restore(state)
        self.members_ = int(state.values["members"])
        return self

    @abstractmethod
    def _fit(self, base: BasePredictions, labels: Labels, evidence: Table | None) -> None: ...

    @abstractmethod
    def _predict(self, base: BasePredictions, evidence: Table | None) -> Probabilities: ...

    @abstractmethod
    def _state(self) -> State: ...

    @abstractmethod
    def _restore(self, state: State) -> None: ...


def scales_of(table: Table) -> Table:
    """Mean and spread (2, d) of each column where it has a value; a column without any has 0 and 1."""
    known = ~np.isnan(table)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, table, 0).sum(axis=0) / count
    spread = np.sqrt((np.where(known, table - mean, 0) ** 2).sum(axis=0) / count)
    return np.stack([mean, np.where(spread > 1e-6, spread, 1)])


def standardised(table: Table, scales: Table) -> Table:
    """Columns less their mean, in units of their spread, within :data:`_MOST`; 0 where there is no value."""
    mean, spread = scales
    columns: Table = np.clip(np.nan_to_num((table - mean) / spread), -_MOST, _MOST)
    return columns


def centred_logs(base_predictions: BasePredictions, floor: float) -> BasePredictions:
    """Log-probabilities (n, m, 3), centred per member, of which a product of experts is a linear function.

    Probabilities are clipped at ``floor`` first, which bounds the influence of an overconfident member.
    """
    logs = np.log(np.clip(base_predictions, floor, None))
    centred: BasePredictions = logs - logs.mean(axis=2, keepdims=True)
    return centred


def member_inputs(base_predictions: BasePredictions, inputs: Inputs, floor: float) -> BasePredictions:
    """What a stacker reads of its members, (n, m, 3): :func:`centred_logs`, or the probabilities themselves."""
    return centred_logs(base_predictions, floor) if inputs == "logs" else base_predictions


def softmax(logits: NDArray[np.float64]) -> Probabilities:
    """Probabilities of logits, over the last axis."""
    # a row of three is short for numpy: class by class it is several times as quick
    classes = np.ascontiguousarray(np.moveaxis(logits, -1, 0))
    weights = np.exp(classes - classes.max(axis=0))
    probabilities: Probabilities = np.moveaxis(weights / weights.sum(axis=0), 0, -1)
    return probabilities
