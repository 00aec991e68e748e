"""Calibrators: the last step of a stack, fitted on out-of-fold probabilities.

Each kind is a function of log-probabilities, and perhaps of the pronoun's gender, that treats A and B alike, so all are
equivariant to swapping the names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np
from scipy.optimize import minimize

from gapstack.corpus import Gender
from gapstack.ensemble.stacker import softmax
from gapstack.errors import MemberError
from gapstack.members.member import Probabilities, State
from gapstack.members.parts.learned import LearnedArrays
from gapstack.types import Bools, Floats, Ints, Labels, Strings

_FLOOR = 1e-6
_GENDERS = (Gender.MASCULINE, Gender.FEMININE)
_ANY = len(_GENDERS)
"""Group of a pronoun of any other gender."""


class Calibrator(LearnedArrays, ABC):
    """Maps a stack's probabilities (n, 3) to calibrated ones."""

    READS_GENDERS: ClassVar[bool] = False

    def fit(self, probabilities: Probabilities, labels: Labels, genders: Strings | None = None) -> Self:
        """Learn from probabilities of rows that the stack was not fitted on, and return self.

        Parameters
        ----------
        probabilities : (n, 3) float64
        labels : (n,) int64
        genders : (n,) array of str, optional
            Values of :class:`~gapstack.corpus.Gender`, for a kind that reads them.

        Raises
        ------
        MemberError
            If it reads genders and none are given.
        """
        self._fit(probabilities, labels, self._groups(genders, len(labels)))
        return self

    def apply(self, probabilities: Probabilities, genders: Strings | None = None) -> Probabilities:
        """Give calibrated probabilities (n, 3); parameters and errors as for :meth:`fit`."""
        return self._apply(probabilities, self._groups(genders, len(probabilities)))

    def _groups(self, genders: Strings | None, count: int) -> Ints:
        """Position of each row's gender in :data:`_GENDERS`; :data:`_ANY` for others, and where none is read."""
        if not self.READS_GENDERS:
            return np.full(count, _ANY)
        if genders is None:
            raise MemberError(f"{type(self).__name__} reads the pronouns' genders, and none were given")
        return np.select([genders == gender.value for gender in _GENDERS], range(_ANY), _ANY)

    @abstractmethod
    def _fit(self, probabilities: Probabilities, labels: Labels, groups: Ints) -> None: ...

    @abstractmethod
    def _apply(self, probabilities: Probabilities, groups: Ints) -> Probabilities: ...

    def state(self) -> State:
        """Give the learned state."""
        return self._state()

    def restore(self, state: State) -> Self:
        """Inverse of :meth:`state`; returns self."""
        self._restore(state)
        return self


class Identity(Calibrator):
    """No calibration."""

    def _fit(self, probabilities: Probabilities, labels: Labels, groups: Ints) -> None: ...

    def _apply(self, probabilities: Probabilities, groups: Ints) -> Probabilities:
        return probabilities


