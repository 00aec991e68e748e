"""Association tests of word vectors (WEAT, Caliskan et al. 2017) and of sentences (SEAT, May et al. 2019).

The statistic is the difference of the targets' mean associations. For target sets of equal size it is the papers'
difference of sums up to a constant factor; it is also defined for sets of unequal size, which missing words cause.
Effect sizes are in sample standard deviations, which reproduces the figures of Caliskan et al. for word2vec. The
p-value is one-sided: the share of partitions of all targets into sets of these sizes with a statistic at least as
large, including the observed one, so that it is never 0.

SEAT puts each word into sentences with little content of their own. The vector of a sentence is that of its first piece
in the last layer ([CLS], as the paper takes it for BERT), the mean of its pieces (how the embedded MiniLM was trained
to represent sentences), or the word's own vector in its context (Tan and Celis 2019). The paper's p-values are by
random partitions of all target sentences and treat those of one word as independent, which they are not; p-values by
words exchange whole words, whose sentences are averaged. The paper has templates for each part of speech; here every
word is put into the same six :data:`TEMPLATES`. A test without a significant association does not show that there is
none (section 5).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gapstack.display.render import Cell, Column, Section, Table
from gapstack.display.report import Report
from gapstack.encoding.activations import sentence_vectors
from gapstack.encoding.encoders import load_encoder
from gapstack.encoding.word_vectors import Vectors
from gapstack.errors import DataError
from gapstack.evaluation import holm
from gapstack.papers.debiasers import locate
from gapstack.papers.word_lists import Lists
from gapstack.types import Matrix

TEMPLATES = ("This is {}.", "That is {}.", "There is {}.", "Here is {}.", "{} is here.", "{} is there.")
"""Sentences that each word is put into."""
REPRESENTATIONS = ("first", "mean", "word")
"""Vectors of :class:`~gapstack.encoding.activations.SentenceVectors` that are tested."""
_EXACT, _SAMPLES = 200_000, 100_000
_ROUNDING = 1e-12
_LEVEL = 0.05


class AssociationTest(NamedTuple):
    """A test of Caliskan et al.; a positive effect associates the first targets with the first attributes."""

    title: str
    sets: tuple[str, str, str, str]  # keys of the word lists: two sets of targets, two of attributes
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
"""Tests by number, those of gender first; in ``b`` names and gendered terms are exchanged, as in May et al. 2019."""


class Association(NamedTuple):
    """Effect in standard deviations of all targets' associations, and its p-value."""

    statistic: float
    effect: float
    p: float
    exact: bool  # True if p is over all partitions
    p_words: float | None = None  # for sentences, the p-value by words


def partition_test(
    first: Matrix, second: Matrix, *, seed: int = 0, most_exact: int = _EXACT, samples: int = _SAMPLES
) -> Association:
    """Permutation test that ``first`` (n,) are larger than ``second`` (m,): all partitions, or random ones."""
    if not len(first) or not len(second):
        raise DataError("a set of targets is empty", expected="words of both sets in the vectors")
    pooled = np.concatenate([first, second])
    size, total = len(first), len(pooled)

    def differences(sums: Matrix) -> Matrix:
        return np.asarray(sums / size - (pooled.sum() - sums) / (total - size))

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
    """Test if targets ``x`` rather than ``y`` go with attributes ``a`` rather than ``b``; unit vectors (., d)."""
    scores = [(words @ a.T).mean(axis=1) - (words @ b.T).mean(axis=1) for words in (x, y)]
    return partition_test(scores[0], scores[1], seed=seed)


@dataclass(frozen=True)
class SentenceAudit:
    """Results by test, and by space of static vectors or representation of sentences."""

    encoder: str
    layer: int  # from 0, the embeddings
    seed: int
    sentences: int
    spaces: tuple[str, ...]
    tests: Mapping[str, Mapping[str, Association]]
    refused: tuple[str, ...] = ()  # reasons why a space has no result for a test


