"""People of a whole document: names of one person from all its windows, and the pronouns linked to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gapstack.anytext.answer import Answers
from gapstack.anytext.people import common_first_names, people
from gapstack.data import Span
from gapstack.resolvers.clusters import Cluster, Document, Link, text_sha256

MIN_PROBABILITY = 0.01
"""Links with a lower probability are dropped."""
_DIGITS = 4


@dataclass(frozen=True)
class Annotation:
    """The people of a document.

    Attributes
    ----------
    id, text : str
    clusters : tuple of Cluster
        People with at least two mentions, sorted by first mention: names and the pronouns that refer to them.
    links : mapping of (Span, Span) to float
        Probability that a pronoun refers to the person of a name, if at least :data:`MIN_PROBABILITY`.
    references, antecedents : mapping of Span to float, of Span to Span
        Probability that each pronoun refers to any name nearby, and the name that each linked pronoun refers to.
    """

    id: str
    text: str
    clusters: tuple[Cluster, ...]
    links: Mapping[Link, float]
    references: Mapping[Span, float]
    antecedents: Mapping[Span, Span]

    @property
    def document(self) -> Document:
        """Document in the exchange format; links are link scores, references are mention scores."""
        return Document(self.id, text_sha256(self.text), self.clusters, self.references, self.links)


class Entities:
    """Collects the answers of a document's windows."""

    def __init__(self, text: str):
        self._text = text
        self._names: set[Span] = set()
        self._links: dict[Link, float] = {}
        self._references: dict[Span, float] = {}
        self._antecedents: dict[Span, Span] = {}

    @classmethod
    def of(cls, answers: Answers) -> Entities:
        """Collect the answers for a text."""
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
        """Add the answer for a pronoun: span, probability and mentions of each candidate, the best first."""
        at = Span(*pronoun)
        self._references[at] = round(1 - nobody, _DIGITS)
        for place, (span, probability, mentions) in enumerate(candidates):
            name = Span(*span)
            self._names.update(Span(*mention) for mention in mentions)
            if probability >= MIN_PROBABILITY:
                self._links[at, name] = round(probability, _DIGITS)
            if place == 0 and probability > nobody:
                self._antecedents[at] = name

    def annotation(self, id: str) -> Annotation:
        """Group names by person, and add the pronouns linked to them."""
        persons = people(self._text, self._names, common_first_names())
        person_of = {mention: number for number, one in enumerate(persons) for mention in one.mentions}
        clusters: list[list[Span]] = [list(person.mentions) for person in persons]
        for pronoun, name in self._antecedents.items():
            clusters[person_of[name]].append(pronoun)
        found = tuple(sorted(tuple(sorted(cluster)) for cluster in clusters if len(cluster) > 1))
        return Annotation(id, self._text, found, self._links, self._references, self._antecedents)
