"""Pronouns with k candidates as rows of two names, and one distribution over the candidates and nobody.

A prediction for candidates i and j has three shares: i, j and NEITHER. All candidates and nobody are alternatives of a
choice (Luce 1959), of which each row shows three. A row thus gives odds of i to j, of i to nobody and of j to nobody.
Pairwise coupling (Hastie and Tibshirani 1998) by the second method of Wu, Lin and Weng (2004, section 4.2) finds the
distribution p that fits these odds best. With r_ij the mean share of i against j,

    minimise  sum over i < j of (r_ji p_i - r_ij p_j)^2,    sum of p = 1,

which is one linear system. In a row of two, NEITHER stands for nobody *and* for all other candidates, so that coupling
alone overestimates nobody more than threefold; the constant ``NOBODY`` corrects this.

GAP never shows a predictor names whose gender differs from the pronoun's, or how often a name recurs. Each adds a
weighted term to a candidate's log-odds. The result is a conditional logit over k candidates whose first feature is the
coupled pairs. The weights were fitted on GAP development and validation, predicted out of fold by the shipped model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

import numpy as np
from scipy.special import softmax

from gapstack.data import Example, Span
from gapstack.data.example import GENDER_BY_FORM, Gender, gender_of
from gapstack.members.people import Person
from gapstack.types import Bools, Floats, Probabilities

MAX_CANDIDATES = 6
"""Maximum number of candidates of a pronoun (15 pairs); 13% of GAP development's rows have more."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Question:
    """A pronoun of a window, its k candidates in text order, and the rows that compare them in pairs.

    ``mentions`` represent the candidates in rows; ``pairs`` are candidates A and B of each row, where -1 is a word that
    names nobody, the rival of a single candidate.
    """

    pronoun: Span
    people: tuple[Person, ...]
    mentions: tuple[Span, ...]
    pairs: tuple[tuple[int, int], ...]
    rows: tuple[Example, ...]


def question(text: str, pronoun: Span, people: Sequence[Person], url: str | None = None) -> Question:
    """Compare the people nearest to a pronoun, at most :data:`MAX_CANDIDATES`, in pairs.

    A person is represented by the last mention before the pronoun, else the first after it.
    """
    nearest = {
        person: mention for person in people if not (mention := person.nearest(pronoun)).overlaps(pronoun)
    }
    chosen = sorted(nearest, key=lambda person: abs(nearest[person].start - pronoun.start))[:MAX_CANDIDATES]
    chosen.sort(key=lambda person: nearest[person])
    mentions = tuple(nearest[person] for person in chosen)
    # overlapping mentions cannot be rivals
    rivals = [(i, j) for i, j in combinations(range(len(chosen)), 2) if not mentions[i].overlaps(mentions[j])]
    spans = [(mentions[i], mentions[j]) for i, j in rivals]
    if len(chosen) == 1 and (nobody := _nobody(text, pronoun, mentions[0])) is not None:
        rivals, spans = [(0, -1)], [(mentions[0], nobody)]
        if nobody < mentions[0]:
            rivals, spans = [(-1, 0)], [(nobody, mentions[0])]
    rows = tuple(
        Example(f"{pronoun.start}-{number}", text, pronoun, a, b, url) for number, (a, b) in enumerate(spans)
    )
    return Question(pronoun, tuple(chosen), mentions, tuple(rivals), rows)


def _nobody(text: str, pronoun: Span, name: Span) -> Span | None:
    """The word nearest to the pronoun that is neither it nor the name; capitalised words first."""
    spans = [Span(*match.span()) for match in _WORD.finditer(text) if match[0].lower() not in GENDER_BY_FORM]
    return min(
        (span for span in spans if not span.overlaps(pronoun) and not span.overlaps(name)),
        key=lambda span: (not text[span.start].isupper(), abs(span.start - pronoun.start)),
        default=None,
    )


NOBODY = 1.22
"""Added to each candidate's log-odds against nobody."""
MISMATCH = -1.61
"""Added if title or first name suggest another gender than the pronoun's."""
AGREEMENT = 0.63
"""Added if they suggest the pronoun's gender."""
MENTIONS = 0.45
"""Multiplied by the logarithm of the candidate's number of mentions."""

