"""A logistic regression that is equivariant to swapping A and B."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from scipy.special import softmax

from gapstack.data import Label
from gapstack.members.store import State
from gapstack.types import Floats, Ints

_SWAPPED = [1, 0, 2]  # columns A, B and NEITHER after A and B are swapped
_SMOOTHING = 0.1  # weight of an average row added to each class, so that a class without rows stays possible
_PREFIX = "calibration."


class SwapEquivariantLogistic:
    """Standardised features to three classes; swapping A and B in the features swaps their probabilities.

    Each row is learned in both orders, and the weights are averaged with their own mirror image. ``mirror[j]`` is the
    feature that replaces j, times ``signs[j]``, when A and B are swapped; ``strength`` is scikit-learn's ``C``.
    """

    weights: Floats
    bias: Floats

    def __init__(self, mirror: Sequence[int], signs: Sequence[float] | None = None, strength: float = 1.0):
        self._mirror = list(mirror)
        self._signs = np.ones(len(mirror)) if signs is None else np.asarray(signs, dtype=np.float64)
        self._strength = strength

    def fit(self, features: Floats, labels: Ints, weights: Floats | None = None) -> Self:
        """Learn from features (n, k), classes (n,) and weights of the rows (n,), all 1 by default."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

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
        """Probabilities (n, 3) for features (n, k)."""
        return softmax(features @ self.weights.T + self.bias, axis=1)

    def added_to(self, state: State) -> State:
        """Return a member's state with the regression's weights added."""
        own = {f"{_PREFIX}weights": self.weights, f"{_PREFIX}bias": self.bias}
        return State(state.arrays | own, state.texts, state.values)

    def taken_from(self, state: State) -> State:
        """Restore the weights that :meth:`added_to` added, if any; return the member's own state without them."""
        arrays = dict(state.arrays)
        if f"{_PREFIX}bias" in arrays:
            self.weights, self.bias = arrays.pop(f"{_PREFIX}weights"), arrays.pop(f"{_PREFIX}bias")
        return State(arrays, state.texts, state.values)
