"""Calibrators: the last step of a stack, fitted on out-of-fold probabilities in both orders of A and B.

Each kind is a function of log-probabilities that treats A and B alike, so all are equivariant to swapping the names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression

from gapstack.ensemble.stacker import SWAPPED, softmax
from gapstack.members.member import Probabilities, State
from gapstack.members.parts.learned import LearnedArrays
from gapstack.types import Labels

_FLOOR = 1e-6


class Calibrator(LearnedArrays, ABC):
    """Maps a stack's probabilities (n, 3) to calibrated ones."""

    def fit(self, probabilities: Probabilities, labels: Labels) -> Self:
        """Learn from probabilities of rows that the stack was not fitted on, and return self."""
        self._fit(
            np.concatenate([probabilities, probabilities[:, SWAPPED]]),
            np.concatenate([labels, np.array(SWAPPED)[labels]]),
        )
        return self

    @abstractmethod
    def _fit(self, probabilities: Probabilities, labels: Labels) -> None: ...

    @abstractmethod
    def apply(self, probabilities: Probabilities) -> Probabilities:
        """Give calibrated probabilities (n, 3)."""

    def state(self) -> State:
        """Give the learned state."""
        return self._state()

    def restore(self, state: State) -> Self:
        """Inverse of :meth:`state`; returns self."""
        self._restore(state)
        return self


class Identity(Calibrator):
    """No calibration."""

    def _fit(self, probabilities: Probabilities, labels: Labels) -> None: ...

    def apply(self, probabilities: Probabilities) -> Probabilities:
        """Give the probabilities unchanged."""
        return probabilities


class Scaling(Calibrator):
    """Base of temperature and vector scaling (Guo et al. 2017, section 4.2); A and B have one scale.

    The weight of a uniform distribution that is mixed in is learned too: it bounds the loss of a wrong label.
    """

    LEARNED = ("values",)
    vector: ClassVar[bool]
    """Whether NEITHER has a scale of its own, and a bias."""

    def _fit(self, probabilities: Probabilities, labels: Labels) -> None:
        logs = np.log(np.clip(probabilities, _FLOOR, None))

        def loss(values: NDArray[np.float64]) -> float:
            return float(-np.log(self._scaled(logs, values)[np.arange(len(labels)), labels]).mean())

        start = np.array([0.0, 0.0, 0.0, -5.0] if self.vector else [0.0, -5.0])
        self.values_ = minimize(
            loss, start, method="L-BFGS-B", bounds=[(-3, 3)] * (len(start) - 1) + [(-12, -2)]
        ).x

    def apply(self, probabilities: Probabilities) -> Probabilities:
        """Give calibrated probabilities."""
        return self._scaled(np.log(np.clip(probabilities, _FLOOR, None)), self.values_)

    def _scaled(self, logs: NDArray[np.float64], values: NDArray[np.float64]) -> Probabilities:
        names, neither, bias = (
            (values[0], values[1], values[2]) if self.vector else (values[0], values[0], 0.0)
        )
        logits = logs * np.exp([names, names, neither]) + np.array([0.0, 0.0, bias])
        floor = np.exp(values[-1])
        mixed: Probabilities = (1 - floor) * softmax(logits) + floor / 3
        return mixed


class Temperature(Scaling):
    """One scale for all classes."""

    vector = False


class VectorScaling(Scaling):
    """A scale for names, and a scale and a bias for NEITHER."""

    vector = True


class Isotonic(Calibrator):
    """A rising step function for names and one for NEITHER (Zadrozny and Elkan 2002), rows rescaled to sum to 1.

    The result is the mean of step function and input: a step may reach 0, whose logloss has no bound.
    """

    LEARNED = ("names", "neither")

    def _fit(self, probabilities: Probabilities, labels: Labels) -> None:
        truth = np.eye(3)[labels]
        names = IsotonicRegression(y_min=0, y_max=1).fit(probabilities[:, :2].ravel(), truth[:, :2].ravel())
        neither = IsotonicRegression(y_min=0, y_max=1).fit(probabilities[:, 2], truth[:, 2])
        self.names_, self.neither_ = (
            np.stack([model.X_thresholds_, model.y_thresholds_]).astype(np.float64)
            for model in (names, neither)
        )

    def apply(self, probabilities: Probabilities) -> Probabilities:
        """Give calibrated probabilities."""
        steps = (self.names_, self.names_, self.neither_)
        stepped = np.column_stack(
            [np.interp(probabilities[:, column], *step) for column, step in enumerate(steps)]
        )
        mixed = (stepped + probabilities) / 2
        rescaled: Probabilities = mixed / mixed.sum(axis=1, keepdims=True)
        return rescaled