WEIGHTS = (NOBODY, MISMATCH, AGREEMENT, MENTIONS)

_FLOOR = 1e-6


def couple(question: Question, probabilities: Probabilities, form: str) -> Floats:
    """Probabilities (k + 1,) of a question's candidates, the last of nobody, from predictions (rows, 3)."""
    return choice(pair_utilities(question, probabilities) + beyond_pairs(question, form) @ WEIGHTS)


def pair_utilities(question: Question, probabilities: Probabilities) -> Floats:
    """Log-odds (k,) of each candidate against nobody according to the pairs; 0 where no row shows it."""
    k = len(question.people)
    shares, counts = np.zeros((k + 1, k + 1)), np.zeros((k + 1, k + 1))

    def show(i: int, j: int, of_i: float, of_j: float) -> None:
        total = max(of_i + of_j, _FLOOR)
        shares[i, j] += of_i / total
        shares[j, i] += of_j / total
        counts[i, j] += 1
        counts[j, i] += 1

    for (i, j), (a, b, neither) in zip(question.pairs, probabilities.tolist(), strict=True):
        if i < 0 or j < 0:  # the rival names nobody
            share = a if j < 0 else b
            show(max(i, j), k, share, 1 - share)
        else:
            show(i, j, a, b)
            show(i, k, a, neither)
            show(j, k, b, neither)
    shown: Bools = counts > 0
    r: Floats = np.divide(shares, counts, out=np.full_like(shares, 0.5), where=shown)
    p = np.clip(_coupled(r, shown), _FLOOR, None)
    reached: Bools = np.sum(shown[:k], axis=1) > 0
    return np.where(reached, np.log(p[:k] / p[k]), 0.0)


def _coupled(r: Floats, shown: Bools) -> Floats:
    """Solve for the distribution (n,) whose odds are nearest to r_ij : r_ji where they are shown."""
    n = len(r)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = -(r * r.T) * shown
    np.fill_diagonal(system, [*(r.T**2 * shown).sum(axis=1), 0.0])
    system[:n, n] = system[n, :n] = 1.0
    solution: Floats = np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0]
    return solution[:n]


def beyond_pairs(question: Question, form: str) -> Floats:
    """Candidate features (k, 4) that pairs do not show: the columns of :data:`WEIGHTS`."""
    gender = gender_of(form)
    rows = [
        (
            1.0,
            gender is not Gender.NEUTRAL and person.gender not in (None, gender),
            person.gender is gender,
            log(len(person.mentions)),
        )
        for person in question.people
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, len(WEIGHTS))


def choice(utilities: Floats) -> Floats:
    """Probabilities (k + 1,) of alternatives with these utilities, the last with utility 0."""
    shares: Floats = softmax(np.append(utilities, 0.0))
    return shares


def reasons(question: Question, probabilities: Probabilities, form: str) -> list[tuple[str, ...]]:
    """What speaks for or against each candidate of a pronoun, given the predictions (rows, 3) for its pairs.

    What a predictor reads inside a row of two names is not known here, only whom it prefers.
    """
    every = [
        (
            _gender(person.gender, form),
            f"named {len(person.mentions)} times" if len(person.mentions) > 1 else "",
            _pairs(question, place, probabilities),
        )
        for place, person in enumerate(question.people)
    ]
    return [tuple(filter(None, phrases)) for phrases in every]


def _pairs(question: Question, place: int, probabilities: Probabilities) -> str:
    """How a candidate does against the others, in rows of two names."""
    if len(question.people) == 1:
        return "the only person named nearby"
    won = [
        (a > b) == (place == i)
        for (i, j), (a, b, _) in zip(question.pairs, probabilities.tolist(), strict=True)
        if place in (i, j)
    ]
    if len(won) == 1:
        return "preferred to the other name" if won[0] else "the other name is preferred"
    return f"preferred in {sum(won)} of {len(won)} pairs" if won else ""


def _gender(suggested: Gender | None, form: str) -> str:
    """The comparison of the gender that title or first name suggest with the pronoun's."""
    gender = gender_of(form)
    if suggested is None or gender is Gender.NEUTRAL:
        return ""
    unlike = "" if suggested is gender else f", unlike {form.lower()!r}"
    return f"{suggested} title or first name{unlike}"
