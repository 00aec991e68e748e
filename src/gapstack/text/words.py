"""Rule-based word and sentence splitting, for the surface features and the cues that need no parser.

The rules know GAP's typography: double quotes are pairs of ASCII marks, and ``*`` stands for a lost letter ("C*rdoba").
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from gapstack.cache import remembered
from gapstack.data import Span

# A letter is a word character (possibly with a decomposed accent) or GAP's asterisk; a lone asterisk is a mark, since
# it may be a bullet or a footnote.
_LETTER = r"[\w*\u0300-\u036f]"
_WORD = re.compile(
    rf"""
      (?:[^\W\d_]\.){{2,}}(?!\w)                # U.S., J.R.R.
    | ['\u2019](?:s|re|ve|ll|d|m)\b(?!['\u2019])  # the possessive and the clitics are separate words
    | \d+(?:[.,:]\d+)+                          # 1,500 and 3.14 and 10:45
    | (?=\*?[\w]|\*+\w){_LETTER}+               # the plain word ...
      (?:['\u2019-](?!(?:s|re|ve|ll|d|m)\b)(?=\w){_LETTER}+)*   # ... and O'Neil, Jean-Pierre
    | '' | `` | \.\.+ | --+ | \*+ | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENDS = {".", "!", "?", "...", "…"}
_CLOSERS = {")", "]", "}", "''", "``", '"', "'", "\u201d", "\u2019", "»"}
_OPENERS = {"(", "[", "{", "''", "``", '"', "'", "\u201c", "\u2018", "«"}
# Abbreviations that are followed by a name or a number.
_ABBREVIATIONS = _word_set(
    "dr mr mrs ms messrs prof rev fr br sr hon gen col capt cpt maj lt sgt cmdr cdr adm gov sen rep pres "
    "supt st ste mt ft vs no nos op vol pp ed eds cf approx c ca b d r m fl "
    "jan feb mar apr jun jul aug sep sept oct nov dec jos wm chas geo"
)
# After "Jr.", "Inc." or "U.S." a sentence ends if one of these follows.
_STARTERS = _word_set(
    "a after although an and as at but by during following for from he her his how however i if in it its on "
    "our she since so that the their then there these they this those though to under upon we when where "
    "while who why with you"
)
_TITLED_ENDS = _word_set("jr inc ltd co corp bros etc al ph.d u.s u.k a.m p.m d.c b.c a.d")


@dataclass(frozen=True)
class Words:
    """The words of one text."""

    text: str
    strings: tuple[str, ...]
    """Words, numbers and marks in order. Every character except white space lies in exactly one."""
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.strings)

    def word_index(self, span: Span) -> range:
        """Indices of the words that overlap ``span``; may be empty."""
        return range(bisect_right(self.ends, span[0]), bisect_left(self.starts, span[1]))

    def span(self, words: range) -> Span:
        """Character range from the first to the last of ``words`` (not empty)."""
        return Span(self.starts[words[0]], self.ends[words[-1]])

    @cached_property
    def lower(self) -> tuple[str, ...]:
        """The words in lower case."""
        return tuple(word.lower() for word in self.strings)

    @cached_property
    def sentences(self) -> tuple[range, ...]:
        """Word indices of each sentence: consecutive ranges that cover the text."""
        bounds = [0, *(i for i in range(1, len(self)) if self._starts_sentence(i)), len(self)]
        return tuple(range(a, b) for a, b in pairwise(bounds) if a < b)

    @cached_property
    def sentence_of(self) -> tuple[int, ...]:
        """Index of each word's sentence."""
        return tuple(number for number, words in enumerate(self.sentences) for _ in words)

    def _starts_sentence(self, i: int) -> bool:
        gap = self.text[self.ends[i - 1] : self.starts[i]]
        if not gap:
            return False
        if gap.count("\n") > 1:
            return True
        last = i - 1
        while last > 0 and self.strings[last] in _CLOSERS and self.starts[last] == self.ends[last - 1]:
            last -= 1
        end = self.strings[last]
        first = i
        while first < len(self) - 1 and self.strings[first] in _OPENERS:
            first += 1
        head = self.strings[first]
        opens = head[0].isupper() or head[0].isdigit() or (head[0] == "*" and len(head) > 1)
        if not opens:
            return False
        if end in _ENDS or (end.startswith("..") and end.strip(".") == ""):
            return end != "." or last == 0 or self._full_stop(last, first)
        # an acronym carries its full stop inside
        return end.endswith(".") and self.lower[first] in _STARTERS

    def _full_stop(self, stop: int, following: int) -> bool:
        """True if the "." at word ``stop`` ends a sentence, if word ``following`` would open the next one."""
        if self.starts[stop] != self.ends[stop - 1]:
            return True
        before, lower = self.strings[stop - 1], self.lower[stop - 1]
        if (len(before) == 1 and before.isupper() and before != "I") or lower in _TITLED_ENDS:
            return self.lower[following] in _STARTERS
        # "no." is a word too: as an abbreviation it stands before a number
        is_word = lower == "no" and not self.strings[following][0].isdigit()
        return lower not in _ABBREVIATIONS or is_word


@remembered(32768)
def words(text: str) -> Words:
    """Split ``text`` into words (cached)."""
    return split(text)


def split(text: str) -> Words:
    """Split ``text`` into words; a long one may be too much to remember."""
    spans = [match.span() for match in _WORD.finditer(text)]
    return Words(
        text=text,
        strings=tuple(text[start:end] for start, end in spans),
        starts=tuple(start for start, _ in spans),
        ends=tuple(end for _, end in spans),
    )
