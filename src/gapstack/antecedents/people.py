"""The people that a window names: detected names, those of one person together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from gapstack.corpus import Gender, Span
from gapstack.corpus.name_gender import gender_of_name
from gapstack.text.grammar import Parse, PartOfSpeech
from gapstack.text.page_title import distinctive_tokens, same_token
from gapstack.text.patterns import is_word

_BEFORE = 20  # characters before a name that may hold its title


@dataclass(frozen=True)
class Person:
    """One person's names in a text.

    Attributes
    ----------
    mentions : tuple of Span
        In the order of the text.
    gender : Gender or None
        What a title or a first name tells; None where nothing does or two mentions disagree.
    """

    mentions: tuple[Span, ...]
    gender: Gender | None = None

    def nearest(self, pronoun: Span) -> Span:
        """The last mention before the pronoun, or else the first after it."""
        before = [span for span in self.mentions if span.end <= pronoun.start]
        return before[-1] if before else self.mentions[0]


def names(parse: Parse) -> list[Span]:
    """Names of single persons that a parser detects: its PERSON entities, without a possessive mark and the article.

    What has no noun, such as a mark that was taken for a name, is none, nor is a family ("the Smiths").
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
    """Put mentions of one person together, in the order of first mentions.

    A mention is the latest earlier person's whose names it agrees with: all distinctive tokens of the shorter are in
    the longer one ("Winslet", "Kate Winslet"), and their genders do not differ ("Mr Darcy", "Miss Darcy").
    """
    persons: list[_Known] = []
    by_token: dict[str, list[_Known]] = {}
    for number, span in enumerate(sorted(mentions)):
        name = text[slice(*span)]
        tokens = distinctive_tokens(name)
        gender = gender_of_name(name, text[max(0, span.start - _BEFORE) : span.start], first_names)
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
    """What a token is looked up by; a lost letter may be any, so such tokens are compared with all."""
    return _GARBLED if _GARBLED in token else token


@dataclass
class _Known:
    """A person while mentions are collected."""

    mentions: list[Span]
    called: list[tuple[str, ...]]
    gender: Gender | None
    latest: int = -1

    def is_called(self, tokens: Sequence[str], gender: Gender | None) -> bool:
        if gender and self.gender and gender is not self.gender:
            return False
        # the fullest name decides, so that two people of one family stay apart
        return _agree(tokens, max(self.called, key=len))

    def add(self, number: int, span: Span, tokens: tuple[str, ...], gender: Gender | None) -> None:
        self.latest = number
        self.mentions.append(span)
        self.called.append(tokens)
        self.gender = self.gender or gender


def _agree(one: Sequence[str], other: Sequence[str]) -> bool:
    short, long = sorted((one, other), key=len)
    return bool(short) and all(any(same_token(token, its) for its in long) for token in short)
