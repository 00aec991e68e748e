"""Iterative null-space projection (Ravfogel, Elazar, Gonen, Twiton & Goldberg 2020, section 4).

The paper's experiment on words tells three classes apart, the third of neutral words, and does 35 iterations in 300
dimensions whatever they find. Here the two genders are told apart, by :func:`gapstack.vectors.null_space.null_space`.
"""

from __future__ import annotations

from gapstack.corpus.word_lists import Lists
from gapstack.vectors.debias.debiaser import Debiaser
from gapstack.vectors.null_space import null_space
from gapstack.vectors.static_vectors import Vectors
from gapstack.vectors.word_gender import most_biased


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
