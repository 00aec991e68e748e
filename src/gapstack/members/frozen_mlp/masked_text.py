"""The five zeros' input texts: lost letters repaired, names replaced by the mask."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from gapstack.corpus import Example
from gapstack.corpus.augment import Replacement, edit
from gapstack.encoding.encoders import Encoder
from gapstack.errors import MemberError

_GARBLED = re.compile(r"[^\W\d_]*(?:\*[^\W\d_]*)+")
# "a*" matches any word of two letters
_FEWEST_LETTERS = 2
_WORD_STARTS = "\u0120\u2581"
"""Marks of a word's first piece in byte-pair and sentence-piece vocabularies."""


def mask_names(example: Example, encoder: Encoder) -> Example:
    """Replace A and B by the encoder's mask token; other occurrences of the names stay.

    Raises
    ------
    MemberError
        If the encoder has no mask token.
    """
    mask: str | None = encoder.tokenizer.mask_token
    if mask is None:
        raise MemberError(
            f"encoder {encoder.name} has no mask token to hide names behind; name one that was trained as a "
            "masked language model"
        )
    return edit(example, [Replacement(span.start, span.end, mask) for span in (example.a, example.b)])


def repair_stars(example: Example, encoder: Encoder) -> Example:
    """Replace each ``*``, which GAP has where Wikipedia had an accented letter.

    A word becomes the first of the encoder's vocabulary (the most frequent words come first) that matches it with any
    letter for each ``*``, case-sensitively if possible. Words without a match, or with fewer than two letters, stay.
    """
    if "*" not in example.text:
        return example
    return edit(example, _letters(example.text, encoder))


def _letters(text: str, encoder: Encoder) -> Iterator[Replacement]:
    """Replacements of single letters, so that a mention may end inside the word."""
    for match in _GARBLED.finditer(text):
        word = match.group()
        repaired = _match(encoder, word)
        if repaired is not None:
            for place, letter in enumerate(word):
                if letter == "*":
                    at = match.start() + place
                    yield Replacement(at, at + 1, repaired[place])


@lru_cache(maxsize=4096)
def _match(encoder: Encoder, garbled: str) -> str | None:
    if len(garbled) - garbled.count("*") < _FEWEST_LETTERS:
        return None
    for form in dict.fromkeys((garbled, garbled.lower())):
        pattern = re.compile(re.escape(form).replace(r"\*", "."))
        match = next((word for word in _words(encoder).get(len(form), ()) if pattern.fullmatch(word)), None)
        if match is not None:
            return match
    return None


@lru_cache(maxsize=2)
def _words(encoder: Encoder) -> dict[int, list[str]]:
    """Words of the vocabulary that are letters alone, by length, in the vocabulary's order."""
    vocabulary: dict[str, int] = encoder.tokenizer.get_vocab()
    marked = any(token[:1] in _WORD_STARTS for token in vocabulary if token)
    words: dict[int, list[str]] = {}
    for token in sorted(vocabulary, key=vocabulary.__getitem__):
        word = token.lstrip(_WORD_STARTS)
        # where first pieces are marked, the others are continuations, as those with "##" are elsewhere
        if word.isalpha() and (word != token or not marked):
            words.setdefault(len(word), []).append(word)
    return words
