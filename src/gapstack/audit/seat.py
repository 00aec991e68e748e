"""Sentence encoder association tests (SEAT): May, Wang, Bordia, Bowman and Rudinger 2019, NAACL.

WEAT (Caliskan et al. 2017) with sentences for words: each word of the word sets is put into sentences that say next to
nothing, and the test compares cosines of the sentences' vectors. Bao and Qiao 2019 found no significant gender bias of
BERT with either (Webster et al. 2019).

- The vector of a sentence is that of its first piece in the last layer ([CLS], as the paper takes it for BERT), or the
  mean of its pieces (how the embedded MiniLM was trained to represent sentences). Tan and Celis 2019 take the word's
  own vector in its context instead.
- p-values by sentences are the paper's: random partitions of all target sentences. They treat the sentences of one
  word as independent, which they are not; p-values by words exchange whole words, whose sentences are averaged.
- The paper has templates for each part of speech. Here every word is put into the same six :data:`TEMPLATES`.

A test can find an association; that it finds none does not show that there is none (section 5 of the paper).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gapstack.audit.embeddings.weat import Association, partition_test, weat
from gapstack.corpus.word_lists import Lists
from gapstack.encoding.encoders import load_encoder
from gapstack.encoding.sentences import SentenceVectors, sentence_vectors
from gapstack.errors import DataError
from gapstack.types import Matrix
from gapstack.vectors.static_vectors import Vectors
from gapstack.vectors.word_gender import locate

TEMPLATES = ("This is {}.", "That is {}.", "There is {}.", "Here is {}.", "{} is here.", "{} is there.")
"""Sentences that each word is put into."""

REPRESENTATIONS = ("first", "mean", "word")
"""Vectors of :class:`~gapstack.encoding.sentences.SentenceVectors` that are tested."""


@dataclass(frozen=True, slots=True)
class AssociationTest:
    """A test of Caliskan et al. by number; ``b``: gendered names and terms exchanged, as in May et al.

    ``sets`` names two target sets and two attribute sets in the word lists; a positive effect means that the first
    targets rather than the second go with the first attributes.
    """

    title: str
    sets: tuple[str, str, str, str]
    gender: bool = False


_NAMES, _TERMS = ("male_names", "female_names"), ("male_terms", "female_terms")
TESTS: Mapping[str, AssociationTest] = {
    "6": AssociationTest("men's, women's names: career, family", (*_NAMES, "career", "family"), gender=True),
    "6b": AssociationTest("terms for men, women: career, family", (*_TERMS, "career", "family"), gender=True),
    "7": AssociationTest("mathematics, arts: terms for men, women", ("math", "arts", *_TERMS), gender=True),
    "7b": AssociationTest("mathematics, arts: men's, women's names", ("math", "arts", *_NAMES), gender=True),
    "8": AssociationTest(
        "science, arts: terms for men, women",
        ("science", "arts_2", "male_terms_2", "female_terms_2"),
        gender=True,
    ),
    "8b": AssociationTest("science, arts: men's, women's names", ("science", "arts_2", *_NAMES), gender=True),
    "1": AssociationTest("flowers, insects: pleasant", ("flowers", "insects", "pleasant_5", "unpleasant_5a")),
    "2": AssociationTest(
        "instruments, weapons: pleasant", ("instruments", "weapons", "pleasant_5", "unpleasant_5a")
    ),
    "3": AssociationTest(
        "European, Afr. American names: pleasant",
        ("european_american_names_5", "african_american_names_5", "pleasant_5", "unpleasant_5b"),
    ),
    "4": AssociationTest(
        "the same, names of 7",
        ("european_american_names_7", "african_american_names_7", "pleasant_5", "unpleasant_5b"),
    ),
    "5": AssociationTest(
        "the same, words of 9",
        ("european_american_names_7", "african_american_names_7", "pleasant_9", "unpleasant_9"),
    ),
    "9": AssociationTest(
        "mental, bodily disease: temporary or not",
        ("mental_disease", "physical_disease", "temporary", "permanent"),
    ),
    "10": AssociationTest(
        "young, old people's names: pleasant",
        ("young_people_names", "old_people_names", "pleasant_9", "unpleasant_9"),
    ),
}
"""By number, those of gender first."""


@dataclass(frozen=True)
class SentenceTest:
    """One test of sentences: the association by sentences, and the p-value by words."""

    association: Association
    p_words: float


@dataclass(frozen=True)
class SentenceAudit:
    """Results: by test, the words' associations in each space, and the sentences' in each representation.

    ``spaces`` are the names of the spaces of static vectors, ``refused`` why a space has no result for a test.
    """

    encoder: str
    layer: int
    seed: int
    sentences: int
    spaces: tuple[str, ...]
    words: Mapping[str, Mapping[str, Association]]
    tests: Mapping[str, Mapping[str, SentenceTest]]
    refused: tuple[str, ...] = field(default=())


def audit_sentences(
    lists: Lists,
    encoder: str | None = None,
    spaces: Iterable[Vectors] = (),
    *,
    layer: int = -1,
    seed: int = 0,
    samples: int = 100_000,
) -> SentenceAudit:
    """Run every test whose word sets are in the lists on an encoder, and on spaces of static vectors beside it.

    Parameters
    ----------
    lists : Lists
    encoder : str, optional
        Name or folder; the embedded MiniLM by default.
    spaces : iterable of Vectors
        For WEAT; tests whose words a space covers too little of are refused with the reason.
    layer : int
        Layer of the vectors, from 0 (embeddings) up or from -1 (the last) down.
    seed, samples : int
        Of the random partitions.

    Raises
    ------
    DataError
        If the lists have the words of no test.
    """
    chosen = {number: test for number, test in TESTS.items() if set(test.sets) <= set(lists.weat)}
    if not chosen:
        raise DataError("the word lists have the sets of no test", expected="those of Caliskan et al. 2017")
    loaded = load_encoder(encoder)
    words = sorted({word for test in chosen.values() for name in test.sets for word in lists.weat[name]})
    vectors = sentence_vectors([_sentence(word, text) for word in words for text in TEMPLATES], loaded, layer)
    where = {word: index for index, word in enumerate(words)}
    tests = {
        number: {
            key: _sentence_test(_by_word(vectors, key), where, lists, test, seed, samples)
            for key in REPRESENTATIONS
        }
        for number, test in chosen.items()
    }
    found: dict[str, dict[str, Association]] = {number: {} for number in chosen}
    refused: list[str] = []
    names: list[str] = []
    for space in spaces:
        names.append(space.name)
        for number, test in chosen.items():
            try:
                found[number][space.name] = _word_test(space, lists, test, seed)
            except DataError as problem:
                refused.append(f"WEAT {number}: {problem}")
    return SentenceAudit(
        Path(loaded.name).name,
        layer,
        seed,
        len(words) * len(TEMPLATES),
        tuple(names),
        found,
        tests,
        tuple(refused),
    )


def _sentence(word: str, template: str) -> tuple[str, tuple[int, int]]:
    """A sentence, capitalised, and where the word lies in it."""
    start = template.index("{}")
    text = template.format(word)
    return text[0].upper() + text[1:], (start, start + len(word))


def _by_word(vectors: SentenceVectors, key: str) -> Matrix:
    """Vectors at length 1 by word, (words, templates, hidden)."""
    matrix: Matrix = getattr(vectors, key)
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return unit.reshape(-1, len(TEMPLATES), unit.shape[1])


def _sentence_test(
    vectors: Matrix, where: Mapping[str, int], lists: Lists, test: AssociationTest, seed: int, samples: int
) -> SentenceTest:
    x, y, a, b = (vectors[[where[word] for word in dict.fromkeys(lists.weat[name])]] for name in test.sets)
    # mean cosines with all sentences of an attribute set are cosines with their mean vector, up to its length
    towards = a.mean(axis=(0, 1)) - b.mean(axis=(0, 1))
    first, second = x @ towards, y @ towards  # (words, templates)
    return SentenceTest(
        partition_test(first.ravel(), second.ravel(), seed=seed, samples=samples),
        partition_test(first.mean(axis=1), second.mean(axis=1), seed=seed, samples=samples).p,
    )


def _word_test(space: Vectors, lists: Lists, test: AssociationTest, seed: int) -> Association:
    x, y, a, b = (space.unit[locate(space, lists.weat[name], f"WEAT {name}")[0]] for name in test.sets)
    return weat(x, y, a, b, seed=seed)
