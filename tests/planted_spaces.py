"""Spaces in which gender is planted, and the lists that go with them."""

from itertools import product
from string import ascii_lowercase

import numpy as np

from gapstack.encoding.word_vectors import Vectors
from gapstack.papers.word_lists import Lists

DEFINITIONAL = (("woman", "man"), ("she", "he"), ("mother", "father"), ("her", "his"))
EQUALIZE = (("nun", "priest"),)
LISTS = Lists(
    definitional=DEFINITIONAL,
    equalize=EQUALIZE,
    gender_specific=frozenset({"beard"}),
    professions=("aaa", "aab", "aac", "zzzz"),
    sembias=(
        (("priest", "nun"), ("aaa", "aab"), ("aac", "aad"), ("aae", "aaf")),
        (("man", "woman"), ("aaf", "aad"), ("aac", "aaf"), ("aae", "aad")),
    ),
    weat={
        **dict.fromkeys(("male_names", "math", "science"), ("aaa", "aab")),
        **dict.fromkeys(("female_names", "arts", "arts_2"), ("aac", "aad")),
        **dict.fromkeys(("career", "male_terms", "male_terms_2"), ("he", "man")),
        **dict.fromkeys(("family", "female_terms", "female_terms_2"), ("she", "woman")),
    },
    sowinobias={
        "occ_female": ("aaa", "aab"),
        "occ_male": ("aac", "aad"),
        "def_female": ("she",),
        "def_male": ("he",),
        "adj_positive": ("aae",),
        "adj_negative": ("aaf",),
    },
    masculine=("man", "father", "he", "priest"),
    feminine=("woman", "mother", "she", "nun"),
)
GENDERED = (*dict.fromkeys(word for pair in DEFINITIONAL + EQUALIZE for word in pair), "beard")


def neutral_words(count):
    """``aaa``, ``aab`` and so on."""
    letters = product(ascii_lowercase, repeat=3)
    return tuple(
        word
        for word in ("".join(three) for three, _ in zip(letters, range(count + 9), strict=False))
        if word not in GENDERED
    )[:count]


def planted(count=1200, dimensions=20, *, strength=1.0, seed=0):
    """A space and the side (count,) of its neutral words, which stand behind the gendered ones.

    Neutral words lean to one side along the gender direction and, by as much, along a second one that no gendered word
    has: what is planted there is not seen by who looks at the first alone.
    """
    rng = np.random.default_rng(seed)
    first, second = np.linalg.qr(rng.normal(size=(dimensions, 2)))[0].T
    feminine = rng.random(count) < 0.5
    side = np.where(feminine, 1.0, -1.0)[:, None]
    neutral = rng.normal(size=(count, dimensions)) + strength * side * (first + second)
    pairs = []
    for _ in DEFINITIONAL + EQUALIZE:
        middle = rng.normal(size=dimensions)
        pairs += [middle + 3 * first, middle - 3 * first]
    matrix = np.vstack([pairs, rng.normal(size=(1, dimensions)), neutral])
    return Vectors("planted", (*GENDERED, *neutral_words(count)), matrix), feminine
