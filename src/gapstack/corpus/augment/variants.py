"""Test-time averaging: the same rows told in several ways, and the way back to the columns A, B, NEITHER."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus.augment.gender import feminise, swap_gender
from gapstack.corpus.augment.roles import anonymise_names, swap_names
from gapstack.corpus.corpus import Corpus
from gapstack.corpus.example import Example
from gapstack.errors import DataError
from gapstack.registry import Registry

_KEPT = (0, 1, 2)
Change = Callable[[Example], Example | None]


@dataclass(frozen=True, slots=True)
class Augmentation:
    """A change of one example, and where the columns of the changed one's probabilities belong."""

    change: Change
    columns: tuple[int, int, int] = _KEPT


AUGMENTATIONS: Registry[Augmentation] = Registry(
    "augmentation",
    {
        "original": Augmentation(lambda example: example),
        "swap_names": Augmentation(swap_names, (1, 0, 2)),
        "swap_gender": Augmentation(swap_gender),
        "feminise": Augmentation(feminise),
        **{f"anonymise_{k}": Augmentation(partial(anonymise_names, variant=k)) for k in range(4)},
    },
)
"""By name: what :func:`variants` can make of a row without further data."""


@dataclass(frozen=True)
class Variant:
    """A corpus told in another way, row by row.

    Attributes
    ----------
    corpus : Corpus
        As many rows as the original, same ids and order; a row that the augmentation refuses is the original.
    changed : array
        (n,) booleans: the rows that differ from the original.
    columns : tuple of int
        Column ``k`` of the original's probabilities is column ``columns[k]`` of this corpus's.
    """

    name: str
    corpus: Corpus
    changed: NDArray[np.bool_]
    columns: tuple[int, int, int]

    def restore(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give (n, 3) probabilities of this corpus in the original's columns A, B, NEITHER."""
        return probabilities[:, self.columns]


def augmented(corpus: Corpus, change: Change) -> Corpus:
    """The corpus with every row changed; rows that the augmentation refuses (None) stay as they are."""
    return corpus.map(lambda example: change(example) or example)


def variants(corpus: Corpus, names: Sequence[str] = ("original", "swap_names")) -> list[Variant]:
    """Make the variants named, in that order.

    Raises
    ------
    UnknownNameError
        If a name is not in :data:`AUGMENTATIONS`.
    """
    made: list[Variant] = []
    for name in names:
        augmentation = AUGMENTATIONS[name]
        told = augmented(corpus, augmentation.change)
        differs = [one != other for one, other in zip(corpus, told, strict=True)]
        made.append(Variant(name, told, np.array(differs, dtype=bool), augmentation.columns))
    return made


def average(
    made: Sequence[Variant],
    probabilities: Sequence[NDArray[np.float64]],
    weights: Sequence[float] | None = None,
) -> NDArray[np.float64]:
    """Average the variants' (n, 3) probabilities in the original's columns.

    A row that an augmentation refused counts once, not again for each such variant: where the original is
    among the variants, their unchanged rows get no weight.

    Parameters
    ----------
    weights : sequence of float, optional
        One for each variant, equal by default; rescaled to sum to 1 in each row.

    Raises
    ------
    DataError
        If the numbers of variants, arrays and weights differ, or no weight is positive.
    """
    given = [1.0] * len(made) if weights is None else list(weights)
    if not len(made) == len(probabilities) == len(given):
        raise DataError(
            f"{len(made)} variants, {len(probabilities)} arrays and {len(given)} weights",
            expected="one array and one weight for each variant",
        )
    if not any(weight > 0 for weight in given) or any(weight < 0 for weight in given):
        raise DataError(f"the weights are {given}", expected="none negative, and one above 0")
    has_original = any(variant.name == "original" and w > 0 for variant, w in zip(made, given, strict=True))
    total = np.zeros((len(made[0].corpus), 3))
    for variant, found, weight in zip(made, probabilities, given, strict=True):
        counts = variant.changed | (variant.name == "original") | (not has_original)
        total += weight * counts[:, None] * variant.restore(np.asarray(found, dtype=np.float64))
    return total / total.sum(axis=1, keepdims=True)
