"""The feature block ``cues``: syntactic and discourse features, one line each, for trees.

:data:`~gapstack.features.cue_names.CANDIDATE` are the features of each name, :data:`SHARED` those of the row, symmetric
in A and B. Third persons are PERSON names that match neither A nor B; distances are dependency edges. Rows whose
mentions have no token in the parse are NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan

import numpy as np

from gapstack.data import Example
from gapstack.features.blocks import ParseFeatures
from gapstack.features.cue_names import CANDIDATE
from gapstack.text.cues import Cue
from gapstack.text.discourse import Discourse
from gapstack.text.grammar import Parse, Role
from gapstack.types import Floats


def _best_third(d: Discourse, same_function: bool) -> float:
    """Lead of A and B over the third persons in the tree: positive if A or B is nearest."""
    function = d.parse.functions[d.at]
    distances = [
        float(d.distances[h])
        for h in d.all.heads[d.free_third_persons]
        if not same_function or d.parse.functions[h] == function
    ]
    two = min(float(d.distances[name.closest]) for name in d.names)
    return min(distances, default=nan) - two


def _third_chosen(cue: Cue) -> Callable[[Discourse], float]:
    """True if the cue, among all PERSON names, chooses a third person: evidence for NEITHER."""

    def feature(d: Discourse) -> float:
        winner = d.choices[cue]
        return nan if winner < 0 else bool(~d.all.hits[winner].any())

    return feature


def _is_fronted(d: Discourse) -> bool:
    """True if the pronoun's clause precedes the clause that it depends on ("When she left, ...")."""
    parse = d.parse
    clause = int(parse.clause[d.at])
    return bool(parse.clause[parse.heads[clause]] > clause)


def _third_names(d: Discourse) -> set[str]:
    return {d.folded[int(h)] for h in d.all.heads[d.third_persons]}


def _ab_path(d: Discourse) -> float:
    return float(d.parse.distances(d.names[0].head, 1.0)[d.names[1].head])


SHARED: dict[str, tuple[str, Callable[[Discourse], float]]] = {
    "p_role": ("pronoun's role", lambda d: d.parse.roles[d.at]),
    "p_noun": (
        "function of a possessive pronoun's noun, else -1",
        lambda d: d.parse.functions[d.parse.heads[d.at]] if d.parse.roles[d.at] == Role.POSSESSIVE else -1,
    ),
    "p_depth": ("pronoun's edges to its root", lambda d: d.parse.depth[d.at]),
    "p_clause_depth": ("clauses above the pronoun's own", lambda d: d.parse.clause_depth[d.at]),
    "p_clause_role": ("role of the pronoun's clause", lambda d: d.parse.roles[d.parse.clause[d.at]]),
    "p_fronted": ("pronoun's clause precedes the one above it", _is_fronted),
    "p_own_subject": (
        "kind of the subject of its clause, see Discourse.kind",
        lambda d: d.kind(d.own_subject),
    ),
    "p_upper_subject": ("kind of the subject of the clause above", lambda d: d.kind(d.upper_subject)),
    "p_main_subject": (
        "kind of the main subject of its sentence",
        lambda d: d.kind(d.subject_of_sentence(int(d.parse.sentence[d.at]))),
    ),
    "p_last_subject": (
        "kind of the main subject of the sentence before",
        lambda d: d.kind(d.subject_of_sentence(int(d.parse.sentence[d.at]) - 1)),
    ),
    "hobbs_third": (
        "a third person is first in Hobbs' search",
        lambda d: d.hobbs[0] == 2 if d.hobbs else nan,
    ),
    "ab_path": ("edges between A and B", _ab_path),
    "ab_clause": (
        "A and B in one clause",
        lambda d: bool(d.parse.clause[d.names[0].head] == d.parse.clause[d.names[1].head]),
    ),
    "ab_joined": ("A and B in one coordination", lambda d: d.names[0].chain[-1] == d.names[1].chain[-1]),
    "both_barred": ("both behind barriers", lambda d: bool((d.two.barriers != 0).all())),
    "people": ("PERSON names", lambda d: len(d.all.spans)),
    "thirds": ("different third persons", lambda d: len(_third_names(d))),
    "free_thirds": ("their names without a barrier", lambda d: len(d.free_third_persons)),
    "thirds_before": (
        "their names before the pronoun",
        lambda d: (d.all.heads[d.third_persons] < d.at).sum(),
    ),
    "third_lead": ("lead of A and B over them", lambda d: _best_third(d, False)),
    "third_lead_parallel": (
        "lead over those in the pronoun's function",
        lambda d: _best_third(d, True),
    ),
    "third_titled": (
        "one of them shares a word with the title",
        lambda d: bool(d.measures.titled[d.third_persons].any()),
    ),
    "third_syntactic": ("chosen by syntactic distance", _third_chosen(Cue.SYNTACTIC_DISTANCE)),
    "third_parallel": ("chosen by parallelism", _third_chosen(Cue.PARALLELISM)),
    "third_url": ("chosen by url", _third_chosen(Cue.URL)),
    "third_salience": (
        "their greatest salience less that of A and B",
        lambda d: d.third_salience - max(name.salience for name in d.names),
    ),
    "companions": ("other pronouns of the gender", lambda d: len(d.same_gender)),
    "companion_here": (
        "one of them earlier in the sentence, as subject",
        lambda d: any(
            i < d.at
            and d.parse.sentence[i] == d.parse.sentence[d.at]
            and d.parse.functions[i] == Role.SUBJECT
            for i in d.same_gender
        ),
    ),
}


def _values(example: Example, parse: Parse) -> tuple[Floats, Floats]:
    """Both tables of one row: (2, k) and (m,)."""
    discourse = Discourse(example, parse)
    if discourse.at < 0 or (discourse.two.heads < 0).any():
        return np.full((2, len(CANDIDATE)), nan), np.full(len(SHARED), nan)
    candidates = [[float(feature(name)) for _, feature in CANDIDATE.values()] for name in discourse.names]
    return np.array(candidates), np.array([float(feature(discourse)) for _, feature in SHARED.values()])


cue_features = ParseFeatures("cue", CANDIDATE, SHARED, _values)
