"""Dimensions by which results are broken down: one value per row, by rules on text, spans and URL, without a parser."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gapstack.data import Corpus, Example, Label, Span
from gapstack.evaluation.reweighting import balancing_weights
from gapstack.features.candidate import SurfaceRow
from gapstack.text.page_title import distinctive_tokens, shared_tokens
from gapstack.text.words import Words
from gapstack.types import Floats, Ints, Strings


class Stratum(NamedTuple):
    """A dimension: its title, and its values in order."""

    title: str
    values: tuple[str, ...]


def _ranges(*ends: int) -> tuple[str, ...]:
    """Names of ranges of integers: up to the first end, between consecutive ends, over the last."""
    inner = [f"{low + 1} to {high}" for low, high in pairwise(ends)]
    return (f"up to {ends[0]}", *inner, f"over {ends[-1]}")


_NEAR, _LENGTHS, _NAMES = (4, 9, 19), (50, 75, 100), (2, 4, 6)
_NONE_ONE_BOTH = ("neither name", "one name", "both names")

STRATA: dict[str, Stratum] = {
    "gender": Stratum("gender of the pronoun", ("masculine", "feminine", "neutral")),
    "form": Stratum("form of the pronoun", ("he", "him", "his", "she", "her", "hers")),
    "position": Stratum("pronoun before, between or after the names", ("initial", "medial", "final")),
    "distance": Stratum("words between the pronoun and the nearer name", _ranges(*_NEAR)),
    "same sentence": Stratum("names in the pronoun's sentence", _NONE_ONE_BOTH[::-1]),
    "URL overlap": Stratum("names that share a word with the page's title", _NONE_ONE_BOTH[::-1]),
    "name overlap": Stratum("words that A and B share", ("distinct", "share a word")),
    "length": Stratum("words of the text", _ranges(*_LENGTHS)),
    "names": Stratum("capitalised names in the text", _ranges(*_NAMES)),
}
"""By name."""


def distance(text: Words, one: Span, other: Span) -> int:
    """Words between two spans of a text; 0 where they touch or overlap."""
    first, second = sorted((text.word_index(one), text.word_index(other)), key=lambda at: at.start)
    return max(0, second.start - first.stop)


def strata(corpus: Corpus) -> dict[str, Strings]:
    """Value of every row in every dimension of :data:`STRATA`, (n,) each; empty where a row has none."""
    rows = [_values(example) for example in corpus]
    return {name: np.array([row[name] for row in rows], dtype=str) for name in STRATA}


def _values(example: Example) -> dict[str, str]:
    row, names = SurfaceRow(example), (example.a, example.b)
    words, title = row.words, row.title

    def step(value: int, ends: tuple[int, ...]) -> str:
        return _ranges(*ends)[int(np.searchsorted(ends, value))]

    near = [words.sentence_of[name.at[0]] == words.sentence_of[row.at] for name in (row.a, row.b)]
    titled = [title is not None and shared_tokens(example.words(name), title.title) > 0 for name in names]
    a, b = (set(distinctive_tokens(text)) for text in (example.a_text, example.b_text))
    return {
        "gender": example.gender.value,
        "form": example.pronoun_text.lower(),
        "position": ("initial", "medial", "final")[sum(name.start < example.pronoun.start for name in names)],
        "distance": step(min(distance(words, example.pronoun, name) for name in names), _NEAR),
        "same sentence": _NONE_ONE_BOTH[sum(near)],
        "URL overlap": "" if title is None else _NONE_ONE_BOTH[sum(titled)],
        "name overlap": "share a word" if a & b else "distinct",
        "length": step(len(words), _LENGTHS),
        "names": step(len(row.names), _NAMES),
    }


def names_and_ranks(corpus: Corpus) -> tuple[Ints, Ints]:
    """Number of names in each text, and rank of the right one by distance to the pronoun, from 1 (0 for NEITHER).

    Names are runs of capitalised words, and A and B; Kocijan et al. 2020 used manual annotation. Both are (n,).
    """
    counts, ranks = [], []
    for example, label in zip(corpus, corpus.labels, strict=True):
        row = SurfaceRow(example)
        spans = [row.words.span(run) for run in row.names]
        others = [span for span in spans if not (span.overlaps(example.a) or span.overlaps(example.b))]
        distances = [distance(row.words, example.pronoun, span) for span in (example.a, example.b, *others)]
        counts.append(len(distances))
        ranks.append(0 if label == Label.NEITHER else 1 + sum(d < distances[label] for d in distances))
    return np.array(counts, dtype=np.int64), np.array(ranks, dtype=np.int64)


def difficulty_weights(corpus: Corpus, most: tuple[int, int] | None = None) -> Floats:
    """Weights (n,) that balance :func:`names_and_ranks` of both genders; 0 for NEITHER. DataError if there are none.

    Values above ``most`` are joined, or single rows could carry large weights.
    """
    values = names_and_ranks(corpus)
    names, rank = np.minimum(values, np.array(most)[:, None]) if most else values
    return balancing_weights(corpus.genders, {"names": names, "rank": rank}, corpus.labels != Label.NEITHER)
