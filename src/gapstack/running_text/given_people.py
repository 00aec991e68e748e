"""Finds the people whom the user gives among a text's mentions, by their whole names and by parts of these."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gapstack.data import Span
from gapstack.data.example import Gender
from gapstack.running_text.any_text_resolver import Text
from gapstack.running_text.lexicon import TITLES, Lexicon
from gapstack.running_text.mentions import Mention, describe

_IS_MENTION = 0.5
"""Probability from which a span is compared with parts of names."""

Words = frozenset[str]


@dataclass(frozen=True)
class GivenPerson:
    """A person whom the user gives: names, and the genders of the pronouns if they are known.

    ``words`` are those of each name; a person without is found by whole names only.
    """

    names: frozenset[str]
    genders: frozenset[Gender] = frozenset()
    words: frozenset[Words] = frozenset()

    @property
    def sign(self) -> float:
        """Signed gender, 0 if it is unknown, neutral or both."""
        return float((Gender.FEMININE in self.genders) - (Gender.MASCULINE in self.genders))

    def has(self, words: Words) -> bool:
        """True for a name or a part of one."""
        return any(words <= name for name in self.words)

    def may_be(self, mention: Mention) -> bool:
        """True for a part of a name, or a longer name, unless its title has another gender."""
        fits = self.has(mention.words) or any(name <= mention.words for name in self.words)
        return fits and self.sign * mention.noun >= 0


def given_people(text: Text, lexicon: Lexicon) -> dict[str, GivenPerson]:
    """The person of each name that is given."""
    people = {name: GivenPerson(frozenset([name])) for name in text.names}
    for character in text.people:
        described = [describe(name, Span(0, len(name)), 0, 0, lexicon) for name in character.names]
        words = frozenset(mention.words for mention in described if mention.is_name)
        person = GivenPerson(frozenset(character.names), character.genders, words)
        people |= dict.fromkeys(character.names, person)
    return people


def identified(mentions: Sequence[Mention], people: Mapping[str, GivenPerson]) -> list[GivenPerson | None]:
    """The given person of each mention of a text, who decides the mention's gender; None if it is nobody's.

    A whole name, alone or after a title, is its person's. So is a part of a name ("Oak") or a longer one, if it fits no
    other given person and no other name of the text ("Jane Oak") has a word of it.
    """
    if not people:
        return [None] * len(mentions)
    found = [_by_whole_name(mention, people) for mention in mentions]
    fitting: dict[GivenPerson, list[int]] = defaultdict(list)
    other_words = set[str]()
    for number, mention in enumerate(mentions):
        if found[number] is None and mention.is_name and mention.validity >= _IS_MENTION:
            persons = {person for person in people.values() if person.may_be(mention)}
            if len(persons) == 1:
                fitting[persons.pop()].append(number)
            elif not persons:
                other_words |= mention.words
    for person, numbers in fitting.items():
        longer = {mentions[number].words for number in numbers if not person.has(mentions[number].words)}
        # "Gabriel Oak" and "Gabriel Marsh" are two people
        taken = other_words if _are_nested(longer) else other_words.union(*longer)
        for number in numbers:
            if taken.isdisjoint(mentions[number].words):
                found[number] = person
    for mention, owner in zip(mentions, found, strict=True):
        if owner is not None and owner.genders:
            mention.noun, mention.name = owner.sign, 0.0
    return found


def _by_whole_name(mention: Mention, people: Mapping[str, GivenPerson]) -> GivenPerson | None:
    """The person whose name a mention is, alone or after a title."""
    if mention.is_pronoun:
        return None
    core = " ".join(word for word in mention.text.split() if word.lower().strip(".") not in TITLES)
    return people.get(mention.text) or people.get(core)


def _are_nested(sets: Iterable[Words]) -> bool:
    """True if each set contains all smaller ones."""
    return all(small <= large for small, large in pairwise(sorted(sets, key=len)))


def without_parts_of_names(mentions: Sequence[Mention], names: Collection[str]) -> list[Mention]:
    """Mentions without those of ``names`` that are a part of a longer name."""
    spans = [one.span for one in mentions if one.is_name and one.validity >= _IS_MENTION]
    return [
        mention
        for mention in mentions
        if mention.text not in names or not any(_is_longer(span, mention.span) for span in spans)
    ]


def _is_longer(one: Span, other: Span) -> bool:
    return one != other and one.start <= other.start and other.end <= one.end
