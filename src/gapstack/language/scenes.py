"""Candidate names of an example: those that match A or B, and those that grammar excludes.

Binding theory (Chomsky 1981) over dependencies is the candidate filter of Webster et al. 2018: a non-reflexive pronoun
does not corefer with an argument of its own predicate (principle B), and a name is not c-commanded by a coreferent
(principle C). A name coordinated with the pronoun ("he and John"), or in apposition with its possessed noun ("his
brother John", "John is his brother"), is excluded too.
"""

from dataclasses import dataclass
from enum import IntFlag
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gapstack.data import Example, Span
from gapstack.data.person_words import REFLEXIVES
from gapstack.language.grammar import Parse, Role

Candidates = Literal["gold-two-mention", "detected"]
"""Candidates: A and B, or all PERSON names, each of which counts as A or B if one contains the other."""
Context = Literal["snippet-context", "page-context"]
"""What a cue may read: the snippet alone, or also the title of its page."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One of the four task settings of Webster et al. 2018, section 4."""

    candidates: Candidates = "gold-two-mention"
    context: Context = "page-context"

    @property
    def names(self) -> str:
        """The candidates in the paper's words."""
        return "detected candidates" if self.candidates == "detected" else self.candidates

    def __str__(self) -> str:
        return f"{self.names}, {self.context}"


DEFAULT = Setting()  # the shared task's: A and B compete, and the page is known


@dataclass(frozen=True)
class Scene:
    """Input of the structural cues: pronoun token and k candidate names of one example; -1 for a missing token."""

    example: Example
    parse: Parse
    pronoun: int
    spans: tuple[Span, ...]
    heads: NDArray[np.int32]
    """Head token of each name, (k,)."""
    hits: NDArray[np.bool_]
    """True if choosing the name counts as choosing A, and B, (k, 2)."""
    barriers: NDArray[np.int8]
    """:class:`Barrier` flags of each name, (k,)."""


def scene(example: Example, parse: Parse, candidates: Candidates) -> Scene:
    """Collect the candidate names of one example."""
    pronoun = parse.head_of(parse.tokens_in(example.pronoun))
    if candidates == "gold-two-mention":
        spans: tuple[Span, ...] = (example.a, example.b)
        hits = np.eye(2, dtype=bool)
    else:
        spans = person_spans(example, parse)
        detected, names = [example.words(span) for span in spans], (example.a_text, example.b_text)
        matches = [[name in other or other in name for name in names] for other in detected]
        hits = np.array(matches, dtype=bool).reshape(-1, 2)
    heads = np.array([parse.head_of(parse.tokens_in(span)) for span in spans], dtype=np.int32)
    return Scene(example, parse, pronoun, spans, heads, hits, barriers(parse, pronoun, heads))


def person_spans(example: Example, parse: Parse) -> tuple[Span, ...]:
    """Spans of the parse's PERSON entities, except one that overlaps the pronoun."""
    spans = [parse.characters(range(first, last)) for first, last in parse.persons.tolist()]
    return tuple(span for span in spans if not span.overlaps(example.pronoun))


_ARGUMENTS = (Role.SUBJECT, Role.OBJECT, Role.DATIVE, Role.OBLIQUE)


class Barrier(IntFlag):
    """Reasons why a name cannot be the antecedent."""

    NONE = 0
    DOMAIN = 1
    """The name is an argument of the pronoun's predicate, understood subjects included."""
    COMMAND = 2
    """The pronoun c-commands the name."""
    COORDINATION = 4
    """The name is coordinated with the pronoun."""
    APPOSITION = 8
    """The name is that of the person whom the possessed noun describes ("his brother John")."""


