"""The feature block ``cues``: syntactic and discourse features, one line each, for trees.

:data:`CANDIDATE` are the features of each name, :data:`SHARED` those of the row, symmetric in A and B. Third persons
are PERSON names that match neither A nor B; distances are dependency edges. Rows whose mentions have no token in the
parse are NaN.
"""

from collections.abc import Callable
from math import nan

import numpy as np

from gapstack.data import Example
from gapstack.features import ParseFeatures, Values
from gapstack.language.cues import Cue
from gapstack.language.discourse import Discourse, Name
from gapstack.language.grammar import Parse, PartOfSpeech, Role
from gapstack.language.scenes import Barrier

# farther than most pairs of names of one snippet, in edges
_FAR = 20.0


# Functions of a name.


def _barred(flag: Barrier) -> Callable[[Name], float]:
    return lambda c: bool(c.d.two.barriers[c.side] & flag)


def _chosen(cue: Cue) -> Callable[[Name], float]:
    """True if the cue, among all PERSON names, chooses one that matches this name."""
    return lambda c: nan if c.d.choices[cue] < 0 else bool(c.d.all.hits[c.d.choices[cue], c.side])


def _is_main_subject(c: Name, token: int) -> bool:
    return c.d.function(token) == Role.SUBJECT and bool(c.parse.clause_depth[token] == 0)


def _top_role(parse: Parse, own: int, other: int) -> int:
    """Role of the topmost token on the own side of the path between two tokens; -1 if that side is empty."""
    tokens = np.flatnonzero(parse.ancestors[own] & ~parse.ancestors[other])
    return int(parse.roles[tokens[parse.depth[tokens].argmin()]]) if len(tokens) else -1


def _nearer(c: Name, same_function: bool) -> int:
    """Number of persons without a barrier, the rival included, that are nearer in the tree."""
    d = c.d
    heads = d.free_third_heads + ([] if d.two.barriers[c.rival.side] else [c.rival.head])
    nearer = [h for h in heads if d.distances[h] < d.distances[c.head]]
    return sum(not same_function or d.function(h) == d.function(d.at) for h in nearer)


def _companion_votes(c: Name) -> int:
    """Number of other same-gender pronouns in the name's function, less those in the rival's."""
    functions = [c.d.function(i) for i in c.d.same_gender]
    return functions.count(c.d.function(c.head)) - functions.count(c.d.function(c.rival.head))


def _next_pronoun(c: Name) -> int:
    """The next pronoun of the gender after the name, the pronoun itself included; -1 without one."""
    return min((i for i in (*c.d.same_gender, c.d.at) if i > c.head), default=-1)


def _lead(c: Name, parallel: bool) -> float:
    """Distance of the others' nearest earlier mention without barriers less that of this name's; ``_FAR`` for none."""
    d = c.d
    nearest = {True: _FAR, False: _FAR}
    for who, head in d.person_mentions:
        if head < d.at and (not parallel or d.function(head) == d.function(d.at)):
            own = who == c.side
            nearest[own] = min(nearest[own], float(d.distances[head]))
    return nearest[False] - nearest[True]


def _is_centre(c: Name) -> bool:
    """True if it is the most prominent name of the sentence before the pronoun's."""
    return c.d.centre in [float(c.parse.theta[i]) for i in c.in_sentence(c.d.here - 1)]


def _owned_by(c: Name) -> int:
    """1 if a pronoun of the same gender owns the name's noun ("her sister Ann"), -1 if one of another gender does."""
    for noun in c.chain:
        for i in np.flatnonzero((c.parse.heads == noun) & (c.parse.roles == Role.POSSESSIVE)).tolist():
            if c.parse.pos[i] == PartOfSpeech.PRONOUN and i != c.d.at:
                return 1 if i in c.d.same_gender else -1
    return 0


def _children(c: Name, role: Role) -> int:
    return int(((c.parse.heads == c.head) & (c.parse.roles == role)).sum())