def audit_sentences(
    lists: Lists,
    encoder: str | None = None,
    spaces: Iterable[Vectors] = (),
    *,
    layer: int = -1,
    seed: int = 0,
    samples: int = _SAMPLES,
) -> SentenceAudit:
    """Run every test whose word sets are in the lists on an encoder, and on spaces of static vectors."""
    chosen = {number: test for number, test in ASSOCIATION_TESTS.items() if set(test.sets) <= set(lists.weat)}
    loaded = load_encoder(encoder)
    tests: dict[str, dict[str, Association]] = {number: {} for number in chosen}
    refused, names = [], []
    for space in spaces:
        names.append(space.name)
        for number, test in chosen.items():
            try:
                sets = [space.unit[locate(space, lists.weat[name], f"WEAT {name}")[0]] for name in test.sets]
            except DataError as problem:
                refused.append(f"WEAT {number}: {problem}")
            else:
                tests[number][space.name] = weat(*sets, seed=seed)
    words = sorted({word for test in chosen.values() for name in test.sets for word in lists.weat[name]})
    vectors = sentence_vectors([_sentence(word, text) for word in words for text in TEMPLATES], loaded, layer)
    place = {word: index for index, word in enumerate(words)}
    for key in REPRESENTATIONS:
        matrix: Matrix = getattr(vectors, key)
        unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
        by_word = unit.reshape(-1, len(TEMPLATES), unit.shape[1])  # (words, templates, hidden)
        for number, test in chosen.items():
            x, y, a, b = (by_word[[place[w] for w in dict.fromkeys(lists.weat[name])]] for name in test.sets)
            # mean cosines with all sentences of an attribute set are cosines with their mean vector, up to its length
            towards = a.mean(axis=(0, 1)) - b.mean(axis=(0, 1))
            first, second = x @ towards, y @ towards  # (words, templates)
            by_sentences = partition_test(first.ravel(), second.ravel(), seed=seed, samples=samples)
            by_words = partition_test(first.mean(axis=1), second.mean(axis=1), seed=seed, samples=samples)
            tests[number][key] = by_sentences._replace(p_words=by_words.p)
    name, count = Path(loaded.name).name, len(words) * len(TEMPLATES)
    return SentenceAudit(name, layer, seed, count, tuple(names), tests, tuple(refused))


def _sentence(word: str, template: str) -> tuple[str, tuple[int, int]]:
    """A sentence, capitalised, and the span of the word in it."""
    start = template.index("{}")
    text = template.format(word)
    return text[0].upper() + text[1:], (start, start + len(word))


def sentences_report(found: SentenceAudit) -> Report:
    """One row for each test; an effect is starred where its p-value, corrected over the column, is below 0.05."""
    columns: list[Column] = []
    rows: dict[str, dict[str, Cell]] = {number: {} for number in found.tests}
    titles = {name: f"WEAT {place}" for place, name in enumerate(found.spaces, 1)}
    for key, title in (titles | dict(zip(REPRESENTATIONS, REPRESENTATIONS, strict=True))).items():
        columns += [Column(key, title), Column(f"{key}_p", "p")]
        if key in REPRESENTATIONS:
            columns.append(Column(f"{key}_p_words", "words"))
        of_column = {number: tests[key] for number, tests in found.tests.items() if key in tests}
        corrected = holm([test.p for test in of_column.values()])
        for (number, test), p in zip(of_column.items(), corrected, strict=True):
            effect = f"{test.effect:+.2f}{'*' if p < _LEVEL else ' '}"
            rows[number] |= {key: effect, f"{key}_p": _p_value(test.p)}
            rows[number][f"{key}_p_words"] = None if test.p_words is None else _p_value(test.p_words)
    sections = []
    for heading, gender in (("gender", True), ("other associations, for comparison", False)):
        numbers = [number for number in rows if ASSOCIATION_TESTS[number].gender == gender]
        named = [(f"{number}: {ASSOCIATION_TESTS[number].title}", rows[number]) for number in numbers]
        sections += [Section(heading, named)] if named else []
    layer = "last layer" if found.layer == -1 else f"layer {found.layer}"
    title = "Association tests (Caliskan et al. 2017) of sentences (SEAT, May et al. 2019)"
    caption = (
        f"{''.join(f'{number}: {name}. ' for name, number in titles.items())}"
        "Effect sizes d in standard deviations, and one-sided p by partitions of the targets. "
        f"{found.sentences:,} sentences: each word in {' '.join(TEMPLATES).replace('{}', '_')} SEAT compares "
        "their first piece, the mean of their pieces, or the word's own pieces. p is by sentences, as in the "
        "paper, which takes those of a word as independent; words: p where whole words are exchanged. "
        f"* p < {_LEVEL:g} after Holm's correction over the column; - where a space lacks most words of a set. "
        f"Seed {found.seed}."
    )
    table = Table(
        columns, sections, f"{title}: {found.encoder}, {layer}", caption, "test: targets: attributes"
    )
    tests = {number: ASSOCIATION_TESTS[number]._asdict() | dict(each) for number, each in found.tests.items()}
    data = {"encoder": found.encoder, "layer": found.layer, "seed": found.seed, "sentences": found.sentences}
    data |= {"templates": TEMPLATES, "spaces": found.spaces, "tests": tests, "refused": found.refused}
    return Report("sentences", [table], data=data)


def _p_value(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"
