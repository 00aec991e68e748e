"""The most biased words of a space, which clustering and recoverability ask about (Gonen & Goldberg 2019)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapstack.audit.embeddings.base import he_she, neutral_rows
from gapstack.audit.embeddings.lists import Lists
from gapstack.audit.embeddings.vectors import Rows, Vectors

FEWEST = 50
"""Words of either side, below which nothing is said of a space."""


class Biased(NamedTuple):
    """Rows (2n,) of neutral words and whether each leans to the feminine side, (2n,) bool; most biased first."""

    rows: Rows
    feminine: NDArray[np.bool_]
    note: str


def most_biased(space: Vectors, lists: Lists, count: int) -> Biased:
    """Neutral words with the ``count`` largest projections to either side of the difference of she and he.

    Where the vocabulary has fewer than four times as many neutral words, a quarter of them is taken on either side, and
    the note says so: words from the middle are not biased.

    Raises
    ------
    DataError
        If the space lacks she or he, or has too few neutral words for sides of :data:`FEWEST`.
    """
    neutral = neutral_rows(space, lists, 4 * FEWEST)
    taken = min(count, len(neutral) // 4)
    order = neutral[np.argsort(space.unit[neutral] @ he_she(space), kind="stable")]
    sides = np.stack([order[::-1][:taken], order[:taken]], axis=1)  # feminine, masculine
    note = f"{taken:,} words of either side" + (
        f" (the papers take {count:,}; there are {len(neutral):,} neutral words)" if taken < count else ""
    )
    return Biased(sides.reshape(-1), np.tile([True, False], taken), note)
