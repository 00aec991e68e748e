"""Calibrators, the last step of a stack, fitted on out-of-fold probabilities; all treat A and B alike."""

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np
from scipy.optimize import minimize

from gapstack.data import Gender
from gapstack.ensemble.stacker import softmax
from gapstack.members.learned_state import Learned
from gapstack.types import Bools, Floats, Labels, Probabilities, Strings

_FLOOR = 1e-6


class Calibrator(Learned, ABC):
    """Maps a stack's probabilities (n, 3) to calibrated ones; ``genders`` (n,) are those of the rows' pronouns."""

    @abstractmethod
    def fit(self, probabilities: Probabilities, labels: Labels, genders: Strings) -> Self:
        """Learn from probabilities of rows that the stack was not fitted on, and their labels (n,); return self."""

    @abstractmethod
    def apply(self, probabilities: Probabilities, genders: Strings) -> Probabilities:
        """Return calibrated probabilities (n, 3)."""


class Identity(Calibrator):
    """No calibration."""

    def fit(self, probabilities: Probabilities, labels: Labels, genders: Strings) -> Self:
        """Return self."""
        return self

    def apply(self, probabilities: Probabilities, genders: Strings) -> Probabilities:
        """Return the probabilities."""
        return probabilities


class VectorScaling(Calibrator):
    """A scale for names, and a scale and a bias for NEITHER (Guo et al. 2017, section 4.2), mixed with uniform."""

    LEARNED = ("values",)
    VECTOR: ClassVar[bool] = True
    """False: one scale for all classes, without a bias."""
    GENDERS: ClassVar[tuple[Gender, ...]] = ()
    """Genders with values of their own."""
    PULL: ClassVar[float] = 0.01
    """Weight of the penalty for each gender, in nats per row."""

    def fit(self, probabilities: Probabilities, labels: Labels, genders: Strings) -> Self:
        """Learn the scales of all rows, then those of each gender."""
        start = np.array([0.0, 0.0, 0.0, -5.0] if self.VECTOR else [0.0, -5.0])
        common = self._minimise(probabilities, labels, start, np.ones(len(labels), dtype=bool), 0.0)
        each = [
            self._minimise(probabilities, labels, common, genders == gender.value, self.PULL)
            for gender in self.GENDERS
        ]
        self.values_ = np.stack([*each, common]) if each else common
        return self

    def apply(self, probabilities: Probabilities, genders: Strings) -> Probabilities:
        """Scale the log-probabilities."""
        values = self.values_
        if self.GENDERS:  # values of each row; the last ones are for any other gender
            known = [genders == gender.value for gender in self.GENDERS]
            values = values[np.select(known, range(len(known)), len(known))]
        logs, floor = np.log(np.clip(probabilities, _FLOOR, None)), np.exp(values.T[-1])[..., None]
        return (1 - floor) * softmax(self._logits(logs, values)) + floor / 3

    def _minimise(
        self, probabilities: Probabilities, labels: Labels, start: Floats, rows: Bools, pull: float
    ) -> Floats:
        """Values with the least logloss on ``rows``, shrunk towards ``start`` by a penalty in nats per row of all."""
        logs, truth = np.log(np.clip(probabilities[rows], _FLOOR, None)), np.eye(3)[labels[rows]]

        def loss(values: Floats) -> tuple[float, Floats]:
            unmixed, floor = softmax(self._logits(logs, values)), np.exp(values[-1])
            of_label = (unmixed * truth).sum(axis=1)
            right = (1 - floor) * of_label + floor / 3
            away = values - start
            value = -np.log(right).sum() / len(labels) + pull * (away * away).sum() / 2
            error = (unmixed - truth) * ((1 - floor) * of_label / right)[:, None]  # gradient by logits
            by_scale = (error * logs).sum(axis=0)
            names, neither = by_scale[:2].sum() * np.exp(values[0]), by_scale[2]
            if self.VECTOR:
                slope = [names, neither * np.exp(values[1]), error[:, 2].sum()]
            else:
                slope = [names + neither * np.exp(values[0])]
            slope.append(floor * ((of_label - 1 / 3) / right).sum())
            return float(value), np.array(slope) / len(labels) + pull * away

        bounds = [(-3, 3)] * (len(start) - 1) + [(-12, -2)]
        return minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x

    def _logits(self, logs: Floats, values: Floats) -> Floats:
        columns = values.T
        names, neither, bias = columns[:3] if self.VECTOR else (columns[0], columns[0], np.zeros(()))
        scales = np.exp(np.stack([names, names, neither], axis=-1))
        return logs * scales + np.multiply.outer(bias, [0, 0, 1])


class Temperature(VectorScaling):
    """One scale for all classes."""

    VECTOR = False


class ByGender(VectorScaling):
    """Vector scaling for each gender (Pleiss et al. 2017), shrunk towards that of all rows, which other genders use."""

    GENDERS = (Gender.MASCULINE, Gender.FEMININE)


class Isotonic(Calibrator):
    """Half a rising step function for names and one for NEITHER (Zadrozny and Elkan 2002), half the input."""

    LEARNED = ("names", "neither")

    def fit(self, probabilities: Probabilities, labels: Labels, genders: Strings) -> Self:
        """Fit both step functions."""
        from sklearn.isotonic import IsotonicRegression  # slow to import, not needed for predictions

        truth = np.eye(3)[labels]
        self.names_, self.neither_ = (
            np.stack([model.X_thresholds_, model.y_thresholds_]).astype(np.float64)
            for model in (
                IsotonicRegression(y_min=0, y_max=1).fit(
                    probabilities[:, columns].ravel(), truth[:, columns].ravel()
                )
                for columns in (slice(0, 2), slice(2, 3))
            )
        )
        return self

    def apply(self, probabilities: Probabilities, genders: Strings) -> Probabilities:
        """Average with the step functions and rescale."""
        steps = (self.names_, self.names_, self.neither_)
        stepped = np.column_stack([np.interp(probabilities[:, at], *step) for at, step in enumerate(steps)])
        mixed = (stepped + probabilities) / 2
        return mixed / mixed.sum(axis=1, keepdims=True)
