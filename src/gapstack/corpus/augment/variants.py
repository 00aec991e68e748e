"""Test-time augmentation: augmented copies of a corpus, and the average of their probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus.augment.gender import feminise, swap_gender
from gapstack.corpus.augment.roles import anonymise_names, swap_names
from gapstack.corpus.corpus import Corpus
from gapstack.corpus.example import Example
from gapstack.errors import DataError
from gapstack.registry import Registry

_SAME_COLUMNS = (0, 1, 2)
Change = Callable[[Example], Example | None]


@dataclass(frozen=True, slots=True)
class Augmentation:
    """A change of one example; ``columns`` maps its probabilities back, see :class:`Variant`."""

    change: Change
    columns: tuple[int, int, int] = _SAME_COLUMNS


AUGMENTATIONS: Registry[Augmentation] = Registry(
    "augmentation",
    {
        "original": Augmentation(lambda example: example),
        "swap_names": Augmentation(swap_names, (1, 0, 2)),
        "swap_gender": Augmentation(swap_gender),
        "feminise": Augmentation(feminise),
        "forget_page": Augmentation(lambda example: replace(example, url=None) if example.url else None),
        **{f"anonymise_{k}": Augmentation(partial(anonymise_names, variant=k)) for k in range(4)},
    },
)
"""Augmentations for :func:`variants`, by name; they need no further data."""


@dataclass(frozen=True)
class Variant:
    """An augmented copy of a corpus.

    Attributes
    ----------
    corpus : Corpus
        The same ids in the same order; rows to which the augmentation does not apply are unchanged.
    changed : (n,) bool
        Rows that differ from the original.
    columns : tuple of int
        Column ``k`` of the original's probabilities is column ``columns[k]`` of this corpus's.
    """

    name: str
    corpus: Corpus
    changed: NDArray[np.bool_]
    columns: tuple[int, int, int]

    def restore(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Map (n, 3) probabilities for this corpus to the original's columns A, B, NEITHER."""
        return probabilities[:, self.columns]


def augmented(corpus: Corpus, change: Change) -> Corpus:
    """Apply an augmentation to every row; rows for which it returns None stay unchanged."""
    return corpus.map(lambda example: change(example) or example)


def variants(corpus: Corpus, names: Sequence[str] = ("original", "swap_names")) -> list[Variant]:
    """Make the named variants, in that order.

    Raises UnknownNameError if a name is not in :data:`AUGMENTATIONS`.
    """
    result: list[Variant] = []
    for name in names:
        augmentation = AUGMENTATIONS[name]
        copy = augmented(corpus, augmentation.change)
        changed = [one != other for one, other in zip(corpus, copy, strict=True)]
        result.append(Variant(name, copy, np.array(changed, dtype=bool), augmentation.columns))
    return result


def average(
    variants: Sequence[Variant],
    probabilities: Sequence[NDArray[np.float64]],
    weights: Sequence[float] | None = None,
) -> NDArray[np.float64]:
    """Average the variants' (n, 3) probabilities in the original's columns.

    If the original is among the variants, unchanged rows of the others have no weight, so that they count once. Raises
    DataError if the numbers of variants, arrays and weights differ, or no weight is positive.

    Parameters
    ----------
    weights : sequence of float, optional
        One for each variant, equal by default; rescaled to sum to 1 in each row.
    """
    weights = [1.0] * len(variants) if weights is None else list(weights)
    if not len(variants) == len(probabilities) == len(weights):
        raise DataError(
            f"{len(variants)} variants, {len(probabilities)} arrays and {len(weights)} weights",
            expected="one array and one weight for each variant",
        )
    if not any(weight > 0 for weight in weights) or any(weight < 0 for weight in weights):
        raise DataError(f"the weights are {weights}", expected="none negative, and one above 0")
    has_original = any(v.name == "original" and w > 0 for v, w in zip(variants, weights, strict=True))
    total = np.zeros((len(variants[0].corpus), 3))
    for variant, p, weight in zip(variants, probabilities, weights, strict=True):
        counts = variant.changed | (variant.name == "original") | (not has_original)
        total += weight * counts[:, None] * variant.restore(np.asarray(p, dtype=np.float64))
    return total / total.sum(axis=1, keepdims=True)
