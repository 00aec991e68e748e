"""Gender-based illicit proximity estimate (Kumar, Bhotia, Kumar & Chakraborty 2020, sections 3 and 4).

A word's proximity bias is the share of its neighbours to which it is close because of gender. GIPE is the mean of
these, weighted by how often a word is such a neighbour itself. Neighbours are those of the space at hand; how far
gender makes two words similar is told by the original space, as in the authors' own measurements: a debiased space
that still keeps together what gender had put together is not let off for having lost the direction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gapstack.audit.embeddings.measure import Yardstick
from gapstack.audit.suite import Measure
from gapstack.corpus.word_lists import Lists
from gapstack.progress import progress
from gapstack.vectors.static_vectors import Matrix, Rows, Vectors
from gapstack.vectors.word_gender import (
    indirect_bias,
    locate_pairs,
    neighbours,
    neutral_rows,
    principal_direction,
)

THRESHOLD = 0.03
"""Indirect bias from which on a neighbour is illicit; the authors' default, and the one that gives GloVe's .115."""
NEIGHBOURS = 100
_CHUNK = 256


class Proximity(NamedTuple):
    """``mean`` of the words' proximity biases, and ``gipe``, their weighted mean; between 0 and 1."""

    mean: float
    gipe: float


def gipe(
    unit: Matrix,
    original: Matrix,
    direction: Matrix,
    rows: Rows,
    *,
    count: int = NEIGHBOURS,
    threshold: float = THRESHOLD,
) -> Proximity:
    """Measure a space.

    Parameters
    ----------
    unit, original : (m, d) arrays
        The space and what it was before debiasing, at length 1.
    direction : (d,) array
        Of gender in the original, of length 1.
    rows : (n,) array
        Words that are not gendered by what they mean.
    count : int
        Neighbours of each.
    threshold : float
        Indirect bias above which a neighbour is illicit.
    """
    shares, illicit_in, edges_in = [], np.zeros(len(unit)), np.zeros(len(unit))
    with progress("neighbours", len(rows)) as ticker:
        for chunk in np.split(rows, range(_CHUNK, len(rows), _CHUNK)):
            near = neighbours(unit, chunk, count)
            illicit = indirect_bias(original, direction, chunk, near) > threshold
            shares.append(illicit.mean(axis=1))
            edges_in += np.bincount(near.ravel(), minlength=len(unit))
            illicit_in += np.bincount(near[illicit], minlength=len(unit))
            ticker.advance(len(chunk))
    share = np.concatenate(shares)
    weight = (1 + np.divide(illicit_in, edges_in, out=np.zeros(len(unit)), where=edges_in > 0))[rows]
    return Proximity(float(share.mean()), float((weight * share).sum() / weight.sum()))


class Gipe(Yardstick):
    """Over all neutral words of the vocabulary."""

    title = "Gender-based illicit proximity"
    paper = "Kumar et al. 2020"
    measures = (Measure("proximity", "mean proximity bias", 4), Measure("gipe", "GIPE (weighted mean)", 4))

    def __init__(self, original: Vectors, lists: Lists, seed: int = 0):
        pairs, coverage = locate_pairs(original, lists.definitional, "definitional pairs")
        # among few words everything is a neighbour of everything
        self.rows = neutral_rows(original, lists, 10 * NEIGHBOURS)
        self.direction, self.original = principal_direction(original, pairs), original
        self.coverage = (coverage,)
        self.note = f"{len(self.rows):,} neutral words, {NEIGHBOURS} neighbours, threshold {THRESHOLD}"

    def measure(self, space: Vectors) -> Mapping[str, float]:
        """Neighbours of the space, indirect bias of the original."""
        found = gipe(space.unit, self.original.unit, self.direction, self.rows)
        return {"proximity": found.mean, "gipe": found.gipe}
