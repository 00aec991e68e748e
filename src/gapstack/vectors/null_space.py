"""Iterative null-space projection: removes the directions by which a linear classifier separates two classes.

Ravfogel, Elazar, Gonen, Twiton & Goldberg 2020, *Null It Out*, section 4 and algorithm 1.

The paper removes a fixed number of directions. Here iterations stop once a new classifier is no better than chance on
held-out rows: a space of few dimensions would otherwise lose everything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from gapstack.types import Matrix

_HELD_OUT = 0.5


class NullSpace(NamedTuple):
    """A projection (d, d), the number of directions that it removes, and the remaining accuracy on held-out rows."""

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
    """Remove directions that linearly separate two classes, until none is left.

    Parameters
    ----------
    features : (n, d) array
    labels : (n,) array of bool
    iterations : int
        Maximum number; at least one dimension always remains.
    tolerance : float
        Stop once the accuracy on held-out rows is at most this above the larger class's share.
    seed : int
        Of the half of the rows that is held out, and of the classifiers.
    """
    train, test = train_test_split(
        np.arange(len(features)), test_size=_HELD_OUT, stratify=labels, random_state=seed
    )
    dimensions = features.shape[1]
    majority = max(float(labels[test].mean()), 1 - float(labels[test].mean()))
    basis = np.zeros((0, dimensions))
    projected = np.asarray(features, dtype=np.float64)
    while True:
        classifier = LinearSVC(dual=False, class_weight="balanced", random_state=seed)
        classifier.fit(projected[train], labels[train])
        # not cross-validated: once class means are equal, accuracy across folds falls below chance
        accuracy = float(classifier.score(projected[test], labels[test]))
        if accuracy <= majority + tolerance or len(basis) >= min(iterations, dimensions - 1):
            break
        # already orthogonal to the basis up to rounding, which would accumulate
        direction = classifier.coef_[0] - basis.T @ (basis @ classifier.coef_[0])
        basis = np.vstack([basis, direction / np.linalg.norm(direction)])
        projected = features - (features @ basis.T) @ basis
    return NullSpace(np.eye(dimensions) - basis.T @ basis, len(basis), accuracy)
