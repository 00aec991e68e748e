"""Gender-based illicit proximity estimate (Kumar, Bhotia, Kumar & Chakraborty 2020, sections 3 and 4).

A word's proximity bias is the share of its neighbours to which it is close because of gender. GIPE is the mean of
these, weighted by how often a word is such a neighbour itself. Neighbours are those of the debiased space; indirect
bias is computed in the original space, as by the authors, so that a space from which the gender direction was removed
still counts as biased if its neighbourhoods are unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gapstack.audit.embeddings.measure import EmbeddingMeasure
from gapstack.audit.suite import Measure
from gapstack.corpus.word_lists import Lists
from gapstack.progress import progress
from gapstack.types import Matrix, Rows
from gapstack.vectors.static_vectors import Vectors
from gapstack.vectors.word_gender import (
    MINIMUM,
    indirect_bias,
    locate,
    locate_pairs,
    neighbours,
    neutral_rows,
    principal_direction,
)

THRESHOLD = 0.03
"""Indirect bias above which a neighbour is illicit; the authors' default, which reproduces GloVe's .115."""
NEIGHBOURS = 100
_CHUNK = 256


class Proximity(NamedTuple):
    """Mean and weighted mean (GIPE) of the words' proximity biases, between 0 and 1."""

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
    """Compute mean proximity bias and GIPE of a space.

    Parameters
    ----------
    unit, original : (m, d) arrays
        Vectors of length 1 of the space and of the space before debiasing.
    direction : (d,) array
        Gender direction of the original, of length 1.
    rows : (n,) array
        Words that are not gendered by definition.
    count : int
        Number of neighbours of each word.
    threshold : float
        See :data:`THRESHOLD`.
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


class Gipe(EmbeddingMeasure):
    """GIPE over all neutral words, and over SoWinoBias's occupations and adjectives (Dawkins 2021, table 3).

    Neighbours are any words of the space; the weights count only edges from the words that are averaged.
    """

    title = "Gender-based illicit proximity"
    paper = "Kumar et al. 2020"
    measures = (
        Measure("proximity", "mean proximity bias", 4),
        Measure("gipe", "GIPE (weighted mean)", 4),
        Measure("gipe_sowinobias", "GIPE, SoWinoBias", 4),
        Measure("proximity_sowinobias", "mean, SoWinoBias", 4),
    )

    def __init__(self, original: Vectors, lists: Lists, seed: int = 0):
        pairs, coverage = locate_pairs(original, lists.definitional, "definitional pairs")
        # in a small vocabulary everything is a neighbour of everything
        self.rows = neutral_rows(original, lists, 10 * NEIGHBOURS)
        names = [name for name in lists.sowinobias if not name.startswith("def_")]
        words = [word for name in names for word in lists.sowinobias[name]]
        self.own, own = locate(original, words, "SoWinoBias's occupations and adjectives", minimum=0.0)
        self.direction, self.original = principal_direction(original, pairs), original
        self.coverage = (coverage, own)
        self.note = f"{len(self.rows):,} neutral words, {NEIGHBOURS} neighbours, threshold {THRESHOLD}"
        if own.share < MINIMUM:
            self.note += "; too few of SoWinoBias's words for figures of theirs"
            self.own = self.own[:0]

    def measure(self, space: Vectors) -> Mapping[str, float]:
        """See :class:`EmbeddingMeasure`."""
        figures: dict[str, float] = {}
        for suffix, rows in (("", self.rows), ("_sowinobias", self.own)):
            if len(rows):
                found = gipe(space.unit, self.original.unit, self.direction, rows)
                figures |= {f"proximity{suffix}": found.mean, f"gipe{suffix}": found.gipe}
        return figures
