"""Word pieces of a passage: ids for the encoder, characters, word boundaries, case, and the other gender's pronouns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from unicodedata import combining

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from gapstack.files import read_bytes
from gapstack.types import Ints

CASES = 4
"""Kinds of case: lower, capitalised, capitals, no letters."""
_SWAPPED = {"he": "she", "she": "he", "him": "her", "himself": "herself", "herself": "himself", "hers": "his"}
_NO_NOUNS = """
and or but to for with in on at of by from as that than when while if because so who was were is had
has would again back up out down off away about into after before until not the a an this these
those it he she they i you we
"""
_ALONE = frozenset(_NO_NOUNS.split())
"""Words that do not follow a possessive *her*."""


@dataclass(frozen=True)
class WordPieces:
    """Pieces of a passage."""

    ids: Ints
    """Vocabulary ids (n,)."""
    tokens: list[str]
    """As the vocabulary writes them."""
    spans: Ints
    """Characters of each piece in the passage (n, 2)."""
    case: Ints
    """Kind of case of each piece's word (n,)."""

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def begins(self) -> NDArray[np.bool_]:
        """True where a word begins (n,)."""
        # an underscore joins words: "PERSON_1"
        joined = [
            start == end and "_" in (token, before)
            for (start, _), (_, end), token, before in zip(
                self.spans[1:].tolist(), self.spans.tolist(), self.tokens[1:], self.tokens, strict=False
            )
        ]
        inside = np.array([False, *joined], dtype=np.bool_)[: len(self)]
        return ~inside & np.array([not token.startswith("##") for token in self.tokens], dtype=np.bool_)

    @cached_property
    def ends(self) -> NDArray[np.bool_]:
        """True where a word ends (n,)."""
        return np.append(self.begins[1:], True)[: len(self)]


class WordPieceTokenizer:
    """The encoder's tokenizer, which reads text in lower case."""

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        known = {token: tokenizer.token_to_id(token) for token in (*_SWAPPED, "his", "her", "<s>", "</s>")}
        self._id = {token: number for token, number in known.items() if number is not None}
        self.first, self.last = self._id["<s>"], self._id["</s>"]

    @classmethod
    def load(cls, path: Path) -> WordPieceTokenizer:
        """Read a ``tokenizer.json``."""
        return cls(Tokenizer.from_str(read_bytes(path).decode()))

    def split(self, text: str) -> WordPieces:
        """Pieces of a passage, without special tokens."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        spans = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        if any(map(combining, text)):
            # the tokenizer drops combining accents, which belong to the letter before them
            spans[:, 1] = [_after_accents(text, end) for end in spans[:, 1].tolist()]
        case = [_case(text[start:end]) for start, end in encoding.offsets]
        for i, token in enumerate(encoding.tokens):
            if i and token.startswith("##"):
                case[i] = case[i - 1]
        return WordPieces(
            np.array(encoding.ids, dtype=np.int64), encoding.tokens, spans, np.array(case, dtype=np.int64)
        )

    def swapped(self, pieces: WordPieces) -> Ints:
        """Ids with the other gender's pronouns in place of *he* and *she*."""
        ids = pieces.ids.copy()
        following = [*pieces.tokens, ""][1:]
        for i, (token, then) in enumerate(zip(pieces.tokens, following, strict=True)):
            possesses = then.isalpha() and then not in _ALONE
            if token in _SWAPPED:
                ids[i] = self._id[_SWAPPED[token]]
            elif token == "her":
                ids[i] = self._id["his" if possesses else "him"]
            elif token == "his":
                ids[i] = self._id["her" if possesses else "hers"]
        return ids


def _after_accents(text: str, end: int) -> int:
    """The first place from ``end`` on without a combining accent."""
    while end < len(text) and combining(text[end]):
        end += 1
    return end


def _case(word: str) -> int:
    if word.islower():
        return 0
    if word.isupper() and len(word) > 1:
        return 2
    return 1 if word[:1].isupper() else 3
