"""Positions in which grammar rules out that a pronoun means a name (the candidate filter of Webster et al. 2018).

Binding theory (Chomsky 1981) over dependencies: a plain pronoun is free among the arguments of its own
predicate (principle B), and a name is not c-commanded by what it corefers with (principle C). To these come
coordination ("he and John"), and apposition with what a possessive modifies ("his brother John", "John is his
brother").
"""

from __future__ import annotations

from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from gapstack.text.grammar import Parse, Role

REFLEXIVES = frozenset({"himself", "herself", "themselves", "themself"})
_ARGUMENTS = (Role.SUBJECT, Role.OBJECT, Role.DATIVE, Role.OBLIQUE)
_FINITE = (Role.CLAUSE, Role.RELATIVE, Role.PARATAXIS)


class Barrier(IntFlag):
    """Why a name cannot be the antecedent."""

    NONE = 0
    DOMAIN = 1
    """It is an argument of the pronoun's own predicate, its understood subject included."""
    COMMAND = 2
    """The pronoun c-commands it."""
    COORDINATION = 4
    """It is coordinated with the pronoun."""
    APPOSITION = 8
    """It names what a possessive pronoun's noun describes."""


def barriers(parse: Parse, pronoun: int, heads: NDArray[np.int32]) -> NDArray[np.int8]:
    """Give the :class:`Barrier` flags between the token ``pronoun`` and each of k names, as a (k,) array.

    ``heads`` holds the head token of each name; -1, a name with no token, meets no barrier.
    """
    found = np.zeros(len(heads), dtype=np.int8)
    if pronoun < 0:
        return found
    possessive = parse.roles[pronoun] == Role.POSSESSIVE
    domain = (
        set() if possessive or parse.words(pronoun).lower() in REFLEXIVES else co_arguments(parse, pronoun)
    )
    commanded = _commanded(parse, pronoun)
    for k, name in enumerate(heads):
        if name < 0 or parse.sentence[name] != parse.sentence[pronoun]:
            continue
        chain = _climb(parse, int(name), Role.CONJUNCT, Role.NAME, Role.APPOSITION)
        flags = Barrier.NONE
        if not domain.isdisjoint(chain):
            flags |= Barrier.DOMAIN
        if name > pronoun and commanded[name]:
            flags |= Barrier.COMMAND
        if possessive:
            noun = int(parse.heads[pronoun])
            if _same_person(parse, noun, chain):
                flags |= Barrier.APPOSITION
        elif _climb(parse, pronoun, Role.CONJUNCT)[-1] == _climb(parse, int(name), Role.CONJUNCT)[-1]:
            flags |= Barrier.COORDINATION
        found[k] = flags
    return found


def _climb(parse: Parse, token: int, *roles: Role) -> list[int]:
    """The token and what stands above it as long as each step up is one of ``roles``."""
    chain = [token]
    while parse.roles[token] in roles and parse.heads[token] != token:
        token = int(parse.heads[token])
        chain.append(token)
    return chain


def _children(parse: Parse, token: int, *roles: Role) -> list[int]:
    return [int(i) for i in np.flatnonzero(parse.heads == token) if i != token and parse.roles[i] in roles]


def understood_subject(parse: Parse, predicate: int) -> int:
    """The token that is the predicate's subject, shared or controlled ones included; -1 if there is none.

    "Ann came and [Ann] told him", "Ann wanted to [Ann] see him", "Ann asked Eve to [Eve] see him".
    """
    while True:
        own = _children(parse, predicate, Role.SUBJECT)
        if own:
            return own[0]
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


def co_arguments(parse: Parse, pronoun: int) -> set[int]:
    """Tokens that are arguments of the same predicate as a (not possessive) pronoun."""
    top = _climb(parse, pronoun, Role.CONJUNCT)[-1]
    if parse.roles[top] not in _ARGUMENTS:
        return set()
    predicate = int(parse.heads[top])
    arguments = set(_children(parse, predicate, *_ARGUMENTS))
    if parse.roles[top] != Role.SUBJECT:
        arguments.add(understood_subject(parse, predicate))
    return arguments - {pronoun, top, -1}


def _commanded(parse: Parse, pronoun: int) -> NDArray[np.bool_]:
    """What the pronoun c-commands, less coordinated clauses that have a subject of their own."""
    commanded = parse.commands(pronoun)
    head = int(parse.heads[pronoun])
    for clause in _children(parse, head, Role.CONJUNCT, Role.PARATAXIS):
        if parse.roles[clause] == Role.PARATAXIS or _children(parse, clause, Role.SUBJECT):
            commanded &= ~parse.ancestors[:, clause]
    return commanded


def _same_person(parse: Parse, noun: int, chain: list[int]) -> bool:
    """Whether a name (its chain of heads) names the person that ``noun`` describes, or is coordinated with it."""
    if noun in chain or chain[0] in _climb(parse, noun, Role.APPOSITION, Role.NAME):
        return True
    # "John is his brother": in UD the noun is the predicate itself, in ClearNLP the verb's attribute
    predicate = int(parse.heads[noun]) if parse.roles[noun] == Role.PREDICATE else noun
    return not set(_children(parse, predicate, Role.SUBJECT)).isdisjoint(chain)
