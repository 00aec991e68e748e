"""People in a window: detected names, grouped by person, and the gender that a first name suggests.

``first_names.tsv`` is written by ``scripts/first_names.py``. A name suggests the gender that most of its bearers were
recorded with; it moves a probability (:mod:`gapstack.anytext.coupling`) and excludes nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path

from gapstack.data import Gender, Span
from gapstack.data.gender import gender_of_name
from gapstack.text.grammar import Parse, PartOfSpeech
from gapstack.text.page_title import distinctive_tokens, same_token
from gapstack.text.patterns import is_word

FIRST_NAMES = Path(__file__).with_name("first_names.tsv")
_TITLE_WIDTH = 20  # characters before a name that may contain its title


@lru_cache(maxsize=1)
def common_first_names() -> Mapping[str, Gender]:
    """Genders by capitalised first name."""
    genders: dict[str, Gender] = {}
    for line in FIRST_NAMES.read_text(encoding="utf-8").splitlines():
        gender, _, names = line.partition("\t")
        genders |= dict.fromkeys(names.split(), Gender(gender))
    return genders


@dataclass(frozen=True)
class Person:
    """One person's names in a text.

    Attributes
    ----------
    mentions : tuple of Span
        In text order.
    gender : Gender or None
        Gender suggested by a title or first name; None if unknown or contradictory.
    """

    mentions: tuple[Span, ...]
    gender: Gender | None = None

    def nearest(self, pronoun: Span) -> Span:
        """The last mention before the pronoun, else the first after it."""
        before = [span for span in self.mentions if span.end <= pronoun.start]
        return before[-1] if before else self.mentions[0]


def names(parse: Parse) -> list[Span]:
    """Names of single persons: the parser's PERSON entities without possessive marks and articles.

    Entities without a noun (detection errors) and families ("the Smiths") are dropped.
    """
    spans = []
    for start, stop in parse.persons.tolist():
        worded = [i for i in range(start, stop) if is_word(parse.words(i))]
        if not worded or not any(parse.pos[i] in _NOUNS for i in worded):
            continue
        plural = parse.words(start - 1).lower() == "the" if start else False
        if plural and parse.words(worded[-1]).endswith("s"):
            continue
        spans.append(Span(int(parse.spans[worded[0], 0]), int(parse.spans[worded[-1], 1])))
    return spans


_NOUNS = (PartOfSpeech.PROPER_NOUN, PartOfSpeech.NOUN)


def people(text: str, mentions: Iterable[Span], first_names: Mapping[str, Gender]) -> list[Person]:
    """Group mentions by person, ordered by first mention.

    A mention joins the most recent person whose name agrees: all distinctive tokens of the shorter name occur in the
    longer ("Winslet", "Kate Winslet"), and the genders do not differ ("Mr Darcy", "Miss Darcy").
    """
    persons: list[_Known] = []
    by_token: dict[str, list[_Known]] = {}
    for number, span in enumerate(sorted(mentions)):
        name = text[slice(*span)]
        tokens = distinctive_tokens(name)
        gender = gender_of_name(name, text[max(0, span.start - _TITLE_WIDTH) : span.start], first_names)
        keys = {_key(token) for token in tokens}
        near = (
            persons
            if _GARBLED in keys
            else chain.from_iterable(by_token.get(k, ()) for k in (*keys, _GARBLED))
        )
        known = max(
            (one for one in near if one.is_called(tokens, gender)), key=lambda one: one.latest, default=None
        )
        if known is None:
            known = _Known([], [], None)
            persons.append(known)
        for key in keys.difference(*(map(_key, called) for called in known.called)):
            by_token.setdefault(key, []).append(known)
        known.add(number, span, tokens, gender)
    return [Person(tuple(known.mentions), known.gender) for known in persons]


_GARBLED = "*"


def _key(token: str) -> str:
    """Lookup key of a token; tokens with a lost letter are compared with all."""
    return _GARBLED if _GARBLED in token else token


@dataclass
class _Known:
    """A person whose mentions are being collected."""

    mentions: list[Span]
    called: list[tuple[str, ...]]
    gender: Gender | None
    latest: int = -1

    def is_called(self, tokens: Sequence[str], gender: Gender | None) -> bool:
        if gender and self.gender and gender is not self.gender:
            return False
        # compare with the longest name, to keep two people of one family apart
        return _agree(tokens, max(self.called, key=len))

    def add(self, number: int, span: Span, tokens: tuple[str, ...], gender: Gender | None) -> None:
        self.latest = number
        self.mentions.append(span)
        self.called.append(tokens)
        self.gender = self.gender or gender


def _agree(one: Sequence[str], other: Sequence[str]) -> bool:
    short, long = sorted((one, other), key=len)
    return bool(short) and all(any(same_token(token, its) for its in long) for token in short)
