"""One distribution over k candidates and nobody, out of three-way answers about pairs.

A predictor's answer about candidates i and j has three shares: of i, of j, and of NEITHER. All candidates and nobody
are taken as alternatives of one choice (Luce 1959), of which each row shows three, so that a row gives odds of i to j,
of i to nobody and of j to nobody. Sought is the distribution p whose odds are these as nearly as can be: pairwise
coupling (Hastie and Tibshirani 1998) by the second method of Wu, Lin and Weng (2004, section 4.2), with r_ij the mean
share of i against j,

    minimise  sum over i < j of (r_ji p_i - r_ij p_j)^2,    sum of p = 1,

one linear system. NEITHER is treated as an alternative of every row, then corrected once: in a row of two it stands for
nobody *and* for all other candidates, so that coupling alone gives nobody more than three times too much (``NOBODY``).

Rows of GAP never show a predictor what k candidates show: names of another gender than the pronoun's (GAP's pairs have
none), and names that recur. Each moves the log-odds of a candidate by a weight of its own. So in the end this is a
conditional logit over k candidates, whose first feature is what the pairs say. ``benchmarks/coupling.py`` measures it
beside the alternatives and fits the weights; those below are of GAP development and validation, answered out of fold by
the model that ships.
"""

from __future__ import annotations

from math import log

import numpy as np

from gapstack.antecedents.questions import Question
from gapstack.corpus.pronouns import Gender, gender_of
from gapstack.types import Bools, Floats, Probabilities

NOBODY = 1.22
"""Added to each candidate's log-odds against nobody."""
MISMATCH = -1.61
"""Added where title or first name tell another gender than the pronoun's."""
AGREEMENT = 0.63
"""Added where they tell the pronoun's gender."""
MENTIONS = 0.45
"""Times the logarithm of how often the candidate is named."""

WEIGHTS = (NOBODY, MISMATCH, AGREEMENT, MENTIONS)

_FLOOR = 1e-6


def couple(question: Question, probabilities: Probabilities, form: str) -> Floats:
    """Give the probabilities (k + 1,) of a question's candidates, and last of nobody.

    Parameters
    ----------
    question : Question
    probabilities : (rows, 3) float64
        What a predictor says of the question's rows.
    form : str
        The pronoun; a neutral one tells no gender.
    """
    return choice(pair_utilities(question, probabilities) + beyond_pairs(question, form) @ WEIGHTS)


def pair_utilities(question: Question, probabilities: Probabilities) -> Floats:
    """Log-odds (k,) of each candidate against nobody, as the pairs have them; 0 where no row shows it."""
    k = len(question.people)
    shares, counts = np.zeros((k + 1, k + 1)), np.zeros((k + 1, k + 1))

    def show(i: int, j: int, of_i: float, of_j: float) -> None:
        total = max(of_i + of_j, _FLOOR)
        shares[i, j] += of_i / total
        shares[j, i] += of_j / total
        counts[i, j] += 1
        counts[j, i] += 1

    for (i, j), (a, b, neither) in zip(question.pairs, probabilities.tolist(), strict=True):
        if i < 0 or j < 0:  # the rival's share is nobody's
            own = a if j < 0 else b
            show(max(i, j), k, own, 1 - own)
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
    """What no pair shows of each candidate, (k, 4): the columns of :data:`WEIGHTS`."""
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
    """Probabilities (k + 1,) of alternatives with these utilities, and last of one with utility 0."""
    logits = np.append(utilities, 0.0)
    exponentials: Floats = np.exp(logits - logits.max())
    shares: Floats = exponentials / exponentials.sum()
    return shares
