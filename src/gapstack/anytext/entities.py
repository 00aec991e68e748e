"""People of a whole document: the mentions of each, and the pronouns linked to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gapstack.anytext.answer import Answer, Answers, KnownPerson
from gapstack.anytext.people import common_first_names, full_name, people
from gapstack.data import Span
from gapstack.resolvers.clusters import Cluster, Document, Link, text_sha256

MIN_PROBABILITY = 0.01
"""Links with a lower probability are dropped."""
_DIGITS = 4


@dataclass(frozen=True)
class AnnotatedPerson:
    """A person of a document: the full name, all names and nouns, and the pronouns that refer to them."""

    full_name: str
    names: tuple[Span, ...]
    pronouns: tuple[Span, ...]
    named: bool = True

    @property
    def listed(self) -> bool:
        """True for a person with a name, or with at least two mentions."""
        return self.named or len(self.mentions) > 1

    @property
    def mentions(self) -> Cluster:
        """Names, nouns and pronouns in text order."""
        return tuple(sorted((*self.names, *self.pronouns)))


@dataclass(frozen=True)
class Annotation:
    """The people of a document.

    Attributes
    ----------
    id, text : str
    people : tuple of AnnotatedPerson
        People with a name, with several mentions, or with a link, in the order of their first mentions.
    links : mapping of (Span, Span) to float
        Probability that a pronoun refers to the person of a name, if at least :data:`MIN_PROBABILITY`.
    references, antecedents : mapping of Span to float, of Span to Span
        Probability that each pronoun refers to any name nearby, and the name that each linked pronoun refers to.
    """

    id: str
    text: str
    people: tuple[AnnotatedPerson, ...]
    links: Mapping[Link, float]
    references: Mapping[Span, float]
    antecedents: Mapping[Span, Span]

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """The mentions of people with at least two, sorted by first mention."""
        return tuple(sorted(one.mentions for one in self.people if len(one.mentions) > 1))

    @property
    def document(self) -> Document:
        """Document in the exchange format; links are link scores, references are mention scores."""
        return Document(self.id, text_sha256(self.text), self.clusters, self.references, self.links)


class Entities:
    """Collects the answers of a document; names are grouped by person unless ``people`` are known."""

    def __init__(self, text: str, people: Sequence[KnownPerson] | None = None):
        self._text, self._people = text, people
        self._names: set[Span] = set()
        self._links: dict[Link, float] = {}
        self._references: dict[Span, float] = {}
        self._antecedents: dict[Span, Span] = {}

    @classmethod
    def of(cls, answers: Answers) -> Entities:
        """Collect the answers for a text."""
        entities = cls(answers.text, answers.entities)
        for answer in answers:
            entities.add(answer)
        return entities

    def add(self, answer: Answer) -> None:
        """Add the answer for a pronoun."""
        at = answer.pronoun
        self._references[at] = round(1 - answer.nobody, _DIGITS)
        for candidate in answer.candidates:
            self._names.update(candidate.mentions)
            if candidate.probability >= MIN_PROBABILITY:
                self._links[at, candidate.span] = round(candidate.probability, _DIGITS)
        if answer.antecedent:
            self._antecedents[at] = answer.antecedent.span

    def annotation(self, id: str) -> Annotation:
        """Group names by person, and add the pronouns linked to them."""
        if self._people is None:
            grouped = people(self._text, self._names, common_first_names())
            persons = [KnownPerson(full_name(self._text, one.mentions), one.mentions) for one in grouped]
        else:
            persons = sorted(self._people, key=lambda person: person.mentions)
        person_of = {mention: number for number, one in enumerate(persons) for mention in one.mentions}
        pronouns: list[list[Span]] = [[] for _ in persons]
        for pronoun, name in self._antecedents.items():
            pronouns[person_of[name]].append(pronoun)
        found = tuple(
            AnnotatedPerson(one.full_name, one.mentions, tuple(sorted(own)), one.named)
            for one, own in zip(persons, pronouns, strict=True)
        )
        return Annotation(id, self._text, found, self._links, self._references, self._antecedents)