CANDIDATE: dict[str, Callable[[Name], float]] = {
    # position in the tree; a function is a role, or that of the head in coordinations and appositions
    "path": lambda c: c.d.distances[c.head],
    "clauses": lambda c: c.d.clause_distances[c.head],  # clause boundaries to the pronoun
    "depth": lambda c: c.parse.depth[c.head],
    "clause_depth": lambda c: c.parse.clause_depth[c.head],
    "sentence": lambda c: c.parse.sentence[c.head],
    "role": lambda c: c.parse.roles[c.head],
    "function": lambda c: c.d.function(c.head),
    "parallel": lambda c: c.d.function(c.head) == c.d.function(c.d.at),
    "theta": lambda c: c.parse.theta[c.head],
    "main_subject": lambda c: _is_main_subject(c, c.head),
    "clause_role": lambda c: c.parse.roles[c.parse.clause[c.head]],
    "owns": lambda c: (  # function of the noun that it owns
        c.d.function(int(c.parse.heads[c.head])) if c.d.function(c.head) == Role.POSSESSIVE else -1
    ),
    "coordinated": lambda c: _children(c, Role.CONJUNCT),
    "described": lambda c: _children(c, Role.APPOSITION),
    "related": lambda c: _children(c, Role.RELATIVE),
    # binding theory
    "domain": _barred(Barrier.DOMAIN),
    "commanded": _barred(Barrier.COMMAND),
    "with_pronoun": _barred(Barrier.COORDINATION),
    "owned_here": _barred(Barrier.APPOSITION),
    "commands": lambda c: c.parse.commands(c.chain[-1])[c.d.at],
    "contains": lambda c: c.parse.ancestors[c.d.at, c.head],  # for example by a relative clause
    "own_subject": lambda c: c.d.own_subject in c.chain,
    "upper_subject": lambda c: c.d.upper_subject in c.chain,
    "path_role": lambda c: _top_role(c.parse, c.head, c.d.at),
    "pronoun_path_role": lambda c: _top_role(c.parse, c.d.at, c.head),
    "commands_rival": lambda c: c.parse.commands(c.chain[-1])[c.rival.head],
    # competition
    "person": lambda c: any(span.overlaps(c.span) for span in c.d.all.spans),
    "nearer": lambda c: _nearer(c, False),
    "nearer_parallel": lambda c: _nearer(c, True),
    "third_margin": lambda c: (
        min((c.d.distances[h] for h in c.d.free_third_heads), default=nan) - c.d.distances[c.closest]
    ),
    "chosen_syntactic": _chosen(Cue.SYNTACTIC_DISTANCE),
    "chosen_parallel": _chosen(Cue.PARALLELISM),
    "chosen_url": _chosen(Cue.URL),
    "chosen_topical": _chosen(Cue.TOPICAL_ENTITY),
    # all mentions; "closest" is the closest earlier one, "here" the pronoun's sentence, "before" the one before it
    "mentions": lambda c: len(c.mentions),
    "subjects": lambda c: sum(c.d.function(i) == Role.SUBJECT for i in c.earlier),
    "closest_path": lambda c: c.d.distances[c.closest],
    "closest_clauses": lambda c: c.d.clause_distances[c.closest],
    "closest_function": lambda c: c.d.function(c.closest),
    "latest_function": lambda c: c.d.function(c.earlier[-1] if c.earlier else -1),
    "salience": lambda c: c.salience,
    "third_salience": lambda c: c.salience - c.d.third_salience,
    "centre": _is_centre,
    "before": lambda c: len(c.in_sentence(c.d.here - 1)),
    "here": lambda c: len(c.in_sentence(c.d.here)),
    "here_subject": lambda c: any(c.d.function(i) == Role.SUBJECT for i in c.in_sentence(c.d.here)),
    "here_main": lambda c: any(_is_main_subject(c, i) for i in c.in_sentence(c.d.here)),
    # companions: other pronouns of the gender
    "companions_barred": lambda c: c.d.same_gender_barriers[:, c.side].sum(),
    "companion_votes": _companion_votes,
    "next_companion": lambda c: _next_pronoun(c) - c.head if _next_pronoun(c) >= 0 else nan,
    "taken_up": lambda c: c.d.function(_next_pronoun(c)) == c.d.function(c.head),  # by the next one
    "previous_path": lambda c: nan if c.d.previous_distances is None else c.d.previous_distances[c.closest],
    "since_companion": lambda c: any(i < min(c.mentions) for i in c.d.same_gender),
    "hobbs": lambda c: c.d.hobbs.index(c.side) if c.side in c.d.hobbs else nan,
    "hobbs_first": lambda c: c.d.hobbs[:1] == [c.side],
    "last_subject": lambda c: c.d.subject_of_sentence(c.d.here - 1) in c.mentions,
    "closest_of_all": lambda c: _lead(c, False),
    "closest_parallel_of_all": lambda c: _lead(c, True),
    "owned": _owned_by,
}