def barriers(parse: Parse, pronoun: int, heads: NDArray[np.int32]) -> NDArray[np.int8]:
    """The :class:`Barrier` flags (k,) between the token ``pronoun`` and names with head tokens ``heads`` (k,) or -1."""
    barriers = np.zeros(len(heads), dtype=np.int8)
    if pronoun < 0:
        return barriers
    possessive = parse.roles[pronoun] == Role.POSSESSIVE
    has_domain = not possessive and parse.words(pronoun).lower() not in REFLEXIVES
    domain = _co_arguments(parse, pronoun) if has_domain else set()
    commanded = _commanded(parse, pronoun)
    for k, name in enumerate(heads.tolist()):
        if name < 0 or parse.sentence[name] != parse.sentence[pronoun]:
            continue
        chain = climb(parse, name, Role.CONJUNCT, Role.NAME, Role.APPOSITION)
        if not domain.isdisjoint(chain):
            barriers[k] |= Barrier.DOMAIN
        if name > pronoun and commanded[name]:
            barriers[k] |= Barrier.COMMAND
        if possessive:
            if _same_person(parse, int(parse.heads[pronoun]), chain):
                barriers[k] |= Barrier.APPOSITION
        elif climb(parse, pronoun, Role.CONJUNCT)[-1] == climb(parse, name, Role.CONJUNCT)[-1]:
            barriers[k] |= Barrier.COORDINATION
    return barriers


def climb(parse: Parse, token: int, *roles: Role) -> list[int]:
    """The token and its ancestors, as long as each step up has one of ``roles``."""
    chain, heads = [token], parse.head_list
    while parse.role_list[token] in roles and heads[token] != token:
        token = heads[token]
        chain.append(token)
    return chain


def _children(parse: Parse, token: int, *roles: Role) -> list[int]:
    return [child for child in parse.children[token] if parse.role_list[child] in roles]


def understood_subject(parse: Parse, predicate: int) -> int:
    """Subject of a predicate, also a shared ("Ann came and left") or a controlled one; -1 if there is none."""
    while True:
        subjects = _children(parse, predicate, Role.SUBJECT)
        if subjects:
            return subjects[0]
        above = int(parse.heads[predicate])
        if above == predicate:
            return -1
        if parse.roles[predicate] == Role.OPEN_CLAUSE:
            objects = _children(parse, above, Role.OBJECT)
            if objects:
                return objects[0]
        elif parse.roles[predicate] != Role.CONJUNCT:
            return -1
        predicate = above


def _co_arguments(parse: Parse, pronoun: int) -> set[int]:
    """Other arguments of the predicate of a pronoun that is not possessive."""
    top = climb(parse, pronoun, Role.CONJUNCT)[-1]
    if parse.roles[top] not in _ARGUMENTS:
        return set()
    predicate = int(parse.heads[top])
    arguments = set(_children(parse, predicate, *_ARGUMENTS))
    if parse.roles[top] != Role.SUBJECT:
        arguments.add(understood_subject(parse, predicate))
    return arguments - {pronoun, top, -1}


def _commanded(parse: Parse, pronoun: int) -> NDArray[np.bool_]:
    """Tokens that the pronoun c-commands (n,), except coordinated clauses with their own subject."""
    commanded = parse.commands(pronoun)
    head = int(parse.heads[pronoun])
    for clause in _children(parse, head, Role.CONJUNCT, Role.PARATAXIS):
        if parse.roles[clause] == Role.PARATAXIS or _children(parse, clause, Role.SUBJECT):
            commanded &= ~parse.ancestors[:, clause]
    return commanded


def _same_person(parse: Parse, noun: int, chain: list[int]) -> bool:
    """True if a name (given by its chain of heads) refers to the person described by ``noun``."""
    if noun in chain or chain[0] in climb(parse, noun, Role.APPOSITION, Role.NAME):
        return True
    # "John is his brother": in UD the noun is the predicate itself, in ClearNLP the verb's attribute
    predicate = int(parse.heads[noun]) if parse.roles[noun] == Role.PREDICATE else noun
    return not set(_children(parse, predicate, Role.SUBJECT)).isdisjoint(chain)
