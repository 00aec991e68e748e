"""Iterative null-space projection (Ravfogel, Elazar, Gonen, Twiton & Goldberg 2020, section 4).

The paper's experiment on words separates three classes, the third of neutral words, with a fixed 35 iterations in 300
dimensions. Here it is the two genders, with early stopping, by :func:`gapstack.vectors.null_space.null_space`.
"""

from __future__ import annotations

from gapstack.corpus.word_lists import Lists
from gapstack.vectors.debias.debiaser import Debiaser
from gapstack.vectors.null_space import null_space
from gapstack.vectors.static_vectors import Vectors
from gapstack.vectors.word_gender import most_biased


class Inlp(Debiaser):
    """Projects all words to the null space of linear classifiers of the most biased words' gender.

    Parameters
    ----------
    words : int
        Number of most biased words of either side to train on; fewer if the vocabulary is small.
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
        """Project the vectors of length 1; the name of the result has the number of dimensions removed."""
        biased = most_biased(space, lists, self.words)
        result = null_space(
            space.unit[biased.rows],
            biased.feminine,
            iterations=self.iterations,
            tolerance=self.tolerance,
            seed=self.seed,
        )
        return space.changed(
            space.unit @ result.projection,
            f"{space.name}, INLP ({result.removed} of {space.matrix.shape[1]} dimensions removed, "
            f"{100 * result.accuracy:.1f}% accuracy left on held-out words)",
        )
