"""Sentence encoder association tests (SEAT): May, Wang, Bordia, Bowman and Rudinger 2019, NAACL.

WEAT (Caliskan et al. 2017) on sentences: each word of the word sets is put into sentences with little content of
their own, and the test compares cosines of the sentences' vectors.

- The vector of a sentence is that of its first piece in the last layer ([CLS], as the paper takes it for BERT), or the
  mean of its pieces (how the embedded MiniLM was trained to represent sentences). Tan and Celis 2019 take the word's
  own vector in its context instead.
- p-values by sentences are the paper's: random partitions of all target sentences. They treat the sentences of one
  word as independent, which they are not; p-values by words exchange whole words, whose sentences are averaged.
- The paper has templates for each part of speech. Here every word is put into the same six :data:`TEMPLATES`.

A test can find an association; if it finds none, that does not show that there is none (section 5 of the paper).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.audits.embeddings.weat import ASSOCIATION_TESTS, Association, partition_test, weat
from gapstack.data.word_lists import Lists
from gapstack.display.render import Cell, Column, Section, Table
from gapstack.encoding.activations import sentence_vectors
from gapstack.encoding.encoders import load_encoder
from gapstack.encoding.static_vectors import Vectors
from gapstack.encoding.word_gender import locate
from gapstack.errors import DataError
from gapstack.evaluation import holm
from gapstack.files import write_json, write_text
from gapstack.types import Matrix

TEMPLATES = ("This is {}.", "That is {}.", "There is {}.", "Here is {}.", "{} is here.", "{} is there.")
"""Sentences that each word is put into."""
REPRESENTATIONS = ("first", "mean", "word")
"""Vectors of :class:`~gapstack.encoding.activations.SentenceVectors` that are tested."""
WIDTH = 140
_LEVEL = 0.05


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
    refused: tuple[str, ...] = ()


def audit_sentences(
    lists: Lists,
    encoder: str | None = None,
    spaces: Iterable[Vectors] = (),
    *,
    layer: int = -1,
    seed: int = 0,
    samples: int = 100_000,
) -> SentenceAudit:
    """Run every test whose word sets are in the lists on an encoder, and on spaces of static vectors.

    ``layer`` counts from 0 (embeddings) up or from -1 (the last) down; ``seed`` and ``samples`` are those of the random
    partitions. Tests of which a space covers too little are refused with the reason. Raises DataError if the lists have
    the words of no test.
    """
    chosen = {number: test for number, test in ASSOCIATION_TESTS.items() if set(test.sets) <= set(lists.weat)}
    if not chosen:
        raise DataError("the word lists have the sets of no test", expected="those of Caliskan et al. 2017")
    loaded = load_encoder(encoder)
    words = sorted({word for test in chosen.values() for name in test.sets for word in lists.weat[name]})
    vectors = sentence_vectors([_sentence(word, text) for word in words for text in TEMPLATES], loaded, layer)
    place = {word: index for index, word in enumerate(words)}
    tests: dict[str, dict[str, SentenceTest]] = {number: {} for number in chosen}
    for key in REPRESENTATIONS:
        matrix: Matrix = getattr(vectors, key)
        unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
        by_word = unit.reshape(-1, len(TEMPLATES), unit.shape[1])  # (words, templates, hidden)
        for number, test in chosen.items():
            x, y, a, b = (by_word[[place[w] for w in dict.fromkeys(lists.weat[name])]] for name in test.sets)
            # mean cosines with all sentences of an attribute set are cosines with their mean vector, up to its length
            towards = a.mean(axis=(0, 1)) - b.mean(axis=(0, 1))
            first, second = x @ towards, y @ towards  # (words, templates)
            tests[number][key] = SentenceTest(
                partition_test(first.ravel(), second.ravel(), seed=seed, samples=samples),
                partition_test(first.mean(axis=1), second.mean(axis=1), seed=seed, samples=samples).p,
            )
    found: dict[str, dict[str, Association]] = {number: {} for number in chosen}
    refused, names = [], []
    for space in spaces:
        names.append(space.name)
        for number, test in chosen.items():
            try:
                sets = [space.unit[locate(space, lists.weat[name], f"WEAT {name}")[0]] for name in test.sets]
            except DataError as problem:
                refused.append(f"WEAT {number}: {problem}")
            else:
                found[number][space.name] = weat(*sets, seed=seed)
    name, count = Path(loaded.name).name, len(words) * len(TEMPLATES)
    return SentenceAudit(name, layer, seed, count, tuple(names), found, tests, tuple(refused))


def _sentence(word: str, template: str) -> tuple[str, tuple[int, int]]:
    """A sentence, capitalised, and where the word lies in it."""
    start = template.index("{}")
    text = template.format(word)
    return text[0].upper() + text[1:], (start, start + len(word))


def sentences_table(found: SentenceAudit) -> Table:
    """One row for each test; an effect is starred where its p-value, corrected over the column, is below 0.05."""
    columns: list[Column] = []
    rows: dict[str, dict[str, Cell]] = {number: {} for number in found.tests}

    def add(key: str, title: str, tests: Mapping[str, Association]) -> None:
        columns.extend([Column(key, title), Column(f"{key}_p", "p")])
        corrected = holm([test.p for test in tests.values()])
        for (number, test), p in zip(tests.items(), corrected, strict=True):
            effect = f"{test.effect:+.2f}{'*' if p < _LEVEL else ' '}"
            rows[number] |= {key: effect, f"{key}_p": _p_value(test.p)}

    for place, name in enumerate(found.spaces, 1):
        words = {number: spaces[name] for number, spaces in found.words.items() if name in spaces}
        add(f"space{place}", f"WEAT {place}", words)
    for key in REPRESENTATIONS:
        add(key, key, {number: tests[key].association for number, tests in found.tests.items()})
        columns.append(Column(f"{key}_p_words", "words"))
        for number, tests in found.tests.items():
            rows[number][f"{key}_p_words"] = _p_value(tests[key].p_words)
    sections = []
    for heading, gender in (("gender", True), ("other associations, for comparison", False)):
        numbers = [number for number in rows if ASSOCIATION_TESTS[number].gender == gender]
        own = [(f"{number}: {ASSOCIATION_TESTS[number].title}", rows[number]) for number in numbers]
        sections += [Section(heading, own)] if own else []
    layer = "last layer" if found.layer == -1 else f"layer {found.layer}"
    title = "Association tests (Caliskan et al. 2017) of sentences (SEAT, May et al. 2019)"
    caption = (
        f"{''.join(f'WEAT {number}: {name}. ' for number, name in enumerate(found.spaces, 1))}"
        "Effect sizes d in standard deviations, and one-sided p by partitions of the targets. "
        f"{found.sentences:,} sentences: each word in {' '.join(TEMPLATES).replace('{}', '_')} SEAT compares "
        "their first piece, the mean of their pieces, or the word's own pieces. p is by sentences, as in the "
        "paper, which takes those of a word as independent; words: p where whole words are exchanged. "
        f"* p < {_LEVEL:g} after Holm's correction over the column; - where a space lacks most words of a set. "
        f"Seed {found.seed}."
    )
    return Table(
        columns, sections, f"{title}: {found.encoder}, {layer}", caption, "test: targets: attributes"
    )


def sentences_json(found: SentenceAudit) -> dict[str, Any]:
    """Unrounded figures, for ``json.dumps``."""
    return {
        "encoder": found.encoder,
        "layer": found.layer,
        "seed": found.seed,
        "sentences": found.sentences,
        "templates": list(TEMPLATES),
        "tests": {
            number: {
                **ASSOCIATION_TESTS[number]._asdict(),
                "words": {name: one._asdict() for name, one in found.words[number].items()},
                "sentences": {
                    key: one.association._asdict() | {"p_words": one.p_words} for key, one in by_key.items()
                },
            }
            for number, by_key in found.tests.items()
        },
        "refused": list(found.refused),
    }


def write_sentences(found: SentenceAudit, folder: Path) -> list[Path]:
    """Write ``sentences.txt`` and ``sentences.json`` to ``folder``; return their paths."""
    paths = [Path(folder) / "sentences.txt", Path(folder) / "sentences.json"]
    write_text(paths[0], sentences_table(found).text(WIDTH))
    write_json(paths[1], sentences_json(found))
    return paths


def _p_value(value: float) -> str:
    return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
