"""Hard debiasing (Bolukbasi et al. 2016, section 6): neutralise and equalize."""

from __future__ import annotations

import numpy as np

from gapstack.corpus.word_lists import Lists
from gapstack.types import Matrix
from gapstack.vectors.debias.debiaser import Debiaser
from gapstack.vectors.static_vectors import Vectors
from gapstack.vectors.word_gender import locate_pairs, principal_direction


class HardDebias(Debiaser):
    """Neutral words lose their component along the gender direction; equalized pairs differ in nothing else.

    The definitional pairs are equalized too, since they would otherwise differ in other directions.
    """

    name = "hard"
    paper = "Bolukbasi et al. 2016"

    def apply(self, space: Vectors, lists: Lists) -> Vectors:
        """See :class:`Debiaser`; the vectors have length 1."""
        pairs, _ = locate_pairs(space, lists.definitional, "definitional pairs")
        direction = principal_direction(space, pairs)
        neutral = np.array([word.lower() not in lists.gendered for word in space.words])
        debiased = space.unit.copy()
        debiased[neutral] = _without(debiased[neutral], direction)
        # most of these pairs are rare words, and none is necessary
        others, _ = locate_pairs(space, lists.equalize, "equalized pairs", minimum=0.0)
        used: set[int] = set()
        for one, other in np.concatenate([pairs, others]).tolist():
            # a word of two pairs is equalized with the first one, the definitional
            if one == other or {one, other} & used:
                continue
            used |= {one, other}
            middle = (space.unit[one] + space.unit[other]) / 2
            middle -= (middle @ direction) * direction
            along = np.sqrt(max(0.0, 1 - float(middle @ middle)))
            side = 1.0 if (space.unit[one] - space.unit[other]) @ direction >= 0 else -1.0
            debiased[one], debiased[other] = (middle + s * along * direction for s in (side, -side))
        return space.changed(debiased, f"{space.name}, hard debiased")


def _without(unit: Matrix, direction: Matrix) -> Matrix:
    """Vectors (n, d) without their component along the direction, rescaled to length 1; 0 if nothing remains."""
    rest = unit - (unit @ direction)[:, None] * direction
    length = np.linalg.norm(rest, axis=1, keepdims=True)
    # of a vector along the direction only rounding errors remain
    return np.asarray(np.divide(rest, length, out=np.zeros_like(rest), where=length > 1e-9))
