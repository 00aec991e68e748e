"""Relative positions of names and pronoun, for heads without positions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus, Example, Span


def distance_relations(corpus: Corpus) -> NDArray[np.float32]:
    """Relations of each name to the pronoun, (n, 2, 4).

    Signed log distance in characters, its absolute value, whether the name comes first, and whether the other name is
    between.
    """

    def relate(example: Example, name: Span, other: Span) -> list[float]:
        gap = example.pronoun.start - name.start
        size = float(np.log1p(abs(gap)))
        low, high = sorted((example.pronoun.start, name.start))
        return [np.sign(gap) * size, size, float(gap > 0), float(low < other.start < high)]

    rows = [[relate(e, e.a, e.b), relate(e, e.b, e.a)] for e in corpus]
    return np.array(rows, dtype=np.float32).reshape(len(corpus), 2, 4)
