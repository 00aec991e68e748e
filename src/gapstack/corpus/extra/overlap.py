"""Whether two corpora share passages: the check behind every contamination record."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus.corpus import Corpus


def shared_passages(corpus: Corpus, other: Corpus, words: int = 13) -> NDArray[np.bool_]:
    """Find the rows of ``corpus`` with a run of words that some text of ``other`` has too.

    Case and marks do not count. Thirteen words is the usual measure of contamination (Brown et al. 2020,
    appendix C); schemas of one sentence are told apart with 8.

    Returns
    -------
    array
        (n,) booleans, True where a passage is shared: ``corpus.take(np.flatnonzero(~shared))`` is without it.
    """
    vocabulary: dict[str, int] = {}
    ours, rows = _word_numbers(corpus.texts, vocabulary)
    theirs, others = _word_numbers(list(dict.fromkeys(other.texts)), vocabulary)
    # Passages are compared by 64-bit hashes: two million of them collide by chance once in ten million runs.
    keys = np.random.default_rng(0).integers(0, 2**64, size=len(vocabulary) + 1, dtype=np.uint64)
    here, of_row = _passages(keys[ours], rows, words)
    there, _ = _passages(keys[theirs], others, words)
    shared = np.zeros(len(corpus), dtype=bool)
    shared[of_row[np.isin(here, there)]] = True
    return shared


def _word_numbers(
    texts: list[str], vocabulary: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number of each word of all texts in order (w,), and the text that it is in (w,); new words are added."""
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
