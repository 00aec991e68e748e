"""Rows that training data give away: the same row, page, text or passage on both sides."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus.corpus import Corpus
from gapstack.corpus.extra.overlap import shared_passages


def shared_with(corpus: Corpus, other: Corpus) -> dict[str, NDArray[np.bool_]]:
    """Say which rows of ``corpus`` have something that ``other`` has too: (n,) booleans by what it is.

    ``id``, ``page`` (the same URL), ``text`` (the same letters) and ``passage`` (a run of thirteen words).
    """

    def among(ours: list[str | None], theirs: list[str | None]) -> NDArray[np.bool_]:
        known = {value for value in theirs if value}
        return np.array([value in known for value in ours], dtype=bool)

    return {
        "id": among([*corpus.ids], [*other.ids]),
        "page": among([example.url for example in corpus], [example.url for example in other]),
        "text": among([*corpus.texts], [*other.texts]),
        "passage": shared_passages(corpus, other),
    }


def leaks(corpus: Corpus, other: Corpus) -> list[str]:
    """What ``other`` gives away of ``corpus``, in words; nothing where they share nothing."""
    words = {
        "id": "have an id",
        "page": "are of a page",
        "text": "have a text",
        "passage": "have thirteen words in a row",
    }
    found = {kind: int(rows.sum()) for kind, rows in shared_with(corpus, other).items()}
    return [
        f"{count:,} of {len(corpus):,} rows {words[kind]} that {other.name} has too"
        for kind, count in found.items()
        if count
    ]
