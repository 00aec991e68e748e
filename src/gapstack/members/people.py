"""People in a window: detected names, grouped by person, and the gender that a title or first name suggests.

That gender moves a probability (:mod:`gapstack.members.coupling`) and excludes nobody. The names are the parser's and
not the mentions of the model of running text: the weights of the coupling were fitted on the parser's names, any
``--parser`` can find them, and a row of GAP compares names, while that model also finds "the old man".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from gapstack.data import Gender, Span
from gapstack.data.gender import gender_of_name
from gapstack.data.person_words import ABBREVIATIONS, TITLES
from gapstack.language.grammar import Parse, PartOfSpeech
from gapstack.language.mining import is_word
from gapstack.language.words import distinctive_tokens, same_token

_TITLE_WIDTH = 20  # characters before a name that may contain its title
_TITLES = (
    re.escape(title.capitalize()) + (r"\.?" if title in ABBREVIATIONS else "") for title in sorted(TITLES)
)
_TITLE_BEFORE = re.compile(rf"\b(?:{'|'.join(_TITLES)})\s+\Z")
_NOUNS = (PartOfSpeech.PROPER_NOUN, PartOfSpeech.NOUN)
_GARBLED = "*"


@dataclass(frozen=True)
class Person:
    """One person's names in a text, in text order, and the gender that a title or first name suggests, if any."""

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
        words = [i for i in range(start, stop) if is_word(parse.words(i))]
        if not words or not any(parse.pos[i] in _NOUNS for i in words):
            continue
        if start and parse.words(start - 1).lower() == "the" and parse.words(words[-1]).endswith("s"):
            continue
        spans.append(Span(int(parse.spans[words[0], 0]), int(parse.spans[words[-1], 1])))
    return spans


@dataclass(eq=False)
class _Collected:
    """A person whose mentions are being collected: the longest name and all names' keys."""

    mentions: list[Span] = field(default_factory=list)
    longest: tuple[str, ...] = ()
    keys: set[str] = field(default_factory=set)
    gender: Gender | None = None

    def is_called(self, tokens: Sequence[str], gender: Gender | None) -> bool:
        if gender and self.gender and gender is not self.gender:
            return False
        # compare with the longest name, to keep two people of one family apart
        short, long = sorted((tokens, self.longest), key=len)
        return bool(short) and all(any(same_token(token, its) for its in long) for token in short)


def people(text: str, mentions: Iterable[Span], first_names: Mapping[str, Gender]) -> list[Person]:
    """Group mentions by person, ordered by first mention.

    A mention joins the most recent person whose name agrees: all distinctive tokens of the shorter name occur in the
    longer ("Winslet", "Kate Winslet"), and the genders do not differ ("Mr Darcy", "Miss Darcy").
    """
    persons: list[_Collected] = []
    by_token: dict[str, list[_Collected]] = {}
    for span in sorted(mentions):
        name = text[slice(*span)]
        tokens = distinctive_tokens(name)
        gender = gender_of_name(name, text[max(0, span.start - _TITLE_WIDTH) : span.start], first_names)
        # tokens with a lost letter are compared with all
        keys = {_GARBLED if _GARBLED in token else token for token in tokens}
        near: Iterable[_Collected] = persons
        if _GARBLED not in keys:
            near = chain.from_iterable(by_token.get(key, ()) for key in (*keys, _GARBLED))
        called = (candidate for candidate in near if candidate.is_called(tokens, gender))
        person = max(called, key=lambda candidate: candidate.mentions[-1], default=None)
        if person is None:
            person = _Collected()
            persons.append(person)
        for key in keys - person.keys:
            by_token.setdefault(key, []).append(person)
        person.keys |= keys
        person.mentions.append(span)
        person.longest = max(person.longest, tokens, key=len)
        person.gender = person.gender or gender
    return [Person(tuple(person.mentions), person.gender) for person in persons]


def full_name(text: str, mentions: Iterable[Span]) -> str:
    """The longest of a person's names with the title before it: "Miss Taylor" for "Taylor"."""

    def words(span: Span) -> tuple[int, int, str]:
        name = text[slice(*span)]
        title = _TITLE_BEFORE.search(text[max(0, span.start - _TITLE_WIDTH) : span.start])
        whole = " ".join(f"{title[0] if title else ''}{name}".split())
        return len(name.split()), len(whole), whole

    return max(map(words, mentions), key=lambda name: name[:2])[2]
