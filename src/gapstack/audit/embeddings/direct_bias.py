"""Direct bias (Bolukbasi, Chang, Zou, Saligrama & Kalai 2016, section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gapstack.audit.embeddings.measure import EmbeddingMeasure
from gapstack.audit.suite import Measure
from gapstack.corpus.word_lists import Lists
from gapstack.types import Matrix
from gapstack.vectors.static_vectors import Vectors
from gapstack.vectors.word_gender import locate, locate_pairs, principal_direction


def direct_bias(unit: Matrix, direction: Matrix, strictness: float = 1.0) -> float:
    """Mean of ``|cos(w, g)| ** strictness`` over neutral words' vectors (n, d); all of length 1."""
    return float(np.mean(np.abs(unit @ direction) ** strictness))


class DirectBias(EmbeddingMeasure):
    """Direct bias of the neutral professions along the gender direction of the definitional pairs."""

    title = "Direct bias"
    paper = "Bolukbasi et al. 2016"
    measures = (Measure("direct_bias", "mean |cos| of professions", 4),)

    def __init__(self, original: Vectors, lists: Lists, seed: int = 0):
        self.pairs, pairs = locate_pairs(original, lists.definitional, "definitional pairs")
        self.rows, words = locate(original, lists.professions, "neutral professions")
        self.coverage = (pairs, words)

    def measure(self, space: Vectors) -> Mapping[str, float]:
        """See :class:`EmbeddingMeasure`; the direction is that of ``space``, not of the original."""
        return {"direct_bias": direct_bias(space.unit[self.rows], principal_direction(space, self.pairs))}