class Scaling(Calibrator):
    """Base of temperature and vector scaling (Guo et al. 2017, section 4.2); A and B have one scale.

    The weight of a uniform distribution that is mixed in is learned too: it bounds the loss of a wrong label.
    """

    LEARNED = ("values",)
    vector: ClassVar[bool]
    """Whether NEITHER has a scale of its own, and a bias."""

    def _fit(self, probabilities: Probabilities, labels: Labels, groups: Ints) -> None:
        start = np.array([0.0, 0.0, 0.0, -5.0] if self.vector else [0.0, -5.0])
        self.values_ = self._minimum(probabilities, labels, np.ones(len(labels), dtype=bool), start, 0.0)

    def _minimum(
        self, probabilities: Probabilities, labels: Labels, rows: Bools, start: Floats, pull: float
    ) -> Floats:
        """Values with the least logloss on ``rows``, drawn towards ``start`` by a quadratic penalty in nats a row."""
        logs, truth = np.log(np.clip(probabilities[rows], _FLOOR, None)), np.eye(3)[labels[rows]]

        def loss(values: Floats) -> tuple[float, Floats]:
            unmixed, floor = softmax(self._logits(logs, values)), np.exp(values[-1])
            of_label = (unmixed * truth).sum(axis=1)
            right = (1 - floor) * of_label + floor / 3
            away = values - start
            value = -np.log(right).sum() / len(labels) + pull * (away * away).sum() / 2
            # of the sum of logloss, by each logit
            error = (unmixed - truth) * ((1 - floor) * of_label / right)[:, None]
            by_scale = (error * logs).sum(axis=0)
            names, neither = by_scale[:2].sum() * np.exp(values[0]), by_scale[2]
            slope = (
                [names, neither * np.exp(values[1]), error[:, 2].sum()]
                if self.vector
                else [names + neither * np.exp(values[0])]
            )
            slope.append(floor * ((of_label - 1 / 3) / right).sum())
            return float(value), np.array(slope) / len(labels) + pull * away

        bounds = [(-3, 3)] * (len(start) - 1) + [(-12, -2)]
        best: Floats = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
        return best

    def _apply(self, probabilities: Probabilities, groups: Ints) -> Probabilities:
        return self._scaled(np.log(np.clip(probabilities, _FLOOR, None)), self.values_)

    def _scaled(self, logs: Floats, values: Floats) -> Probabilities:
        """Probabilities of logs (n, 3), by the same values for all rows, or (n, 4) by each row's own."""
        floor = np.exp(values.T[-1])[..., None]
        mixed: Probabilities = (1 - floor) * softmax(self._logits(logs, values)) + floor / 3
        return mixed

    def _logits(self, logs: Floats, values: Floats) -> Floats:
        columns = values.T
        names, neither, bias = columns[:3] if self.vector else (columns[0], columns[0], np.zeros(()))
        scales = np.exp(np.stack([names, names, neither], axis=-1))
        logits: Floats = logs * scales + np.multiply.outer(bias, [0, 0, 1])
        return logits


class Temperature(Scaling):
    """One scale for all classes."""

    vector = False


class VectorScaling(Scaling):
    """A scale for names, and a scale and a bias for NEITHER."""

    vector = True


class ByGender(VectorScaling):
    """Vector scaling of each gender's own, drawn towards that of all rows, which any other gender has.

    Calibration within groups (Pleiss et al. 2017): a confidence of .8 shall be right in .8 of the rows of either
    gender. It cannot make A of B, so of F1 it moves only what lies between a name and NEITHER.
    """

    READS_GENDERS = True
    PULL: ClassVar[float] = 0.01
    """Of the penalty for each gender, in nats a row."""

    def _fit(self, probabilities: Probabilities, labels: Labels, groups: Ints) -> None:
        super()._fit(probabilities, labels, groups)
        own = [
            self._minimum(probabilities, labels, groups == group, self.values_, self.PULL)
            for group in range(_ANY)
        ]
        self.values_ = np.stack([*own, self.values_])

    def _apply(self, probabilities: Probabilities, groups: Ints) -> Probabilities:
        return self._scaled(np.log(np.clip(probabilities, _FLOOR, None)), self.values_[groups])


class Isotonic(Calibrator):
    """A rising step function for names and one for NEITHER (Zadrozny and Elkan 2002), rows rescaled to sum to 1.

    The result is the mean of step function and input: a step may reach 0, whose logloss has no bound.
    """

    LEARNED = ("names", "neither")

    def _fit(self, probabilities: Probabilities, labels: Labels, groups: Ints) -> None:
        from sklearn.isotonic import IsotonicRegression  # slow to import, and few calibrators need it

        truth = np.eye(3)[labels]
        names = IsotonicRegression(y_min=0, y_max=1).fit(probabilities[:, :2].ravel(), truth[:, :2].ravel())
        neither = IsotonicRegression(y_min=0, y_max=1).fit(probabilities[:, 2], truth[:, 2])
        self.names_, self.neither_ = (
            np.stack([model.X_thresholds_, model.y_thresholds_]).astype(np.float64)
            for model in (names, neither)
        )

    def _apply(self, probabilities: Probabilities, groups: Ints) -> Probabilities:
        steps = (self.names_, self.names_, self.neither_)
        stepped = np.column_stack(
            [np.interp(probabilities[:, column], *step) for column, step in enumerate(steps)]
        )
        mixed = (stepped + probabilities) / 2
        rescaled: Probabilities = mixed / mixed.sum(axis=1, keepdims=True)
        return rescaled
