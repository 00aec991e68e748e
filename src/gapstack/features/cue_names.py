"""Features of each name in the block ``cues``, one line each.

Distances are dependency edges unless stated otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan

import numpy as np

from gapstack.text.cues import Cue
from gapstack.text.discourse import Name
from gapstack.text.grammar import Parse, PartOfSpeech, Role
from gapstack.text.scenes import Barrier

# farther than most pairs of names of one snippet, in edges
_FAR = 20.0


def _barred(flag: Barrier) -> Callable[[Name], float]:
    return lambda c: bool(c.discourse.two.barriers[c.side] & flag)


def _chosen(cue: Cue) -> Callable[[Name], float]:
    """1 where the cue, among all PERSON names, chooses one that matches this name, else 0."""

    def feature(c: Name) -> float:
        winner = c.discourse.choices[cue]
        return nan if winner < 0 else bool(c.discourse.all.hits[winner, c.side])

    return feature


def _function(c: Name, token: int) -> int:
    return int(c.discourse.parse.functions[token]) if token >= 0 else -1


def _is_main_subject(parse: Parse, token: int) -> bool:
    """True if the token is the subject of a main clause."""
    return bool(parse.functions[token] == Role.SUBJECT and parse.clause_depth[token] == 0)


def _is_binder(c: Name, subject: int) -> bool:
    """True if the name, or its coordination or apposition, is the clause's subject."""
    return subject >= 0 and subject in c.chain


def _side_role(c: Name, of_pronoun: bool) -> int:
    """Role of the topmost token on one side of the path between name and pronoun; -1 if that side is empty."""
    parse, at = c.discourse.parse, c.discourse.at
    own, other = (at, c.head) if of_pronoun else (c.head, at)
    side = parse.ancestors[own] & ~parse.ancestors[other]
    tokens = np.flatnonzero(side)
    return int(parse.roles[tokens[parse.depth[tokens].argmin()]]) if len(tokens) else -1


def _nearer(c: Name, same_function: bool) -> int:
    """Number of persons without a barrier, the rival included, that are nearer in the tree."""
    d = c.discourse
    heads = [int(h) for h in d.all.heads[d.free_third_persons]]
    if not d.two.barriers[c.rival.side]:
        heads.append(c.rival.head)
    function = d.parse.functions[d.at]
    return sum(
        d.distances[h] < d.distances[c.head] and (not same_function or d.parse.functions[h] == function)
        for h in heads
    )


def _third_margin(c: Name) -> float:
    """Distance of the nearest third person without a barrier less that of the name's closest mention."""
    d = c.discourse
    nearest = min((d.distances[h] for h in d.all.heads[d.free_third_persons]), default=nan)
    return float(nearest - d.distances[c.closest])


def _companions_barred(c: Name) -> float:
    barred = c.discourse.same_gender_barriers
    return float(barred[:, c.side].sum()) if len(barred) else 0.0


def _companion_votes(c: Name) -> float:
    """Number of other same-gender pronouns in the name's function, less those in the rival's."""
    d = c.discourse
    return sum(
        float(d.parse.functions[i] == d.parse.functions[c.head])
        - float(d.parse.functions[i] == d.parse.functions[c.rival.head])
        for i in d.same_gender
    )


def _nearest_companion(c: Name) -> float:
    """Tokens from the name to the next pronoun of the same gender, the pronoun itself included."""
    following = [i for i in (*c.discourse.same_gender, c.discourse.at) if i > c.head]
    return float(min(following) - c.head) if following else nan


def _taken_up(c: Name) -> bool:
    """True if the first same-gender pronoun after the name has the name's function."""
    d = c.discourse
    following = [i for i in (*d.same_gender, d.at) if i > c.head]
    return bool(following) and bool(d.parse.functions[min(following)] == d.parse.functions[c.head])


def _leads(c: Name, parallel: bool) -> float:
    """Distance of all others' nearest mention before the pronoun less that of this name's, mentions without barriers.

    Without such a mention the distance is ``_FAR``.
    """
    d = c.discourse
    function = d.parse.functions[d.at]
    nearest = {True: _FAR, False: _FAR}
    for who, head in d.person_mentions:
        if head < d.at and (not parallel or d.parse.functions[head] == function):
            own = who == c.side
            nearest[own] = min(nearest[own], float(d.distances[head]))
    return nearest[False] - nearest[True]


