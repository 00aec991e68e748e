"""People of a whole document: the mentions of each, and the pronouns linked to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gapstack.data import Span
from gapstack.data.clusters import Cluster, Document, Link, text_sha256
from gapstack.data.documents import RawDocument
from gapstack.running_text.answer import Answers

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
    """The people of a document."""

    id: str
    text: str
    people: tuple[AnnotatedPerson, ...]
    """People with a name, with several mentions, or with a link, in the order of their first mentions."""
    links: Mapping[Link, float]
    """Probability that a pronoun refers to the person of a name, if at least :data:`MIN_PROBABILITY`."""
    references: Mapping[Span, float]
    """Probability that each pronoun refers to any name nearby."""
    antecedents: Mapping[Span, Span]
    """The name that each linked pronoun refers to."""

    source: RawDocument | None = None
    """The document that the text comes from, whose characters :meth:`original` returns."""

    def words(self, span: Span) -> str:
        """Words of the text, with single spaces."""
        return " ".join(self.text[slice(*span)].split())

    def original(self, span: Span) -> Span:
        """Characters of the original file for a span of the text, which may have been extracted from it."""
        return self.source.origin(span) if self.source else span

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """The mentions of people with at least two, sorted by first mention."""
        return tuple(sorted(one.mentions for one in self.people if len(one.mentions) > 1))

    @property
    def document(self) -> Document:
        """Document in the exchange format, of the original; links are link scores, references are mention scores."""
        original = self.original
        text = (self.source and self.source.original) or self.text
        return Document(
            self.id,
            text_sha256(text),
            tuple(tuple(map(original, cluster)) for cluster in self.clusters),
            {original(span): score for span, score in self.references.items()},
            {(original(one), original(other)): score for (one, other), score in self.links.items()},
        )

    @classmethod
    def of(cls, answers: Answers, id: str = "", source: RawDocument | None = None) -> Annotation:
        """Annotate a text by its answers; groups of people named apart are left out."""
        links, references, antecedents = dict[Link, float](), dict[Span, float](), dict[Span, Span]()
        for answer in answers:
            references[answer.pronoun] = round(1 - answer.nobody, _DIGITS)
            if answer.antecedent and not answer.antecedent.members:
                antecedents[answer.pronoun] = answer.antecedent.span
            for candidate in answer.candidates:
                if candidate.probability >= MIN_PROBABILITY and not candidate.members:
                    links[answer.pronoun, candidate.span] = round(candidate.probability, _DIGITS)
        persons = sorted(answers.entities, key=lambda person: person.mentions)
        person_of = {mention: number for number, one in enumerate(persons) for mention in one.mentions}
        pronouns: list[list[Span]] = [[] for _ in persons]
        for pronoun, name in antecedents.items():
            pronouns[person_of[name]].append(pronoun)
        people = tuple(
            AnnotatedPerson(person.full_name, person.mentions, tuple(sorted(linked)), person.named)
            for person, linked in zip(persons, pronouns, strict=True)
        )
        return cls(id, answers.text, people, links, references, antecedents, source)
