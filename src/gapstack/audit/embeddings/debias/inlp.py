"""Iterative null-space projection (Ravfogel, Elazar, Gonen, Twiton & Goldberg 2020, section 4).

The paper's experiment on words tells three classes apart, the third of neutral words, and does 35 iterations in 300
dimensions whatever they find. Here the two genders are told apart and iterations end once a fresh classifier does not
tell words better than chance that it did not learn from: a space of fewer dimensions would otherwise lose them all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from gapstack.audit.embeddings.debias.base import Debiaser
from gapstack.audit.embeddings.lists import Lists
from gapstack.audit.embeddings.most_biased import most_biased
from gapstack.audit.embeddings.vectors import Matrix, Vectors

_HELD_OUT = 0.5


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


class Inlp(Debiaser):
    """All words, projected to where a linear classifier does not tell the most biased ones' sides.

    Parameters
    ----------
    words : int
        Most biased words of either side to learn from; fewer where the vocabulary is small.
    iterations, tolerance, seed
        As of :func:`null_space`.
    """

    name = "inlp"
    paper = "Ravfogel et al. 2020"

    def __init__(self, words: int = 7500, iterations: int = 35, tolerance: float = 0.01, seed: int = 0):
        self.words = words
        self.iterations = iterations
        self.tolerance = tolerance
        self.seed = seed

    def apply(self, space: Vectors, lists: Lists) -> Vectors:
        """Project the vectors of length 1; the name tells how many dimensions it took."""
        biased = most_biased(space, lists, self.words)
        found = null_space(
            space.unit[biased.rows],
            biased.feminine,
            iterations=self.iterations,
            tolerance=self.tolerance,
            seed=self.seed,
        )
        return space.changed(
            space.unit @ found.projection,
            f"{space.name}, INLP ({found.removed} of {space.matrix.shape[1]} dimensions taken, "
            f"{100 * found.accuracy:.1f}% of held-out words still told)",
        )
