"""Words and sentences by rules, for features and cues without a parser; tokens of names and of page titles.

The rules know GAP's typography: double quotes are pairs of ASCII marks, and ``*`` stands for a lost letter ("C*rdoba").
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from urllib.parse import unquote, urlsplit

from gapstack.data import Span
from gapstack.data.person_words import ABBREVIATIONS

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
_ABBREVIATIONS = ABBREVIATIONS | _word_set(
    "ste mt ft vs no nos op vol pp ed eds cf approx c ca b d r m fl "
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
        """True if the "." at word ``stop`` ends a sentence; the word ``following`` would begin the next one."""
        if self.starts[stop] != self.ends[stop - 1]:
            return True
        before, lower = self.strings[stop - 1], self.lower[stop - 1]
        if (len(before) == 1 and before.isupper() and before != "I") or lower in _TITLED_ENDS:
            return self.lower[following] in _STARTERS
        # "no." is a word too: as an abbreviation it stands before a number
        is_word = lower == "no" and not self.strings[following][0].isdigit()
        return lower not in _ABBREVIATIONS or is_word


@lru_cache(maxsize=32768)
def words(text: str) -> Words:
    """Split ``text`` into words (cached)."""
    return split(text)


def split(text: str) -> Words:
    """Split ``text`` into words without caching them, for long texts."""
    spans = [match.span() for match in _WORD.finditer(text)]
    return Words(
        text=text,
        strings=tuple(text[start:end] for start, end in spans),
        starts=tuple(start for start, _ in spans),
        ends=tuple(end for _, end in spans),
    )


_QUALIFIED = re.compile(r"^(?P<title>.*\S)\s*\((?P<qualifier>[^()]*(?:\([^()]*\))?[^()]*)\)$")
_TOKEN = re.compile(r"[\w*]+(?:['\u2019][\w*]+)*")
# Letters without a Unicode decomposition.
_PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\u0131": "i"}
    | {"\u2018": "'", "\u2019": "'"}
)
# Words that names and titles share by accident.
_PARTICLE_LIST = (
    "a an and the of in on at to for by de da do dos das del della der den des di du el la las le les los "
    "y e von van zu al ibn bin ben af av ap"
)
_PARTICLES = frozenset(_PARTICLE_LIST.split())


@dataclass(frozen=True)
class PageTitle:
    """A page's title; ``qualifier`` is the content of a trailing parenthesis ("politician"), or None."""

    title: str
    qualifier: str | None = None


@lru_cache(maxsize=32768)
def page_title(url: str | None) -> PageTitle | None:
    """Title of a wiki page by its URL; None without a URL or page name."""
    if not url:
        return None
    path = urlsplit(url).path
    # titles may have slashes ("AC/DC"), so everything after /wiki/ is the title
    slug = path.split("/wiki/", 1)[1] if "/wiki/" in path else path.rsplit("/", 1)[-1]
    title = unquote(slug).replace("_", " ").strip()
    if not title:
        return None
    match = _QUALIFIED.match(title)
    return PageTitle(match["title"], match["qualifier"]) if match else PageTitle(title)


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """Lower-case ``text`` and remove accents; ``*`` stays."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c)).translate(_PLAIN)


@lru_cache(maxsize=65536)
def tokens(text: str) -> tuple[str, ...]:
    """Folded word tokens of a name or title, split at hyphens and without the possessive 's."""
    return tuple(token.removesuffix("'s") for token in _TOKEN.findall(fold(text)))


@lru_cache(maxsize=65536)
def same_token(left: str, right: str) -> bool:
    """True if two folded tokens are equal, where ``*`` in either stands for a lost letter (one or two characters)."""
    if left == right:
        return True
    return _matches(left, right) or _matches(right, left)


def _matches(garbled: str, whole: str) -> bool:
    if "*" not in garbled or not garbled.strip("*"):
        return False
    return re.fullmatch(re.escape(garbled).replace(r"\*", r"[\w*]{1,2}"), whole) is not None


@lru_cache(maxsize=65536)
def distinctive_tokens(text: str) -> tuple[str, ...]:
    """Tokens of a name without particles and initials; all tokens if nothing else is left."""
    all_tokens = tokens(text)
    return tuple(token for token in all_tokens if len(token) > 1 and token not in _PARTICLES) or all_tokens


def shared_tokens(name: str, title: str) -> int:
    """Number of the name's distinctive tokens that occur in ``title``."""
    title_tokens = distinctive_tokens(title)
    return sum(any(same_token(token, other) for other in title_tokens) for token in distinctive_tokens(name))


def same_name(name: str, title: str) -> bool:
    """True if ``name`` equals ``title``, ignoring case and accents."""
    left, right = tokens(name), tokens(title)
    return 0 < len(left) == len(right) and all(map(same_token, left, right))
