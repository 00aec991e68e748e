"""What all stackers share: they learn on each row in both orders, so none can prefer a name for being called A."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from gapstack.errors import MemberError, NotFittedError
from gapstack.features.blocks import Features
from gapstack.members.member import Probabilities, State
from gapstack.rowwise import rowwise
from gapstack.settings import check_settings
from gapstack.signatures import Configured

Opinions = NDArray[np.float64]
"""float64 (n, m, 3): rows, members, columns A, B, NEITHER."""
Labels = NDArray[np.int64]
Table = NDArray[np.float64]
"""Evidence as float64 (n, d): features of A, of B, and those of the row; NaN where there is no value."""

SWAPPED = [1, 0, 2]
"""Columns after A and B have exchanged their names."""


class Stacker(Configured, BaseEstimator, ABC):
    """An estimator over opinions, and over evidence where :attr:`READS_EVIDENCE`; equivariant to swapping A and B."""

    READS_EVIDENCE: ClassVar[bool] = False
    """Whether it looks at hand-made features of the rows, beside what the members say of them."""

    def fit(self, opinions: Opinions, labels: Labels, evidence: Features | None = None) -> Self:
        """Learn from opinions on rows with known labels (0 A, 1 B, 2 NEITHER) and return self.

        Raises
        ------
        MemberError
            If it reads evidence and is given none.
        """
        check_settings(self)
        tables = self._tables(evidence)
        mirrored = np.concatenate([opinions, opinions[:, :, SWAPPED]])
        table = None if tables is None else np.concatenate(tables)
        self._fit(mirrored, np.concatenate([labels, np.array(SWAPPED)[labels]]), table)
        self.members_ = opinions.shape[1]
        return self

    def predict_proba(self, opinions: Opinions, evidence: Features | None = None) -> Probabilities:
        """Give (n, 3) probabilities.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        MemberError
            If the number of members is not that of ``fit``, or it reads evidence and is given none.
        """
        if not hasattr(self, "members_"):
            raise NotFittedError(f"{type(self).__name__} is not fitted; call fit(opinions, labels) first")
        if opinions.shape[1] != self.members_:
            raise MemberError(
                f"stacker was fitted on {self.members_} members and is asked about {opinions.shape[1]}"
            )
        here, there = self._tables(evidence) or (None, None)
        swapped = rowwise(self._predict, opinions[:, :, SWAPPED], there)[:, SWAPPED]
        both = rowwise(self._predict, opinions, here) + swapped
        answers: Probabilities = both / both.sum(axis=1, keepdims=True)
        return answers

    def _tables(self, evidence: Features | None) -> tuple[Table, Table] | None:
        """Evidence in both orders; None for a stacker that reads none."""
        if not self.READS_EVIDENCE:
            return None
        if evidence is None:
            raise MemberError(f"{type(self).__name__} reads evidence of the rows, and none was given")
        return _table(evidence), _table(evidence.swapped())

    def state(self) -> State:
        """Give what was learned."""
        state = self._state()
        state.values["members"] = self.members_
        return state

    def restore(self, state: State) -> Self:
        """Take back what :meth:`state` gave and return self."""
        self._restore(state)
        self.members_ = int(state.values["members"])
        return self

    @abstractmethod
    def _fit(self, opinions: Opinions, labels: Labels, evidence: Table | None) -> None: ...

    @abstractmethod
    def _predict(self, opinions: Opinions, evidence: Table | None) -> Probabilities: ...

    @abstractmethod
    def _state(self) -> State: ...

    @abstractmethod
    def _restore(self, state: State) -> None: ...


def _table(evidence: Features) -> Table:
    a, b = evidence.candidates[:, 0], evidence.candidates[:, 1]
    return np.concatenate([a, b, evidence.shared], axis=1)


def log_opinions(opinions: Opinions, floor: float) -> Opinions:
    """Log-probabilities (n, m, 3), centred per member: a product of experts is linear in them.

    ``floor`` is the least probability that a member is taken to mean, in nats' interest: nobody is that sure.
    """
    logs = np.log(np.clip(opinions, floor, None))
    centred: Opinions = logs - logs.mean(axis=2, keepdims=True)
    return centred


def softmax(logits: NDArray[np.float64]) -> Probabilities:
    """Probabilities of logits, over the last axis."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    answers: Probabilities = weights / weights.sum(axis=-1, keepdims=True)
    return answers
