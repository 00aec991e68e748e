"""Offsets of a cleaned text, or of tokens, as offsets of the original.

Both texts are cut into words and single marks, matched case-blind by :class:`difflib.SequenceMatcher`; what it calls
replaced (*wouldn't* by *would not*, a bracket by ``-LRB-``) is matched again character by character. Blanks are never
matched, so that tokens with blanks between them align as well as running text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus.example import Span

_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Alignment:
    """Where each character of a text lies in the original.

    Attributes
    ----------
    places : (n,) int64
        Place in the original of each of n characters; -1 where it has none.
    similarity : float
        Twice the matched characters over all characters of both texts, blanks left out: 1 for equal texts.
    """

    places: NDArray[np.int64]
    similarity: float

    def span(self, span: Span) -> Span | None:
        """Give the original's range from the first to the last character that has a place; None if none has.

        A range over twice as long as the span, and 8 more, is another mention: None too.
        """
        places = self.places[span.start : span.end]
        places = places[places >= 0]
        if not len(places):
            return None
        start, end = int(places[0]), int(places[-1]) + 1
        return Span(start, end) if end - start <= 2 * (span.end - span.start) + 8 else None


def align(text: str, original: str) -> Alignment:
    """Align a text to the original that it was made from; O(words squared) at worst, milliseconds for GAP's."""
    if text == original:
        return Alignment(np.arange(len(text), dtype=np.int64), 1.0)
    places = np.full(len(text), -1, dtype=np.int64)
    ours, theirs = (list(_WORD.finditer(one)) for one in (text, original))
    words = SequenceMatcher(
        None, [word[0].casefold() for word in ours], [word[0].casefold() for word in theirs], autojunk=False
    )
    for kind, i1, i2, j1, j2 in words.get_opcodes():
        if kind == "equal":
            for word, other in zip(ours[i1:i2], theirs[j1:j2], strict=True):
                width = min(word.end() - word.start(), other.end() - other.start())
                places[word.start() : word.start() + width] = other.start() + np.arange(width)
        elif kind == "replace":
            start, begin = ours[i1].start(), theirs[j1].start()
            mine, its = text[start : ours[i2 - 1].end()], original[begin : theirs[j2 - 1].end()]
            letters = SequenceMatcher(str.isspace, mine.lower(), its.lower(), autojunk=False)
            for i, j, size in letters.get_matching_blocks():
                places[start + i : start + i + size] = begin + j + np.arange(size)
    visible = np.array([not letter.isspace() for letter in text], dtype=bool)
    matched = int((places[visible] >= 0).sum()) if len(visible) else 0
    whole = int(visible.sum()) + sum(not letter.isspace() for letter in original)
    return Alignment(places, 2 * matched / whole if whole else 1.0)
