"""Word embedding association tests: Caliskan, Bryson & Narayanan 2017, and of a single concept Dawkins 2021.

Effect sizes are in sample standard deviations, which reproduces the figures of Caliskan et al. for word2vec.

The statistic is the difference of the targets' mean associations: for target sets of equal size the papers' difference
of sums up to a constant factor, and defined for sets of unequal size, where words are missing. The p-value is
one-sided: the share of partitions of all targets into sets of these sizes with a statistic at least as large, the
observed one included, so that it is never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from gapstack.audits.embeddings.measures import EmbeddingMeasure, Figures
from gapstack.data.word_lists import Lists
from gapstack.display import Column
from gapstack.encoding.static_vectors import Vectors
from gapstack.encoding.word_gender import locate
from gapstack.errors import DataError
from gapstack.types import Matrix

_EXACT = 200_000
_SAMPLES = 100_000
_ROUNDING = 1e-12


class AssociationTest(NamedTuple):
    """A test of Caliskan et al.: two target sets and two attribute sets of the word lists.

    A positive effect means that the first targets rather than the second go with the first attributes.
    """

    title: str
    sets: tuple[str, str, str, str]
    gender: bool = False


_NAMES, _TERMS = ("male_names", "female_names"), ("male_terms", "female_terms")
_TERMS_2 = ("male_terms_2", "female_terms_2")
_NAMES_5 = ("european_american_names_5", "african_american_names_5")
_NAMES_7 = ("european_american_names_7", "african_american_names_7")
_AGES = ("young_people_names", "old_people_names")
_DISEASES = ("mental_disease", "physical_disease")
_PLEASANT, _PLEASANT_9 = ("pleasant_5", "unpleasant_5a"), ("pleasant_9", "unpleasant_9")
_PLEASANT_B = ("pleasant_5", "unpleasant_5b")
ASSOCIATION_TESTS: Mapping[str, AssociationTest] = {
    "6": AssociationTest("men's, women's names: career, family", (*_NAMES, "career", "family"), gender=True),
    "6b": AssociationTest("terms for men, women: career, family", (*_TERMS, "career", "family"), gender=True),
    "7": AssociationTest("mathematics, arts: terms for men, women", ("math", "arts", *_TERMS), gender=True),
    "7b": AssociationTest("mathematics, arts: men's, women's names", ("math", "arts", *_NAMES), gender=True),
    "8": AssociationTest(
        "science, arts: terms for men, women", ("science", "arts_2", *_TERMS_2), gender=True
    ),
    "8b": AssociationTest("science, arts: men's, women's names", ("science", "arts_2", *_NAMES), gender=True),
    "1": AssociationTest("flowers, insects: pleasant", ("flowers", "insects", *_PLEASANT)),
    "2": AssociationTest("instruments, weapons: pleasant", ("instruments", "weapons", *_PLEASANT)),
    "3": AssociationTest("European, Afr. American names: pleasant", (*_NAMES_5, *_PLEASANT_B)),
    "4": AssociationTest("the same, names of 7", (*_NAMES_7, *_PLEASANT_B)),
    "5": AssociationTest("the same, words of 9", (*_NAMES_7, *_PLEASANT_9)),
    "9": AssociationTest("mental, bodily disease: temporary or not", (*_DISEASES, "temporary", "permanent")),
    "10": AssociationTest("young, old people's names: pleasant", (*_AGES, *_PLEASANT_9)),
}
"""By number, those of gender first; ``b``: gendered names and terms exchanged, as in May et al. 2019."""


class Association(NamedTuple):
    """``effect`` is in standard deviations of all targets' associations; ``exact``: p is over all partitions."""

    statistic: float
    effect: float
    p: float
    exact: bool


