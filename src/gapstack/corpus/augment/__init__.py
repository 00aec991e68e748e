"""Augmentations: the same example told in another way, its three spans still right.

Each is a function of one :class:`~gapstack.corpus.Example`, which gives a changed example, or None where a rule
forbids the change; :func:`augmented` maps one over a corpus, :func:`with_synthetic_neither` adds rows, and
:func:`variants` and :func:`average` serve test-time averaging. :func:`edit` is the mechanism beneath them all.
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
