"""Difficulty of rows: the number of systems that are right (Webster et al. 2018, "agreement with gold").

A system is right on a row when both of its decisions are. Rows that all systems get right are Green, rows that
none does are Red, and those between are Yellow.
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
    """Agreement with gold of some systems on n rows.

    Attributes
    ----------
    systems : tuple of str
    right : (n,) int64
        Number of systems that are right on each row.
    """

    systems: tuple[str, ...]
    right: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Rows in each bin, from all systems right down to none: (systems + 1,)."""
        return np.bincount(self.right, minlength=len(self.systems) + 1)[::-1]

    @property
    def shares(self) -> NDArray[np.float64]:
        """The same in percent of all rows."""
        return 100.0 * self.counts / len(self.right)

    def colours(self) -> list[str]:
        """Colour of each bin, in the order of :attr:`counts`."""
        return ["Green", *["Yellow"] * (len(self.systems) - 1), "Red"]


def agreement_with_gold(corpus: Corpus, decided: Mapping[str, Bools]) -> Difficulty:
    """Count the systems that are right on each row of a labelled corpus.

    ``decided`` is (n, 2) decisions by system.

    Raises
    ------
    DataError
        If no system was given, or one's decisions are not two for each row.
    """
    if not decided or not len(corpus):
        raise DataError("difficulty needs rows, and systems to try them", expected="at least one of each")
    gold = gold_decisions(corpus)
    right = np.zeros(len(corpus), dtype=np.int64)
    for name, decisions in decided.items():
        if decisions.shape != gold.shape:
            raise DataError(f"{name} has decisions of shape {decisions.shape}", expected=str(gold.shape))
        right += right_rows(gold, decisions)
    return Difficulty(tuple(decided), right)


def right_rows(gold: Bools, decided: Bools) -> Bools:
    """Whether both decisions of each row are right, (n,)."""
    right: Bools = (gold == decided).all(axis=1)
    return right


def cross_table(gold: Bools, first: Bools, second: Bools) -> NDArray[np.float64]:
    """Percent of rows by whether the first system is right (rows: yes, no) and the second (columns)."""
    one, two = right_rows(gold, first), right_rows(gold, second)
    return np.array([[100.0 * (a & b).mean() for b in (two, ~two)] for a in (one, ~one)])
