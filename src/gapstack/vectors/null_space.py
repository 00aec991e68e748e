"""Iterative null-space projection: what is left of vectors that no linear classifier tells two classes by.

Ravfogel, Elazar, Gonen, Twiton & Goldberg 2020, *Null It Out*, section 4 and algorithm 1.

The paper takes a fixed number of directions away, whatever they tell. Here iterations end once a fresh classifier
does not tell rows better than chance that it did not learn from: a space of few dimensions would otherwise lose all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

_HELD_OUT = 0.5
Matrix = NDArray[np.floating]


class NullSpace(NamedTuple):
    """A projection (d, d), how many directions it takes away, and the accuracy that is left on held-out rows."""

    projection: Matrix
    removed: int
    accuracy: float


def null_space(
    features: Matrix,
    labels: NDArray[np.bool_],
    *,
    iterations: int = 35,
    tolerance: float = 0.01,
    seed: int = 0,
) -> NullSpace:
    """Take away linear directions by which two classes are told apart, until none is left.

    Parameters
    ----------
    features : (n, d) array
    labels : (n,) array of bool
    iterations : int
        At most; never so many that nothing is left.
    tolerance : float
        How far above the larger class's share the accuracy on held-out rows may stay.
    seed : int
        Of the half of the rows that is held out, and the classifiers.
    """
    learn, ask = train_test_split(
        np.arange(len(features)), test_size=_HELD_OUT, stratify=labels, random_state=seed
    )
    dimensions = features.shape[1]
    chance = max(float(labels[ask].mean()), 1 - float(labels[ask].mean()))
    basis = np.zeros((0, dimensions))
    projected = np.asarray(features, dtype=np.float64)
    while True:
        classifier = LinearSVC(dual=False, class_weight="balanced", random_state=seed)
        classifier.fit(projected[learn], labels[learn])
        # not cross-validated: folds of rows whose means have been made alike are told worse than by chance
        accuracy = float(classifier.score(projected[ask], labels[ask]))
        if accuracy <= chance + tolerance or len(basis) >= min(iterations, dimensions - 1):
            break
        # the new direction lies in the rest space already but for rounding, which would add up
        direction = classifier.coef_[0] - basis.T @ (basis @ classifier.coef_[0])
        basis = np.vstack([basis, direction / np.linalg.norm(direction)])
        projected = features - (features @ basis.T) @ basis
    return NullSpace(np.eye(dimensions) - basis.T @ basis, len(basis), accuracy)
