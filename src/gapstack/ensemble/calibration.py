"""The last step of a stack: probabilities made to mean what they say, from rows the stack was not fitted on.

Each kind is fitted on logits up to a constant, that is on log-probabilities, in both orders of A and B, so all are
equivariant to swapping the names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression

from gapstack.ensemble.stacker import SWAPPED, Labels, softmax
from gapstack.members.member import Probabilities, State

_FLOOR = 1e-6


class Calibrator(ABC):
    """Maps a stack's probabilities (n, 3) to calibrated ones."""

    def fit(self, answers: Probabilities, labels: Labels) -> Self:
        """Learn from answers to rows that whoever gave them was not fitted on."""
        self._fit(
            np.concatenate([answers, answers[:, SWAPPED]]),
            np.concatenate([labels, np.array(SWAPPED)[labels]]),
        )
        return self

    @abstractmethod
    def _fit(self, answers: Probabilities, labels: Labels) -> None: ...

    @abstractmethod
    def apply(self, answers: Probabilities) -> Probabilities:
        """Give calibrated probabilities (n, 3)."""

    @abstractmethod
    def state(self) -> State:
        """Give what was learned."""

    @abstractmethod
    def restore(self, state: State) -> Self:
        """Take back what :meth:`state` gave and return self."""


class Identity(Calibrator):
    """Leaves answers as they are."""

    def _fit(self, answers: Probabilities, labels: Labels) -> None: ...

    def apply(self, answers: Probabilities) -> Probabilities:
        """Give the answers back."""
        return answers

    def state(self) -> State:
        """Give nothing."""
        return State()

    def restore(self, state: State) -> Self:
        """Take nothing."""
        return self


class Scaling(Calibrator):
    """Logits times a scale, plus a bias: what temperature and vector scaling share.

    Guo et al. 2017, section 4.2. A and B share theirs. A floor, the weight of a uniform distribution mixed in, is
    learned with them: it bounds what one wrong label can cost.
    """

    vector: ClassVar[bool]
    """Whether NEITHER has a scale of its own, and a bias."""

    def _fit(self, answers: Probabilities, labels: Labels) -> None:
        logs = np.log(np.clip(answers, _FLOOR, None))

        def loss(values: NDArray[np.float64]) -> float:
            return float(-np.log(self._scaled(logs, values)[np.arange(len(labels)), labels]).mean())

        start = np.array([0.0, 0.0, 0.0, -5.0] if self.vector else [0.0, -5.0])
        self.values_ = minimize(
            loss, start, method="L-BFGS-B", bounds=[(-3, 3)] * (len(start) - 1) + [(-12, -2)]
        ).x

    def apply(self, answers: Probabilities) -> Probabilities:
        """Give scaled probabilities."""
        return self._scaled(np.log(np.clip(answers, _FLOOR, None)), self.values_)

    def _scaled(self, logs: NDArray[np.float64], values: NDArray[np.float64]) -> Probabilities:
        names, neither, bias = (
            (values[0], values[1], values[2]) if self.vector else (values[0], values[0], 0.0)
        )
        logits = logs * np.exp([names, names, neither]) + np.array([0.0, 0.0, bias])
        floor = np.exp(values[-1])
        mixed: Probabilities = (1 - floor) * softmax(logits) + floor / 3
        return mixed

    def state(self) -> State:
        """Give scales, bias and floor."""
        return State(arrays={"values": self.values_})

    def restore(self, state: State) -> Self:
        """Take them back."""
        self.values_ = state.arrays["values"]
        return self


class Temperature(Scaling):
    """One scale for all classes."""

    vector = False


class VectorScaling(Scaling):
    """A scale for names, and a scale and a bias for NEITHER."""

    vector = True


class Isotonic(Calibrator):
    """A rising step function for names and one for NEITHER (Zadrozny and Elkan 2002), rows rescaled to sum to 1.

    Steps are mixed with the answer itself, half and half: pooled rows may all be right, and a probability of 0 for
    the rest would cost without bound.
    """

    def _fit(self, answers: Probabilities, labels: Labels) -> None:
        truth = np.eye(3)[labels]
        names = IsotonicRegression(y_min=0, y_max=1).fit(answers[:, :2].ravel(), truth[:, :2].ravel())
        neither = IsotonicRegression(y_min=0, y_max=1).fit(answers[:, 2], truth[:, 2])
        self.steps_ = [
            np.stack([model.X_thresholds_, model.y_thresholds_]).astype(np.float64)
            for model in (names, neither)
        ]

    def apply(self, answers: Probabilities) -> Probabilities:
        """Give recalibrated probabilities."""
        names, neither = self.steps_
        stepped = np.column_stack(
            [np.interp(answers[:, column], *steps) for column, steps in enumerate((names, names, neither))]
        )
        mixed = (stepped + answers) / 2
        rescaled: Probabilities = mixed / mixed.sum(axis=1, keepdims=True)
        return rescaled

    def state(self) -> State:
        """Give the steps."""
        return State(arrays={"names": self.steps_[0], "neither": self.steps_[1]})

    def restore(self, state: State) -> Self:
        """Take them back."""
        self.steps_ = [state.arrays["names"], state.arrays["neither"]]
        return self