# Functions of the row.


def _third_lead(d: Discourse, same_function: bool) -> float:
    """Lead of A and B over the third persons in the tree: positive if A or B is nearest."""
    heads = [h for h in d.free_third_heads if not same_function or d.function(h) == d.function(d.at)]
    two = min(float(d.distances[name.closest]) for name in d.names)
    return min((float(d.distances[h]) for h in heads), default=nan) - two


def _third_chosen(cue: Cue) -> Callable[[Discourse], float]:
    """True if the cue, among all PERSON names, chooses a third person: evidence for NEITHER."""
    return lambda d: nan if d.choices[cue] < 0 else not d.all.hits[d.choices[cue]].any()


def _has_subject_companion(d: Discourse) -> bool:
    earlier = [i for i in d.same_gender if i < d.at and d.parse.sentence[i] == d.here]
    return any(d.function(i) == Role.SUBJECT for i in earlier)


SHARED: dict[str, Callable[[Discourse], float]] = {
    # the pronoun; subjects by :meth:`Discourse.kind`
    "p_role": lambda d: d.parse.roles[d.at],
    "p_noun": lambda d: (  # function of the noun that it owns
        d.parse.functions[d.parse.heads[d.at]] if d.parse.roles[d.at] == Role.POSSESSIVE else -1
    ),
    "p_depth": lambda d: d.parse.depth[d.at],
    "p_clause_depth": lambda d: d.parse.clause_depth[d.at],
    "p_clause_role": lambda d: d.parse.roles[d.parse.clause[d.at]],
    "p_fronted": lambda d: (  # its clause precedes the one above it ("When she left, ...")
        d.parse.clause[d.parse.heads[d.parse.clause[d.at]]] > d.parse.clause[d.at]
    ),
    "p_own_subject": lambda d: d.kind(d.own_subject),
    "p_upper_subject": lambda d: d.kind(d.upper_subject),
    "p_main_subject": lambda d: d.kind(d.subject_of_sentence(d.here)),
    "p_last_subject": lambda d: d.kind(d.subject_of_sentence(d.here - 1)),
    "hobbs_third": lambda d: d.hobbs[0] == 2 if d.hobbs else nan,  # a third person is first in Hobbs' search
    # A and B
    "ab_path": lambda d: d.parse.distances(d.names[0].head, 1.0)[d.names[1].head],
    "ab_clause": lambda d: d.parse.clause[d.names[0].head] == d.parse.clause[d.names[1].head],
    "ab_joined": lambda d: d.names[0].chain[-1] == d.names[1].chain[-1],  # in one coordination
    "both_barred": lambda d: bool((d.two.barriers != 0).all()),
    # third persons
    "people": lambda d: len(d.all.spans),
    "thirds": lambda d: len({d.folded[head] for head in d.third_heads}),
    "free_thirds": lambda d: len(d.free_third_heads),
    "thirds_before": lambda d: sum(head < d.at for head in d.third_heads),
    "third_lead": lambda d: _third_lead(d, False),
    "third_lead_parallel": lambda d: _third_lead(d, True),
    "third_titled": lambda d: bool(d.measures.titled[d.third_persons].any()),
    "third_syntactic": _third_chosen(Cue.SYNTACTIC_DISTANCE),
    "third_parallel": _third_chosen(Cue.PARALLELISM),
    "third_url": _third_chosen(Cue.URL),
    "third_salience": lambda d: d.third_salience - max(name.salience for name in d.names),
    # other pronouns of the gender
    "companions": lambda d: len(d.same_gender),
    "companion_here": _has_subject_companion,
}


def _values(example: Example, parse: Parse) -> Values:
    """Both tables of one row: (2, k) and (m,)."""
    discourse = Discourse(example, parse)
    if discourse.at < 0 or (discourse.two.heads < 0).any():
        return np.full((2, len(CANDIDATE)), nan), np.full(len(SHARED), nan)
    candidates = [[float(feature(name)) for feature in CANDIDATE.values()] for name in discourse.names]
    return np.array(candidates), np.array([float(feature(discourse)) for feature in SHARED.values()])


cue_features = ParseFeatures("cue", CANDIDATE, SHARED, _values)