def _in_sentence(c: Name, number: int) -> list[int]:
    return [i for i in c.earlier if c.discourse.parse.sentence[i] == number]


def _is_centre(c: Name) -> bool:
    """True if it is the most prominent name of the sentence before the pronoun's."""
    before, top = c.discourse.centre
    theta = [float(c.discourse.parse.theta[i]) for i in _in_sentence(c, before)]
    return bool(theta) and max(theta) == top


def _here(c: Name) -> list[int]:
    return _in_sentence(c, int(c.discourse.parse.sentence[c.discourse.at]))


def _owned_by(c: Name) -> int:
    """1 if a pronoun of the same gender owns the name's noun ("her sister Ann"), -1 if one of another gender does."""
    parse = c.discourse.parse
    for noun in c.chain:
        for i in np.flatnonzero((parse.heads == noun) & (parse.roles == Role.POSSESSIVE)):
            if parse.pos[i] == PartOfSpeech.PRONOUN and i != c.discourse.at:
                return 1 if int(i) in c.discourse.same_gender else -1
    return 0


def _children(c: Name, role: Role) -> int:
    parse = c.discourse.parse
    return int(((parse.heads == c.head) & (parse.roles == role)).sum())


CANDIDATE: dict[str, tuple[str, Callable[[Name], float]]] = {
    # position in the tree
    "path": ("edges to the pronoun", lambda c: c.discourse.distances[c.head]),
    "clauses": ("clause boundaries to the pronoun", lambda c: c.discourse.clause_distances[c.head]),
    "depth": ("edges to its root", lambda c: c.discourse.parse.depth[c.head]),
    "clause_depth": ("clauses above its own", lambda c: c.discourse.parse.clause_depth[c.head]),
    "sentence": ("sentence it is in", lambda c: c.discourse.parse.sentence[c.head]),
    "role": ("role", lambda c: c.discourse.parse.roles[c.head]),
    "function": (
        "function: role, or that of the head in coordinations and appositions",
        lambda c: _function(c, c.head),
    ),
    "parallel": ("in the pronoun's function", lambda c: _function(c, c.head) == _function(c, c.discourse.at)),
    "theta": ("theta-prominence", lambda c: c.discourse.parse.theta[c.head]),
    "main_subject": ("subject of a main clause", lambda c: _is_main_subject(c.discourse.parse, c.head)),
    "clause_role": (
        "role of its clause",
        lambda c: c.discourse.parse.roles[c.discourse.parse.clause[c.head]],
    ),
    "owns": (
        "function of the noun that it owns, -1 if there is none",
        lambda c: _function(
            c,
            int(c.discourse.parse.heads[c.head]) if _function(c, c.head) == Role.POSSESSIVE else -1,
        ),
    ),
    "coordinated": ("names and nouns coordinated under it", lambda c: _children(c, Role.CONJUNCT)),
    "described": ("appositions under it", lambda c: _children(c, Role.APPOSITION)),
    "related": ("relative clauses under it", lambda c: _children(c, Role.RELATIVE)),
    # binding theory
    "domain": ("argument of the pronoun's predicate", _barred(Barrier.DOMAIN)),
    "commanded": ("c-commanded by the pronoun", _barred(Barrier.COMMAND)),
    "with_pronoun": ("coordinated with the pronoun", _barred(Barrier.COORDINATION)),
    "owned_here": ("names the person of the possessive pronoun's noun", _barred(Barrier.APPOSITION)),
    "commands": (
        "c-commands the pronoun",
        lambda c: c.discourse.parse.commands(c.chain[-1])[c.discourse.at],
    ),
    "contains": (
        "ancestor of the pronoun, for example by a relative clause",
        lambda c: c.discourse.parse.ancestors[c.discourse.at, c.head],
    ),
    "own_subject": ("subject of the pronoun's clause", lambda c: _is_binder(c, c.discourse.own_subject)),
    "upper_subject": ("subject of the clause above", lambda c: _is_binder(c, c.discourse.upper_subject)),
    "path_role": ("role at the top of the name's side of the path", lambda c: _side_role(c, False)),
    "pronoun_path_role": ("role at the top of the pronoun's side", lambda c: _side_role(c, True)),
    "commands_rival": (
        "c-commands the other name",
        lambda c: c.discourse.parse.commands(c.chain[-1])[c.rival.head],
    ),
    # competition
    "person": ("a PERSON name of the parse", lambda c: c.is_person),
    "nearer": ("persons nearer in the tree", lambda c: _nearer(c, False)),
    "nearer_parallel": ("persons nearer and in the pronoun's function", lambda c: _nearer(c, True)),
    "third_margin": ("lead over the nearest third person", _third_margin),
    "chosen_syntactic": ("chosen among all by syntactic distance", _chosen(Cue.SYNTACTIC_DISTANCE)),
    "chosen_parallel": ("chosen among all by parallelism", _chosen(Cue.PARALLELISM)),
    "chosen_url": ("chosen among all by url", _chosen(Cue.URL)),
    "chosen_topical": ("chosen among all by topical entity", _chosen(Cue.TOPICAL_ENTITY)),
    # all mentions
    "mentions": ("mentions", lambda c: len(c.mentions)),
    "subjects": (
        "mentions as subject before the pronoun",
        lambda c: sum(_function(c, i) == Role.SUBJECT for i in c.earlier),
    ),
    "closest_path": ("edges from its closest earlier mention", lambda c: c.discourse.distances[c.closest]),
    "closest_clauses": ("clause boundaries from it", lambda c: c.discourse.clause_distances[c.closest]),
    "closest_function": ("function of it", lambda c: _function(c, c.closest)),
    "latest_function": (
        "function of the latest mention before the pronoun",
        lambda c: _function(c, c.earlier[-1] if c.earlier else -1),
    ),
    "salience": ("theta-prominence summed over earlier mentions, halved each sentence", lambda c: c.salience),
    "third_salience": (
        "salience less the most salient third person's",
        lambda c: c.salience - c.discourse.third_salience,
    ),
    "centre": ("preferred centre of the sentence before", _is_centre),
    "before": ("mentions in the sentence before", lambda c: len(_in_sentence(c, c.discourse.centre[0]))),
    "here": ("earlier mentions in the pronoun's sentence", lambda c: len(_here(c))),
    "here_subject": (
        "one of them a subject",
        lambda c: any(_function(c, i) == Role.SUBJECT for i in _here(c)),
    ),
    "here_main": (
        "one of them a subject of the main clause",
        lambda c: any(_is_main_subject(c.discourse.parse, i) for i in _here(c)),
    ),
    # other pronouns of the gender
    "companions_barred": ("other pronouns of the gender barred from it", _companions_barred),
    "companion_votes": ("other pronouns in its function, less the rival's", _companion_votes),
    "next_companion": ("tokens to the next pronoun of the gender", _nearest_companion),
    "taken_up": ("that pronoun is in its function", _taken_up),
    "previous_path": (
        "edges from the last same-gender pronoun before the pronoun",
        lambda c: nan if c.discourse.previous_same_gender < 0 else c.discourse.previous_distances[c.closest],
    ),
    "since_companion": (
        "first named after a pronoun of the gender",
        lambda c: any(i < min(c.mentions) for i in c.discourse.same_gender),
    ),
    "hobbs": (
        "rank in Hobbs' search, among persons",
        lambda c: c.discourse.hobbs.index(c.side) if c.side in c.discourse.hobbs else nan,
    ),
    "hobbs_first": ("first in Hobbs' search", lambda c: c.discourse.hobbs[:1] == [c.side]),
    "last_subject": (
        "main subject of the sentence before",
        lambda c: (
            c.discourse.subject_of_sentence(int(c.discourse.parse.sentence[c.discourse.at]) - 1) in c.mentions
        ),
    ),
    "closest_of_all": ("lead over all others in the tree, by any mention", lambda c: _leads(c, False)),
    "closest_parallel_of_all": (
        "lead over all others in the pronoun's function, by any mention",
        lambda c: _leads(c, True),
    ),
    "owned": ("owned by a pronoun of the gender (1) or of another (-1)", _owned_by),
}
