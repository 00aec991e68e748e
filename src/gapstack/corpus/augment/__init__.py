"""Data augmentation that keeps the three spans aligned with the text.

An augmentation maps an :class:`~gapstack.corpus.Example` to a changed one, or to None where it does not apply.
:func:`augmented` applies one to a corpus, :func:`with_synthetic_neither` adds rows, and :func:`variants` and
:func:`average` do test-time augmentation. All text changes go through :func:`edit`.
"""

from gapstack.corpus.augment.edit import Replacement, edit, fits
from gapstack.corpus.augment.gender import FirstNames, feminise, first_names, swap_gender
from gapstack.corpus.augment.gender_words import read_word_pairs
from gapstack.corpus.augment.neither import (
    people_by_first_name,
    synthetic_neither,
    with_synthetic_neither,
)
from gapstack.corpus.augment.roles import PLACEHOLDERS, anonymise_names, swap_names, why_not_anonymised
from gapstack.corpus.augment.variants import (
    AUGMENTATIONS,
    Augmentation,
    Variant,
    augmented,
    average,
    variants,
)

__all__ = [
    "AUGMENTATIONS",
    "PLACEHOLDERS",
    "Augmentation",
    "FirstNames",
    "Replacement",
    "Variant",
    "anonymise_names",
    "augmented",
    "average",
    "edit",
    "feminise",
    "first_names",
    "fits",
    "people_by_first_name",
    "read_word_pairs",
    "swap_gender",
    "swap_names",
    "synthetic_neither",
    "variants",
    "why_not_anonymised",
    "with_synthetic_neither",
]
