"""Mentions of people in a parsed text: third-person pronouns, names, nouns and groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from gapstack.data import Span
from gapstack.text.grammar import Role


class Kind(IntEnum):
    """Kind of a mention."""

    PRONOUN = 0
    NAME = 1
    NOUN = 2


class Determiner(IntEnum):
    """How a noun phrase begins."""

    NONE = 0
    INDEFINITE = 1
    DEFINITE = 2
    DEMONSTRATIVE = 3
    POSSESSIVE = 4


@dataclass(frozen=True)
class Neural:
    """What the language model says about a mention (:mod:`gapstack.coreference.pairs`).

    ``links`` has the probability of each antecedent, ``new`` that of none; ``people`` that each name or noun is the
    person, over all chains of links; ``validity`` that the mention denotes a person or thing at all.
    """

    links: Mapping[Mention, float]
    people: Mapping[Mention, float]
    new: float
    validity: float


@dataclass(eq=False)
class Mention:
    """A mention; tokens and sentences are counted over the whole document, ``span`` is in its characters.

    ``sign`` is the gender of its pronoun, title or noun, ``odds`` the log-odds of its first name's; positive is
    feminine. ``governor`` is the token that it depends on, ``clause`` the verb whose subject is also the governor's,
    ``above`` that verb and those of the clauses that it is subordinate to, ``possessor`` the token of its possessive,
    or -1. ``quote`` counts quotations, -1 outside of them; ``speaks`` is true for the subject of a verb of speech
    outside of them. ``certainty`` is the probability of the link made, ``vector`` what the language model says about
    the mention (:mod:`gapstack.coreference.pairs`).
    """

    span: Span
    start: int
    stop: int
    head: int
    kind: Kind
    text: str
    sentence: int
    role: Role
    governor: int
    sign: int = 0
    odds: float = 0.0
    words: tuple[str, ...] = ()
    lemma: str = ""
    plural: bool = False
    determiner: Determiner = Determiner.NONE
    possessor: int = -1
    quote: int = -1
    speaks: bool = False
    clause: int = -1
    above: Sequence[int] = ()
    vocative: bool = False
    reflexive: bool = False
    personhood: float = 1.0
    apposition: int = -1
    predicate_of: int = -1
    certainty: float = 1.0
    display: Span = field(default=Span(0, 0))
    vector: Sequence[float] = ()
    neural: Neural | None = None

    def may_precede(self, other: Mention) -> bool:
        """True if another mention's clause is above this one's: "When she had left, Ann called"."""
        commands = other.clause == self.clause and self.role is Role.SUBJECT  # "She called Ann"
        return other.clause in self.above and not commands


Place = Callable[[Span], Span]
"""Maps characters of a part of a document to those of the document."""
