"""A fitted support vector machine as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapstack.members.parts.learned import ArrayFields
from gapstack.types import Floats


@dataclass(frozen=True, slots=True)
class KernelMachine(ArrayFields):
    """One machine with a radial kernel for each pair of c classes.

    Attributes
    ----------
    vectors : (s, K) float64
        Support vectors, those of the first class first.
    counts : (c,) int64
        Support vectors of each class.
    dual : (c - 1, s) float64
        Coefficients of a class's support vectors against each other class in turn.
    intercept : (pairs,) float64
        Of the pairs (0, 1), (0, 2), ..., (1, 2), ...
    gamma : () float64
        The kernel is exp(-gamma * squared distance).
    """

    PREFIX = "machine_"

    vectors: Floats
    counts: NDArray[np.int64]
    dual: Floats
    intercept: Floats
    gamma: Floats

    @classmethod
    def of(cls, fitted: Any) -> KernelMachine:
        """Take the arrays out of a fitted ``sklearn.svm.SVC`` whose ``gamma`` is a number."""
        return cls(
            np.asarray(fitted.support_vectors_, dtype=np.float64),
            np.asarray(fitted.n_support_, dtype=np.int64),
            np.asarray(fitted.dual_coef_, dtype=np.float64),
            np.asarray(fitted.intercept_, dtype=np.float64),
            np.array(fitted.gamma, dtype=np.float64),
        )

    def decide(self, rows: Floats) -> Floats:
        """Give the decision value of each pair, (n, pairs) for (n, K): above 0 for the pair's first class."""
        from sklearn.metrics.pairwise import rbf_kernel

        # (n, s)
        kernel = rbf_kernel(rows, self.vectors, gamma=float(self.gamma))
        ends = self.counts.cumsum()
        own = [slice(end - count, end) for count, end in zip(self.counts, ends, strict=True)]
        values = [
            # a class has no row against itself: those after it move up by one
            kernel[:, own[i]] @ self.dual[j - 1, own[i]] + kernel[:, own[j]] @ self.dual[i, own[j]]
            for i, j in combinations(range(len(own)), 2)
        ]
        return np.asarray(np.stack(values, axis=1) + self.intercept)
