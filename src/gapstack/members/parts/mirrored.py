"""Logistic regression that cannot tell A from B except by what it is shown of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from gapstack.corpus import Label
from gapstack.rowwise import rowwise

Floats = NDArray[np.float64]
_CLASSES = (1, 0, 2)
"""Of A, B and NEITHER, where each goes when A and B are exchanged."""
_UNSEEN = 0.1
"""Weight of the average row that each class is given beside its own, so that none is impossible for want of rows."""


class MirroredLogistic:
    """Standardised features to three classes; exchanging A and B in the features exchanges the answers.

    It is fitted on every row and its mirror image, each with half the weight, and its weights are then the mean of
    the solution and the solution's own mirror image, which differ by the solver's tolerance only.

    Parameters
    ----------
    mirror : sequence of int
        ``mirror[j]`` is the feature that stands at j when A and B are exchanged.
    signs : sequence of float, optional
        Factors (1 or -1) that it then gets; all 1 by default.
    strength : float
        Inverse of the L2 penalty, scikit-learn's ``C``.
    """

    def __init__(self, mirror: Sequence[int], signs: Sequence[float] | None = None, strength: float = 1.0):
        self._mirror = list(mirror)
        self._signs = np.ones(len(mirror)) if signs is None else np.asarray(signs, dtype=np.float64)
        self._strength = strength

    def fit(self, features: Floats, labels: NDArray[np.int64]) -> Self:
        """Learn from features (n, k) and classes (n,)."""
        both = np.concatenate([features, self.mirrored(features)])
        answers = np.concatenate([labels, np.array(_CLASSES)[labels], np.arange(len(Label))])
        scaler = StandardScaler().fit(both)
        average_rows = np.zeros((len(Label), features.shape[1]))
        model = LogisticRegression(C=self._strength, max_iter=1000).fit(
            np.concatenate([scaler.transform(both), average_rows]),
            answers,
            np.repeat([0.5, _UNSEEN], [len(both), len(Label)]),
        )
        # W (x - mean) / scale + b as one matrix and one vector
        weights = model.coef_ / scaler.scale_
        bias = model.intercept_ - weights @ scaler.mean_
        self.arrays = {
            "weights": (weights + self.mirrored(weights)[list(_CLASSES)]) / 2,
            "bias": (bias + bias[list(_CLASSES)]) / 2,
        }
        return self

    def mirrored(self, features: Floats) -> Floats:
        """Features (n, k) as they are when A and B are exchanged."""
        return features[:, self._mirror] * self._signs

    def predict_proba(self, features: Floats) -> Floats:
        """Give (n, 3) probabilities."""

        def answer(rows: Floats) -> Floats:
            return np.asarray(softmax(rows @ self.arrays["weights"].T + self.arrays["bias"], axis=1))

        return rowwise(answer, features)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Take back what an earlier fit left in ``arrays``."""
        self.arrays = dict(arrays)
        return self
