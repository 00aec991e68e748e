"""Rows that a predictor has learned from, and rows that two corpora share: a score on them means nothing.

A fitted predictor knows rows by their ids alone. Two corpora are compared by ids, pages, texts and passages.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from gapstack.data.corpus import Corpus

_log = logging.getLogger(__name__)
_IDS = {f"gap-{split}": re.compile(rf"{split}-\d+") for split in ("development", "test", "validation")}
_IDS["gap-stage2"] = re.compile(r"[0-9a-f]{32}")


def known_test_sets(ids: Iterable[str]) -> tuple[str, ...]:
    """Names of the test sets, GAP's splits and its second stage, that some of these rows belong to."""
    rows = list(ids)
    return tuple(name for name, pattern in _IDS.items() if any(map(pattern.fullmatch, rows)))


def warn_of_contamination(contaminated_by: Iterable[str], ids: Sequence[str]) -> None:
    """Log a warning if a predictor has learned from some of these rows.

    Parameters
    ----------
    contaminated_by : iterable of str
        The predictor's (:attr:`gapstack.members.predictor.Predictor.contaminated_by`).
    ids : sequence of str
        Ids of the rows to predict.
    """
    known = [name for name in contaminated_by if name in _IDS]
    shared = {name: sum(bool(_IDS[name].fullmatch(one)) for one in ids) for name in known}
    shared = {name: count for name, count in shared.items() if count}
    if not shared:
        return
    soft = " (soft labels of these rows were trained on)" if "gap-stage2" in shared else ""
    _log.warning(
        "the predictor learned from data that share rows with %s, and %s of these %s rows have its ids%s. "
        "A score on them means nothing",
        *(", ".join(shared), f"{sum(shared.values()):,}", f"{len(ids):,}", soft),
    )


def shared_with(corpus: Corpus, other: Corpus) -> dict[str, NDArray[np.bool_]]:
    """Rows of ``corpus`` that ``other`` has too, (n,) bool by kind of overlap.

    ``id``, ``page`` (the same URL), ``text`` (the same characters) and ``passage`` (a run of thirteen words).
    """

    def among(values: list[str | None], others: list[str | None]) -> NDArray[np.bool_]:
        known = {value for value in others if value}
        return np.array([value in known for value in values], dtype=bool)

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


def shared_passages(corpus: Corpus, other: Corpus, words: int = 13) -> NDArray[np.bool_]:
    """Find the rows of ``corpus`` with a run of words that some text of ``other`` has too, as (n,) bool.

    Case and punctuation do not count. Thirteen words is the usual measure of contamination (Brown et al. 2020,
    appendix C); schemas of one sentence are distinguished with 8.
    """
    vocabulary: dict[str, int] = {}
    ours, rows = _word_numbers(corpus.texts, vocabulary)
    theirs, others = _word_numbers(list(dict.fromkeys(other.texts)), vocabulary)
    # 64-bit hashes: two million of them collide by chance once in ten million runs
    keys = np.random.default_rng(0).integers(0, 2**64, size=len(vocabulary) + 1, dtype=np.uint64)
    here, of_row = _passages(keys[ours], rows, words)
    there, _ = _passages(keys[theirs], others, words)
    shared = np.zeros(len(corpus), dtype=bool)
    shared[of_row[np.isin(here, there)]] = True
    return shared


def _word_numbers(
    texts: list[str], vocabulary: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number of each word of all texts in order (w,), and its text (w,); new words are added."""
    split = [re.findall(r"\w+", text.lower()) for text in texts]
    numbers = [vocabulary.setdefault(word, len(vocabulary)) for words in split for word in words]
    rows = np.repeat(np.arange(len(texts)), [len(words) for words in split])
    return np.array(numbers, dtype=np.int64), rows


def _passages(
    keys: NDArray[np.uint64], rows: NDArray[np.int64], words: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Hash of every run of ``words`` words within a text, and its text."""
    count = max(0, len(keys) - words + 1)
    hashes = np.zeros(count, dtype=np.uint64)
    for k in range(words):
        hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + keys[k : k + count]
    inside = rows[:count] == rows[words - 1 : words - 1 + count]
    return hashes[inside], rows[:count][inside]
