"""Leakage between two corpora: rows with a common id, page, text or passage."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus.corpus import Corpus
from gapstack.corpus.extra.overlap import shared_passages


def shared_with(corpus: Corpus, other: Corpus) -> dict[str, NDArray[np.bool_]]:
    """Rows of ``corpus`` that ``other`` has too, (n,) bool by kind of overlap.

    ``id``, ``page`` (the same URL), ``text`` (the same characters) and ``passage`` (a run of thirteen words).
    """

    def among(values: list[str | None], others: list[str | None]) -> NDArray[np.bool_]:
        theirs = {value for value in others if value}
        return np.array([value in theirs for value in values], dtype=bool)

    return {
        "id": among([*corpus.ids], [*other.ids]),
        "page": among([example.url for example in corpus], [example.url for example in other]),
        "text": among([*corpus.texts], [*other.texts]),
        "passage": shared_passages(corpus, other),
    }


def leaks(corpus: Corpus, other: Corpus) -> list[str]:
    """Describe the overlap of ``corpus`` with ``other``, one line for each kind; empty without overlap."""
    words = {
        "id": "have an id",
        "page": "are of a page",
        "text": "have a text",
        "passage": "have thirteen words in a row",
    }
    return [
        f"{rows.sum():,} of {len(corpus):,} rows {words[kind]} that {other.name} has too"
        for kind, rows in shared_with(corpus, other).items()
        if rows.any()
    ]
