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

from gapstack.audit.embeddings.measure import EmbeddingMeasure
from gapstack.audit.suite import Measure
from gapstack.corpus.word_lists import Lists
from gapstack.errors import DataError
from gapstack.types import Matrix
from gapstack.vectors.static_vectors import Vectors
from gapstack.vectors.word_gender import locate

_EXACT = 200_000
_SAMPLES = 100_000
_ROUNDING = 1e-12


class Association(NamedTuple):
    """``effect`` is in standard deviations of all targets' associations; ``exact``: p is over all partitions."""

    statistic: float
    effect: float
    p: float
    exact: bool


def partition_test(
    first: Matrix, second: Matrix, *, seed: int = 0, most_exact: int = _EXACT, samples: int = _SAMPLES
) -> Association:
    """Permutation test whether associations ``first`` (n,) are larger than ``second`` (m,).

    Takes all partitions if there are at most ``most_exact``, else ``samples`` random ones.

    Raises
    ------
    DataError
        If a set is empty.
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
        null = np.concatenate(
            [
                differences(rng.permuted(np.tile(pooled, (count, 1)), axis=1)[:, :size].sum(axis=1))
                for count in np.diff(np.append(np.arange(0, samples, 10_000), samples))
            ]
        )
    extreme = int((null >= observed - _ROUNDING).sum())
    p = extreme / len(null) if exact else (extreme + 1) / (len(null) + 1)
    spread = float(pooled.std(ddof=1))
    return Association(observed, observed / spread if spread > 0 else 0.0, p, exact)


def weat(x: Matrix, y: Matrix, a: Matrix, b: Matrix, *, seed: int = 0) -> Association:
    """Test whether targets x rather than y are associated with attributes a rather than b; unit vectors (., d)."""
    scores = [(words @ a.T).mean(axis=1) - (words @ b.T).mean(axis=1) for words in (x, y)]
    return partition_test(scores[0], scores[1], seed=seed)


def single_weat(concept: Matrix, a: Matrix, b: Matrix, *, seed: int = 0) -> Association:
    """Test whether a concept's words are nearer to attributes a than to attributes b; unit vectors (., d).

    The statistic is the mean over the concept of (mean cosine to a - mean cosine to b), and p is over partitions of all
    attributes into sets of these sizes (Dawkins 2021, section 5.1).
    """
    return partition_test((a @ concept.T).mean(axis=1), (b @ concept.T).mean(axis=1), seed=seed)


def _columns(key: str) -> tuple[Measure, ...]:
    return Measure(f"{key}_effect", "effect size", 3), Measure(f"{key}_p", "p", 5)


class Weat(EmbeddingMeasure):
    """A test of Caliskan et al.; ``sets`` names two target sets and two attribute sets in the word lists."""

    key: str
    sets: tuple[str, str, str, str]
    paper = "Caliskan et al. 2017"

    def __init__(self, original: Vectors, lists: Lists, seed: int = 0):
        self.seed = seed
        sets = [locate(original, lists.weat[name], f"WEAT {name}") for name in self.sets]
        self.rows = [rows for rows, _ in sets]
        self.coverage = tuple(coverage for _, coverage in sets)

    def measure(self, space: Vectors) -> Mapping[str, float]:
        """Effect size and p-value."""
        x, y, a, b = (space.unit[rows] for rows in self.rows)
        found = weat(x, y, a, b, seed=self.seed)
        return {f"{self.key}_effect": found.effect, f"{self.key}_p": found.p}


class WeatCareer(Weat):
    """Test 6: names of men and women, career and family."""

    key, sets = "weat6", ("male_names", "female_names", "career", "family")
    title = "WEAT 6: men's names rather than women's go with career"
    measures = _columns(key)


class WeatMath(Weat):
    """Test 7: mathematics and arts, terms for men and women."""

    key, sets = "weat7", ("math", "arts", "male_terms", "female_terms")
    title = "WEAT 7: mathematics rather than arts goes with men"
    measures = _columns(key)


class WeatScience(Weat):
    """Test 8: science and arts, terms for men and women."""

    key, sets = "weat8", ("science", "arts_2", "male_terms_2", "female_terms_2")
    title = "WEAT 8: science rather than arts goes with men"
    measures = _columns(key)


class SingleWeat(EmbeddingMeasure):
    """Table 2: association of the female-stereotyped adjectives with feminine rather than masculine attributes.

    The attributes are words gendered by definition, or stereotypical occupations, which are gendered only latently.
    """

    TESTS: Mapping[str, tuple[str, str]] = {
        "latent": ("occ_female", "occ_male"),
        "definitional": ("def_female", "def_male"),
    }
    CONCEPT = ("adj_positive", "adj_negative")
    title = "Single-attribute WEAT: women's adjectives go with feminine attributes"
    paper = "Dawkins 2021"
    measures = tuple(
        measure
        for key in TESTS
        for measure in (Measure(key, f"{key}: statistic", 4), Measure(f"{key}_p", "p", 4))
    )

    def __init__(self, original: Vectors, lists: Lists, seed: int = 0):
        self.seed = seed
        words = [word for name in self.CONCEPT for word in lists.sowinobias[name]]
        self.concept, concept = locate(original, words, f"SoWinoBias {' and '.join(self.CONCEPT)}")
        sets = {
            name: locate(original, lists.sowinobias[name], f"SoWinoBias {name}")
            for names in self.TESTS.values()
            for name in names
        }
        self.rows = {name: rows for name, (rows, _) in sets.items()}
        self.coverage = (concept, *(coverage for _, coverage in sets.values()))

    def measure(self, space: Vectors) -> Mapping[str, float]:
        """Statistics and p-values."""
        figures: dict[str, float] = {}
        for key, names in self.TESTS.items():
            found = single_weat(
                space.unit[self.concept], *(space.unit[self.rows[name]] for name in names), seed=self.seed
            )
            figures |= {key: found.statistic, f"{key}_p": found.p}
        return figures
