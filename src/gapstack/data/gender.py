"""Gender of first names and words, and texts with their gender swapped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from gapstack.data.cells import Row, read_table
from gapstack.data.example import Example, Replacement, edit, fits
from gapstack.data.person_words import ABBREVIATIONS, GENDER_BY_FORM, HE, MEMBER_TITLES, SHE, WORDS, Gender
from gapstack.data.sources import file_of

# Krige's canonical pronouns (systems of 2019, team Ionita et al.): his and him have one form.
_FEMININE = {"he": "she", "him": "her", "his": "her", "hers": "her", "himself": "herself"}
COMMON_FIRST_NAMES = Path(__file__).with_name("first_names.tsv")
"""Common first names by gender, written by ``scripts/first_names.py``."""
_NAME_COLUMNS = ("name", "count-F", "count-M", "pct-F", "first-year", "last-year")
_MIN_SHARE = 0.95  # least share of one sex among the bearers of a first name
_MIN_BEARERS = 1000  # rarer names are often surnames


class FirstNames(NamedTuple):
    """Gender of first names, and each name's partner: the equally frequent name of the other gender."""

    genders: Mapping[str, Gender]  # names of which at least 95% of the bearers have one recorded sex
    partners: Mapping[str, str]  # the k-th most frequent masculine and feminine names are partners

    @classmethod
    def of(cls, masculine: Sequence[str], feminine: Sequence[str]) -> FirstNames:
        """Build from two disjoint lists of names in order of frequency."""
        genders = dict.fromkeys(masculine, Gender.MASCULINE) | dict.fromkeys(feminine, Gender.FEMININE)
        return cls(genders, _both_ways(zip(masculine, feminine, strict=False)))


def _both_ways(pairs: Iterable[Sequence[str]]) -> dict[str, str]:
    return {key: value for pair in pairs for key, value in (pair, pair[::-1])}


def first_names(bearers: int = _MIN_BEARERS) -> FirstNames:
    """Read the US Social Security names of 1880 to 2018 with at least this many bearers."""
    return _read_first_names(file_of("names", "ssa_first_names_by_gender.csv"), bearers)


@lru_cache(maxsize=4)
def _read_first_names(path: Path, bearers: int) -> FirstNames:
    def parse(row: Row) -> tuple[str, int, int]:
        return row["name"], int(row["count-M"]), int(row["count-F"])

    ranked: tuple[list[tuple[int, str]], list[tuple[int, str]]] = ([], [])
    for name, *counts in read_table(path, (_NAME_COLUMNS,), parse, separator=","):
        most = max(counts)
        if most >= bearers and most >= _MIN_SHARE * sum(counts):
            ranked[counts.index(most)].append((-most, name))
    return FirstNames.of(*([name for _, name in sorted(names)] for names in ranked))


@lru_cache(maxsize=1)
def common_first_names() -> Mapping[str, Gender]:
    """Genders of common first names by capitalised name, from the list in this package."""
    genders: dict[str, Gender] = {}
    for line in COMMON_FIRST_NAMES.read_text(encoding="utf-8").splitlines():
        gender, _, names = line.partition("\t")
        genders |= dict.fromkeys(names.split(), Gender(gender))
    return genders


def swap_gender(example: Example, *, names: FirstNames | None = None) -> Example:
    """Swap masculine and feminine words in the whole text: pronouns, titles, kinship terms and gendered nouns.

    "her" becomes "his" before a noun phrase and "him" elsewhere; "his" becomes "her" or "hers" by the same rule.
    Swapping twice restores the text unless it has a "Ms" or "Miss" (both become "Mr"), or a "her" or "his" that the
    rule misreads. With ``names``, the first names of A and B are replaced by their partners, too, unless the text uses
    the word as a surname ("Elizabeth Taylor").
    """
    replacements = {
        start: Replacement(start, end, new)
        for start, end in _words(example)
        if (new := _swapped_word(example.text, start, end)) is not None
    }
    swapped_names = {each.start: each for each in (_swapped_names(example, names) if names else ())}
    return edit(example, (swapped_names | replacements).values())


def feminise(example: Example) -> Example:
    """Replace masculine pronouns by feminine ones (Krige): he by she, his, him and hers by her, himself by herself."""
    words = ((start, end, example.text[start:end]) for start, end in _words(example))
    return edit(
        example,
        [
            (start, end, _with_case_of(word, _FEMININE[word.lower()]))
            for start, end, word in words
            if word.lower() in _FEMININE
        ],
    )


def _words(example: Example) -> Iterator[tuple[int, int]]:
    """Spans of the text's words; a word that crosses a span's boundary ("him-up") is cut to the part in the span."""
    for match in WORD.finditer(example.text):
        start, end = match.span()
        if fits(example, start, end):
            yield start, end
            continue
        for span in sorted((example.pronoun, example.a, example.b)):
            for inside in WORD.finditer(example.text, max(start, span.start), min(end, span.end)):
                yield inside.span()


def _swapped_names(example: Example, names: FirstNames) -> Iterator[Replacement]:
    text, to_swap = example.text, set()
    for span in (example.a, example.b):
        words = (match.group() for match in WORD.finditer(text, *span))
        first = next((word for word in words if word not in _FORMS_OF_ADDRESS), None)
        if first in names.partners:
            to_swap.add(first)
    if not to_swap:
        return
    places = list(_words(example))
    for (before, before_end), (start, end) in pairwise(places):
        if text[before_end:start] == " " and text[before:before_end].rpartition("-")[2] in names.genders:
            to_swap.discard(text[start:end])  # used as a surname
    for start, end in places:
        if text[start:end] in to_swap:
            yield Replacement(start, end, names.partners[text[start:end]])


WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
"""A word of letters and inner hyphens; an apostrophe ends it, so the word in "king's" is "king"."""

# Each form is the partner of one, so that swapping twice restores the word. Words with more frequent other meanings
# ("to count", "a host of", "thank God") have none.
PAIRS = {one.word: one.other_gender for one in WORDS if one.other_gender} | _both_ways(
    [(HE.subject, SHE.subject), (HE.reflexive, SHE.reflexive)]
)
"""Maps a gendered word, in lower case, to its partner of the other gender, in both directions."""
# Titles count only if capitalised and before a name: "to miss" is a verb and "a count" a number.
_TITLES = {one.word.capitalize(): one.other_title.capitalize() for one in WORDS if one.other_title}
_FORMS_OF_ADDRESS = {*_TITLES, "Dr"}

# The preceding word and its full stop, which after "Mr" or an initial ends no sentence.
_WORD_BEFORE = re.compile(r"([^\W\d_]+)(\.?)[ \u00a0]+\Z")
_OPENERS = ".!?:;\"`'\u201c\u2018(\n"

# Words that cannot begin the possessed noun phrase: before them "her" is "him", and "his" is "hers".
_CLOSED_WORDS = """
a an the this that these those some any each every no another
i you he she it we they me him us them his her its my your our their mine yours theirs hers who whom
whose which what where when why how whether
and or but nor so yet because since although though while if unless until till before after as than once
to of in on at by for from with without about above across against along amid among around behind below
beneath beside besides between beyond despite down during except inside into like near off onto out outside
over past per through throughout toward towards under up upon via within
is are was were be been being am has have had do does did can could will would shall should may might must
not never again away back too also instead there here now ever alone aside together apart forward
home anymore however therefore either tonight today tomorrow yesterday soon afterward afterwards
everything something nothing anything
"""
_CLOSED = frozenset(_CLOSED_WORDS.split())

# Ambiguous forms: their counterparts before a noun phrase, and elsewhere.
_BY_CONTEXT = {"her": ("his", "him"), "his": ("her", "hers"), "him": ("her", "her"), "hers": ("his", "his")}
_GAP_IN_NOUN_PHRASE = re.compile(r"[ \u00a0\n]+(?:[\"\u201c\u2018]|``)?[ ]?")


def opens_noun_phrase(text: str, at: int) -> bool:
    """True if a "his" or "her" that ends at ``at`` is possessive: the next word is of an open class."""
    gap = _GAP_IN_NOUN_PHRASE.match(text, at)
    if gap is None or gap.end() == len(text):
        return False
    if text[gap.end()].isdigit():
        return True
    word = WORD.match(text, gap.end())
    return word is not None and word.group().lower() not in _CLOSED


def _swapped_word(text: str, start: int, end: int) -> str | None:
    """The other gender's form of a word, with its case; None if there is none, or it may be a surname."""
    word = text[start:end]
    if word in _TITLES and _before_name(text, end, stop="." if word in {"Mr", "Mrs", "Ms"} else ""):
        return _TITLES[word]
    lower = word.lower()
    if lower in _BY_CONTEXT:
        possessive, other = _BY_CONTEXT[lower]
        return _with_case_of(word, possessive if opens_noun_phrase(text, end) else other)
    partner = PAIRS.get(lower)
    if partner is None or (
        word[1:].islower() and word[0].isupper() and not _is_common(text, start, end, lower)
    ):
        return None
    return _with_case_of(word, partner)


def _with_case_of(model: str, word: str) -> str:
    """Write ``word`` in the case of ``model``: all capitals, capitalised, or lower."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def _before_name(text: str, end: int, stop: str = "") -> bool:
    return text[end : end + 3].removeprefix(stop).lstrip(" \u00a0")[:1].isupper()


def _is_common(text: str, start: int, end: int, lower: str) -> bool:
    """True if a capitalised word of the lists is a noun or pronoun here, not part of a name."""
    if lower in GENDER_BY_FORM:
        return True
    head = text[:start]
    before = _WORD_BEFORE.search(head, max(0, start - 40))
    if before is None:
        opens = not head.strip() or head.rstrip(" \u00a0")[-1] in _OPENERS
    else:
        word, stop = before.groups()
        opens = stop == "." and len(word) > 1 and word.lower() not in ABBREVIATIONS
        if word[0].isupper() and not opens and word.lower() not in _CLOSED | {"then"}:
            return False
    return opens or _before_name(text, end) or text.startswith(" of ", end)


GENDER_BY_TITLE = {title: gender for title, gender in MEMBER_TITLES.items() if gender}
_TITLE = re.compile(rf"\b({'|'.join(re.escape(title) for title in GENDER_BY_TITLE)})\s+\Z", re.IGNORECASE)


def gender_of_name(name: str, before: str, by_first_name: Mapping[str, Gender]) -> Gender | None:
    """Gender by a title in the name or in the text ``before`` it, or else by its first word; None if unknown."""
    first = name.split(maxsplit=1)[0]
    title = _TITLE.search(before) or _TITLE.search(first + " ")
    return GENDER_BY_TITLE[title[1].lower()] if title else by_first_name.get(first.capitalize())
