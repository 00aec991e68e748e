"""Dimensions by which results are broken down: one value per row, by rules on text, spans and URL, without a parser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gapstack.data import Corpus, Example, Label, Span
from gapstack.features.candidate import SurfaceRow
from gapstack.text.page_title import distinctive_tokens, shared_tokens
from gapstack.text.words import Words


@dataclass(frozen=True, slots=True)
class Stratum:
    """A dimension: its title, its values in order, and the function that gives a row's value ("" for none)."""

    title: str
    values: tuple[str, ...]
    value: Callable[[Example, SurfaceRow], str]


def distance(text: Words, one: Span, other: Span) -> int:
    """Words between two spans of a text; 0 where they touch or overlap."""
    first, second = sorted((text.word_index(one), text.word_index(other)), key=lambda at: at.start)
    return max(0, second.start - first.stop)


def _steps(*ends: int) -> tuple[str, ...]:
    """Names of ranges of integers: up to the first end, between consecutive ends, over the last."""
    inner = [f"{low + 1} to {high}" for low, high in pairwise(ends)]
    return (f"up to {ends[0]}", *inner, f"over {ends[-1]}")


def _step(value: int, ends: tuple[int, ...]) -> str:
    return _steps(*ends)[int(np.searchsorted(ends, value))]


_NEAR, _LENGTHS, _NAMES = (4, 9, 19), (50, 75, 100), (2, 4, 6)
_NONE_ONE_BOTH = ("neither name", "one name", "both names")


def _position(example: Example, row: SurfaceRow) -> str:
    before = (example.a.start < example.pronoun.start) + (example.b.start < example.pronoun.start)
    return ("initial", "medial", "final")[before]


def _nearest(example: Example, row: SurfaceRow) -> str:
    names = (example.a, example.b)
    return _step(min(distance(row.words, example.pronoun, name) for name in names), _NEAR)


def _same_sentence(example: Example, row: SurfaceRow) -> str:
    number = row.words.sentence_of
    return _NONE_ONE_BOTH[sum(number[name.at[0]] == number[row.at] for name in (row.a, row.b))]


def _url_overlap(example: Example, row: SurfaceRow) -> str:
    if row.title is None:
        return ""
    spans = (example.a, example.b)
    return _NONE_ONE_BOTH[sum(shared_tokens(example.words(span), row.title.title) > 0 for span in spans)]


def _name_overlap(example: Example, row: SurfaceRow) -> str:
    a, b = (set(distinctive_tokens(text)) for text in (example.a_text, example.b_text))
    return "share a word" if a & b else "distinct"


STRATA: dict[str, Stratum] = {
    "gender": Stratum(
        "gender of the pronoun",
        ("masculine", "feminine", "neutral"),
        lambda example, row: example.gender.value,
    ),
    "form": Stratum(
        "form of the pronoun",
        ("he", "him", "his", "she", "her", "hers"),
        lambda example, row: example.pronoun_text.lower(),
    ),
    "position": Stratum(
        "pronoun before, between or after the names", ("initial", "medial", "final"), _position
    ),
    "distance": Stratum("words between the pronoun and the nearer name", _steps(*_NEAR), _nearest),
    "same sentence": Stratum("names in the pronoun's sentence", _NONE_ONE_BOTH[::-1], _same_sentence),
    "URL overlap": Stratum(
        "names that share a word with the page's title", _NONE_ONE_BOTH[::-1], _url_overlap
    ),
    "name overlap": Stratum("whether A and B share a word", ("distinct", "share a word"), _name_overlap),
    "length": Stratum(
        "words of the text", _steps(*_LENGTHS), lambda example, row: _step(len(row.words), _LENGTHS)
    ),
    "names": Stratum(
        "capitalised names in the text", _steps(*_NAMES), lambda example, row: _step(len(row.names), _NAMES)
    ),
}
"""By name."""


def strata(corpus: Corpus) -> dict[str, NDArray[np.str_]]:
    """Value of every row in every dimension of :data:`STRATA`, (n,) each."""
    rows = [SurfaceRow(example) for example in corpus]
    return {
        name: np.array(
            [stratum.value(example, row) for example, row in zip(corpus, rows, strict=True)], dtype=str
        )
        for name, stratum in STRATA.items()
    }


def names_and_ranks(corpus: Corpus) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number of names in each text, (n,), and the ranks of A and B by distance to the pronoun, (n, 2), from 1.

    Names are runs of capitalised words, and A and B; Kocijan et al. 2020 used manual annotation.
    """
    counts, ranks = [], []
    for example in corpus:
        row = SurfaceRow(example)
        spans = [row.words.span(run) for run in row.names]
        others = [span for span in spans if not (span.overlaps(example.a) or span.overlaps(example.b))]
        distances = [distance(row.words, example.pronoun, span) for span in (example.a, example.b, *others)]
        counts.append(len(distances))
        ranks.append([1 + sum(d < own for d in distances) for own in distances[:2]])
    return np.array(counts, dtype=np.int64), np.array(ranks, dtype=np.int64).reshape(-1, 2)


def rank_of_answer(ranks: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rank of the right name, (n,); 0 for NEITHER."""
    named = labels != Label.NEITHER
    return np.where(named, ranks[np.arange(len(labels)), np.where(named, labels, 0)], 0)
