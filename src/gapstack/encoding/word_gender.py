"""Gender in word vectors: coverage of word lists, gender directions, and the most biased words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapstack.data.word_lists import Lists
from gapstack.encoding.static_vectors import Vectors
from gapstack.errors import DataError
from gapstack.types import Matrix, Rows

MINIMUM = 0.5
"""Minimum share of a list that a vocabulary must cover."""
FEWEST = 50
"""Minimum number of most biased words of either side."""
_LONGEST = 20


@dataclass(frozen=True, slots=True)
class Coverage:
    """Coverage of a word list by a vocabulary: ``size`` entries, of which ``missing`` are not in the vocabulary."""

    name: str
    size: int
    missing: tuple[str, ...]

    @property
    def share(self) -> float:
        """Share of the entries that are covered, between 0 and 1."""
        return 1 - len(self.missing) / self.size if self.size else 0.0

    def __str__(self) -> str:
        return f"{self.name}: {self.size - len(self.missing):,} of {self.size:,} ({100 * self.share:.0f}%)"

    def check(self, space: Vectors, minimum: float = MINIMUM) -> None:
        """Raise DataError if the coverage is below ``minimum``."""
        if self.share < minimum:
            raise DataError(
                f"{space.name} covers too little of {self}",
                expected=f"at least {100 * minimum:.0f}%",
                remedy=f"It lacks {', '.join(self.missing[:8])}" + (", ..." if len(self.missing) > 8 else ""),
            )


def locate(
    space: Vectors, words: Sequence[str], name: str, minimum: float = MINIMUM
) -> tuple[Rows, Coverage]:
    """Rows of the words in the space, and the coverage; DataError if that is below ``minimum``."""
    rows = {word: space.row(word) for word in words}
    coverage = Coverage(name, len(rows), tuple(word for word, row in rows.items() if row is None))
    coverage.check(space, minimum)
    return np.array(list(dict.fromkeys(row for row in rows.values() if row is not None)), np.int64), coverage


def locate_pairs(
    space: Vectors, pairs: Sequence[tuple[str, str]], name: str, minimum: float = MINIMUM
) -> tuple[Rows, Coverage]:
    """Rows (n, 2) of the pairs with both words in the space, and the coverage in pairs."""
    rows = [(space.row(one), space.row(other)) for one, other in pairs]
    missing = tuple(":".join(pair) for pair, found in zip(pairs, rows, strict=True) if None in found)
    coverage = Coverage(name, len(pairs), missing)
    coverage.check(space, minimum)
    whole = list(dict.fromkeys(pair for pair in rows if None not in pair))
    return np.array(whole, dtype=np.int64).reshape(-1, 2), coverage


def neutral_rows(space: Vectors, lists: Lists, fewest: int = 0) -> Rows:
    """Rows of neutral words: lower case, letters only, on no list of gendered words; DataError if under ``fewest``."""
    rows = np.flatnonzero(
        [w.isalpha() and w.islower() and len(w) < _LONGEST and w not in lists.gendered for w in space.words]
    )
    if len(rows) < fewest:
        raise DataError(
            f"{space.name} has {len(rows):,} neutral words ({100 * len(rows) / fewest:.0f}% of what is needed)",
            expected=f"at least {fewest:,}",
            remedy="Use a larger vocabulary",
        )
    return rows


def principal_direction(space: Vectors, pairs: Rows) -> Matrix:
    """The gender direction, (d,) of length 1, from masculine to feminine (Bolukbasi et al. 2016, section 5.1).

    The first principal component of the words of each pair (n, 2), feminine first, centred on the pair's mean;
    DataError if no pair differs.
    """
    halves = (space.unit[pairs[:, 0]] - space.unit[pairs[:, 1]]) / 2
    # the principal components of halves and -halves, whose mean is 0, are those of the halves uncentred
    _, values, components = np.linalg.svd(halves, full_matrices=False)
    if not len(values) or values[0] < np.finfo(np.float64).eps:
        raise DataError(f"{space.name} has no gender direction: its definitional pairs do not differ")
    sign = 1.0 if (halves @ components[0]).sum() >= 0 else -1.0
    return np.asarray(components[0] * sign)


def he_she(space: Vectors) -> Matrix:
    """The direction she - he, (d,) of length 1; DataError if one of them is missing or they are equal."""
    rows, _ = locate(space, ("she", "he"), "the pronouns she and he", minimum=1.0)
    difference = space.unit[rows[0]] - space.unit[rows[1]]
    length = np.linalg.norm(difference)
    if length == 0:
        raise DataError(f"{space.name} has equal vectors for she and he, so no direction between them")
    return np.asarray(difference / length)


def indirect_bias(unit: Matrix, direction: Matrix, rows: Rows, others: Rows) -> Matrix:
    """Indirect bias (n, k): the share of words' similarity due to gender (Bolukbasi et al. 2016, section 5.2).

    Compares ``rows`` (n,) with ``others`` (n, k) among unit vectors (m, d).
    """
    # (n, k), from (n, 1, d) and (n, d, k)
    similar = np.matmul(unit[rows][:, None], unit[others].transpose(0, 2, 1))[:, 0]
    along = unit @ direction
    across = np.sqrt(np.clip(1 - along**2, 0, None))
    scale = across[rows][:, None] * across[others]
    without = np.divide(
        similar - along[rows][:, None] * along[others], scale, out=np.zeros_like(similar), where=scale > 0
    )
    return np.asarray(np.divide(similar - without, similar, out=np.zeros_like(similar), where=similar != 0))


def neighbours(unit: Matrix, rows: Rows, count: int) -> Rows:
    """Rows of the ``count`` nearest vectors by angle to each of ``rows``, except itself, (n, count)."""
    similar = unit[rows] @ unit.T
    similar[np.arange(len(rows)), rows] = -np.inf
    return np.asarray(np.argpartition(-similar, count - 1, axis=1)[:, :count])


class Biased(NamedTuple):
    """Rows (2n,) of neutral words, most biased first, and a mask (2n,) of those on the feminine side."""

    rows: Rows
    feminine: NDArray[np.bool_]
    note: str


def most_biased(space: Vectors, lists: Lists, count: int) -> Biased:
    """Neutral words with the ``count`` largest projections on she - he to either side, at most a quarter of them each.

    Raises DataError if the space lacks she or he, or has too few neutral words.
    """
    neutral = neutral_rows(space, lists, 4 * FEWEST)
    size = min(count, len(neutral) // 4)
    order = neutral[np.argsort(space.unit[neutral] @ he_she(space), kind="stable")]
    sides = np.stack([order[::-1][:size], order[:size]], axis=1)  # feminine, masculine
    note = f"{size:,} words of either side" + (
        f" (the papers take {count:,}; there are {len(neutral):,} neutral words)" if size < count else ""
    )
    return Biased(sides.reshape(-1), np.tile([True, False], size), note)
