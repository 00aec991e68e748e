"""Logistic regression that is equivariant to swapping A and B."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from gapstack.corpus import Label
from gapstack.members.member import State
from gapstack.rowwise import rowwise
from gapstack.types import Floats

_SWAPPED = [1, 0, 2]
"""Of A, B and NEITHER, which takes each one's place when A and B are swapped."""
_SMOOTHING = 0.1
"""Weight of the average row that each class gets beside its own, so that a class without rows is possible."""
_PREFIX = "calibration."


class SwapEquivariantLogistic:
    """Standardised features to three classes; swapping A and B in the features swaps their probabilities.

    Each row is learned in both orders with half the weight, and the weights are averaged with their own mirror image,
    from which they differ by the solver's tolerance only.

    Parameters
    ----------
    mirror : sequence of int
        ``mirror[j]`` is the feature that takes the place of j when A and B are swapped.
    signs : sequence of float, optional
        Factors (1 or -1) of the features then; all 1 by default.
    strength : float
        Inverse of the L2 penalty, scikit-learn's ``C``.
    """

    weights: Floats
    bias: Floats

    def __init__(self, mirror: Sequence[int], signs: Sequence[float] | None = None, strength: float = 1.0):
        self._mirror = list(mirror)
        self._signs = np.ones(len(mirror)) if signs is None else np.asarray(signs, dtype=np.float64)
        self._strength = strength

    def fit(self, features: Floats, labels: NDArray[np.int64], weights: Floats | None = None) -> Self:
        """Learn from features (n, k), classes (n,) and weights of the rows (n,), all 1 by default."""
        weights = np.ones(len(labels)) if weights is None else weights
        both = np.concatenate([features, self.mirrored(features)])
        classes = np.concatenate([labels, np.array(_SWAPPED)[labels], np.arange(len(Label))])
        scaler = StandardScaler().fit(both)
        average_rows = np.zeros((len(Label), features.shape[1]))
        model = LogisticRegression(C=self._strength, max_iter=1000).fit(
            np.concatenate([scaler.transform(both), average_rows]),
            classes,
            np.concatenate([weights / 2, weights / 2, np.full(len(Label), _SMOOTHING)]),
        )
        # W (x - mean) / scale + b as one matrix and one vector
        weights = model.coef_ / scaler.scale_
        bias = model.intercept_ - weights @ scaler.mean_
        self.weights = (weights + self.mirrored(weights)[_SWAPPED]) / 2
        self.bias = (bias + bias[_SWAPPED]) / 2
        return self

    def mirrored(self, features: Floats) -> Floats:
        """Features (n, k) with A and B swapped."""
        return features[:, self._mirror] * self._signs

    def predict_proba(self, features: Floats) -> Floats:
        """Give (n, 3) probabilities."""

        def probabilities(rows: Floats) -> Floats:
            return np.asarray(softmax(rows @ self.weights.T + self.bias, axis=1))

        return rowwise(probabilities, features)

    def added_to(self, state: State) -> State:
        """Give a member's state with the regression's weights beside its own arrays."""
        own = {f"{_PREFIX}weights": self.weights, f"{_PREFIX}bias": self.bias}
        return State({**state.arrays, **own}, state.texts, state.values)

    def taken_from(self, state: State) -> State:
        """Restore the weights that :meth:`added_to` added, if any; give the member's own state without them."""
        arrays = dict(state.arrays)
        if f"{_PREFIX}bias" in arrays:
            self.weights, self.bias = arrays.pop(f"{_PREFIX}weights"), arrays.pop(f"{_PREFIX}bias")
        return State(arrays, state.texts, state.values)
