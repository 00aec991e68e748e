"""The persons of a whole document: names of one person from all its windows, and the pronouns linked to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gapstack.antecedents.answer import Answers
from gapstack.antecedents.first_names import common_first_names
from gapstack.antecedents.people import people
from gapstack.corpus import Span
from gapstack.resolvers.clusters import Cluster, Document, Link, text_sha256

LEAST = 0.01
"""Links of less probability are not kept."""
_DIGITS = 4


@dataclass(frozen=True)
class Annotation:
    """A document's persons.

    Attributes
    ----------
    id, text : str
    clusters : tuple of Cluster
        Of persons with two mentions or more, by first mention: names and the pronouns that refer to them.
    links : mapping of (Span, Span) to float
        Probability that a pronoun refers to the person of a name; those of at least :data:`LEAST`.
    references : mapping of Span to float
        For each pronoun, the probability that it refers to any name nearby.
    antecedents : mapping of Span to Span
        The name of each pronoun that was linked.
    """

    id: str
    text: str
    clusters: tuple[Cluster, ...]
    links: Mapping[Link, float]
    references: Mapping[Span, float]
    antecedents: Mapping[Span, Span]

    @property
    def document(self) -> Document:
        """The exchange format's record: links are its link scores, references its mention scores."""
        return Document(self.id, text_sha256(self.text), self.clusters, self.references, self.links)


class Entities:
    """Collects the answers of a document's windows.

    Parameters
    ----------
    text : str
    """

    def __init__(self, text: str):
        self._text = text
        self._names: dict[Span, None] = {}
        self._links: dict[Link, float] = {}
        self._references: dict[Span, float] = {}
        self._antecedents: dict[Span, Span] = {}

    @classmethod
    def of(cls, answers: Answers) -> Entities:
        """Collect the answers about a text."""
        entities = cls(answers.text)
        for answer in answers:
            entities.add(*answer.outcome)
        return entities

    def add(
        self,
        pronoun: Sequence[int],
        nobody: float,
        candidates: Iterable[tuple[Sequence[int], float, Iterable[Sequence[int]]]],
    ) -> None:
        """Take the answer about a pronoun: span, probability and mentions of each candidate, the best first."""
        at = Span(*pronoun)
        self._references[at] = round(1 - nobody, _DIGITS)
        for place, (span, probability, mentions) in enumerate(candidates):
            name = Span(*span)
            self._names |= dict.fromkeys(Span(*mention) for mention in mentions)
            if probability >= LEAST:
                self._links[at, name] = round(probability, _DIGITS)
            if place == 0 and probability > nobody:
                self._antecedents[at] = name

    def annotation(self, id: str) -> Annotation:
        """Put names of one person together, and pronouns to them."""
        persons = people(self._text, self._names, common_first_names())
        person_of = {mention: number for number, one in enumerate(persons) for mention in one.mentions}
        clusters: list[list[Span]] = [list(person.mentions) for person in persons]
        for pronoun, name in self._antecedents.items():
            clusters[person_of[name]].append(pronoun)
        return Annotation(
            id,
            self._text,
            tuple(sorted(tuple(sorted(cluster)) for cluster in clusters if len(cluster) > 1)),
            self._links,
            self._references,
            self._antecedents,
        )
