"""Difficulty of name-pronoun pairs: the number of systems that are right (Webster et al. 2018, "agreement with gold").

By the paper's footnote 21 a row whose label is A or B counts with that name's pair alone, and a row whose label is
Neither with both pairs: 2,201 pairs on GAP development. Pairs that all systems get right are Green, pairs that none
does are Red, and those between are Yellow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus
from gapstack.errors import DataError
from gapstack.scoring import gold_decisions
from gapstack.types import Bools


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Agreement with gold of some systems on m pairs.

    Attributes
    ----------
    systems : tuple of str
    pairs : (m, 2) int64
        Row of each pair in the corpus, and its name: 0 for A, 1 for B.
    right : (m,) int64
        Number of systems that are right about each pair.
    """

    systems: tuple[str, ...]
    pairs: NDArray[np.int64]
    right: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Pairs in each bin, from all systems right down to none: (systems + 1,)."""
        return np.bincount(self.right, minlength=len(self.systems) + 1)[::-1]

    @property
    def shares(self) -> NDArray[np.float64]:
        """The same in percent of all pairs."""
        return 100.0 * self.counts / len(self.right)

    @property
    def average(self) -> float:
        """Mean number of systems that are right about a pair."""
        return float(self.right.mean())

    @property
    def red(self) -> NDArray[np.int64]:
        """Pairs that no system gets right, (k, 2) as :attr:`pairs`."""
        pairs: NDArray[np.int64] = self.pairs[self.right == 0]
        return pairs

    def colours(self) -> list[str]:
        """Colour of each bin, in the order of :attr:`counts`."""
        return ["Green", *["Yellow"] * (len(self.systems) - 1), "Red"]


def agreement_with_gold(corpus: Corpus, decided: Mapping[str, Bools]) -> Difficulty:
    """Count the systems that are right about each pair of a labelled corpus that footnote 21 counts.

    ``decided`` is (n, 2) decisions by system.

    Raises
    ------
    DataError
        If no system was given, or one's decisions are not two for each row.
    """
    if not decided or not len(corpus):
        raise DataError("difficulty needs rows, and systems to try them", expected="at least one of each")
    gold = gold_decisions(corpus)
    pairs = np.argwhere(gold | ~gold.any(axis=1, keepdims=True))
    right = np.zeros(len(pairs), dtype=np.int64)
    for name, decisions in decided.items():
        if decisions.shape != gold.shape:
            raise DataError(f"{name} has decisions of shape {decisions.shape}", expected=str(gold.shape))
        right += (gold == decisions)[pairs[:, 0], pairs[:, 1]]
    return Difficulty(tuple(decided), pairs, right)