def partition_test(
    first: Matrix, second: Matrix, *, seed: int = 0, most_exact: int = _EXACT, samples: int = _SAMPLES
) -> Association:
    """Permutation test that associations ``first`` (n,) are larger than ``second`` (m,).

    Takes all partitions if there are at most ``most_exact``, else ``samples`` random ones. DataError for an empty set.
    """
    if not len(first) or not len(second):
        raise DataError("a set of targets is empty", expected="words in both")
    pooled = np.concatenate([first, second])
    size, total = len(first), len(pooled)

    def differences(sums: Matrix) -> Matrix:
        return sums / size - (pooled.sum() - sums) / (total - size)

    observed = float(first.mean() - second.mean())
    exact = comb(total, size) <= most_exact
    if exact:
        partitions = np.array(list(combinations(range(total), size)))
        null = differences(pooled[partitions].sum(axis=1))
    else:
        rng = np.random.default_rng(seed)
        counts = np.diff(np.append(np.arange(0, samples, 10_000), samples))
        draws = (rng.permuted(np.tile(pooled, (count, 1)), axis=1)[:, :size] for count in counts)
        null = np.concatenate([differences(drawn.sum(axis=1)) for drawn in draws])
    extreme = int((null >= observed - _ROUNDING).sum())
    p = extreme / len(null) if exact else (extreme + 1) / (len(null) + 1)
    spread = float(pooled.std(ddof=1))
    return Association(observed, observed / spread if spread > 0 else 0.0, p, exact)


def weat(x: Matrix, y: Matrix, a: Matrix, b: Matrix, *, seed: int = 0) -> Association:
    """Test that targets x rather than y are associated with attributes a rather than b; unit vectors (., d)."""
    scores = [(words @ a.T).mean(axis=1) - (words @ b.T).mean(axis=1) for words in (x, y)]
    return partition_test(scores[0], scores[1], seed=seed)


def single_weat(concept: Matrix, a: Matrix, b: Matrix, *, seed: int = 0) -> Association:
    """Test that a concept's words are nearer to attributes a than to attributes b; unit vectors (., d).

    The statistic is the mean over the concept of (mean cosine to a - mean cosine to b), and p is over partitions of all
    attributes into sets of these sizes (Dawkins 2021, section 5.1).
    """
    return partition_test((a @ concept.T).mean(axis=1), (b @ concept.T).mean(axis=1), seed=seed)


def weat_test(
    number: str, hypothesis: str, original: Vectors, lists: Lists, seed: int = 0
) -> EmbeddingMeasure:
    """One of the :data:`ASSOCIATION_TESTS`, with its alternative hypothesis."""
    names = ASSOCIATION_TESTS[number].sets
    sets = [locate(original, lists.weat[name], f"WEAT {name}") for name in names]
    key = f"weat{number}"

    def measure(space: Vectors) -> Figures:
        found = weat(*(space.unit[rows] for rows, _ in sets), seed=seed)
        return {f"{key}_effect": found.effect, f"{key}_p": found.p}

    columns = (Column(f"{key}_effect", "effect size", 3), Column(f"{key}_p", "p", 5))
    coverage = tuple(coverage for _, coverage in sets)
    title = f"WEAT {number}: {hypothesis}"
    return EmbeddingMeasure(title, "Caliskan et al. 2017", columns, coverage, measure)


def single_weat_test(original: Vectors, lists: Lists, seed: int = 0) -> EmbeddingMeasure:
    """Table 2: association of the female-stereotyped adjectives with feminine rather than masculine attributes.

    The attributes are words gendered by definition, or stereotypical occupations, which are gendered only latently.
    """
    tests = {"latent": ("occ_female", "occ_male"), "definitional": ("def_female", "def_male")}
    adjectives = ("adj_positive", "adj_negative")
    words = [word for name in adjectives for word in lists.sowinobias[name]]
    concept, concept_coverage = locate(original, words, f"SoWinoBias {' and '.join(adjectives)}")
    sets = {
        name: locate(original, lists.sowinobias[name], f"SoWinoBias {name}")
        for pair in tests.values()
        for name in pair
    }

    def measure(space: Vectors) -> Figures:
        figures: Figures = {}
        for key, names in tests.items():
            attributes = (space.unit[sets[name][0]] for name in names)
            found = single_weat(space.unit[concept], *attributes, seed=seed)
            figures |= {key: found.statistic, f"{key}_p": found.p}
        return figures

    columns = tuple(
        column
        for key in tests
        for column in (Column(key, f"{key}: statistic", 4), Column(f"{key}_p", "p", 4))
    )
    coverage = (concept_coverage, *(coverage for _, coverage in sets.values()))
    title = "Single-attribute WEAT: women's adjectives go with feminine attributes"
    return EmbeddingMeasure(title, "Dawkins 2021", columns, coverage, measure)
