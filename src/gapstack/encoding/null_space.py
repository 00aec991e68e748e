"""Iterative null-space projection: vectors from which no linear classifier can tell two classes apart."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapstack.types import Matrix


class NullSpace(NamedTuple):
    """A projection (d, d), the number of directions that it removes, and the remaining accuracy on held-out rows."""

    projection: Matrix
    removed: int
    accuracy: float


def null_space(features: Matrix, labels: NDArray[np.bool_], *, seed: int = 0) -> NullSpace:
    """Remove up to 35 directions that separate two classes, until a classifier finds none (Ravfogel et al. 2020)."""
    from sklearn.model_selection import train_test_split
    from sklearn.svm import LinearSVC

    train, test = train_test_split(
        np.arange(len(features)), test_size=0.5, stratify=labels, random_state=seed
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
        if accuracy <= majority + 0.01 or len(basis) >= min(35, dimensions - 1):
            break
        # already orthogonal to the basis up to rounding, which would accumulate
        direction = classifier.coef_[0] - basis.T @ (basis @ classifier.coef_[0])
        basis = np.vstack([basis, direction / np.linalg.norm(direction)])
        projected = features - (features @ basis.T) @ basis
    return NullSpace(np.eye(dimensions) - basis.T @ basis, len(basis), accuracy)
