"""Pairs that agree with one distribution give it back, and what no pair shows moves it as it should."""

import numpy as np
import pytest

from gapstack.data import Gender, Span
from gapstack.members import coupling
from gapstack.members.coupling import MAX_CANDIDATES, choice, couple, pair_utilities, question
from gapstack.members.people import Person

TEXT = "Ann met Bea, Cas, Dan, Eve, Flo, Gus and Hal before she left."
SHE = Span(TEXT.index("she"), TEXT.index("she") + 3)
NAMES = ["Ann", "Bea", "Cas", "Dan", "Eve", "Flo", "Gus", "Hal"]


def asked(*persons):
    """The question with these candidates, each (name, gender, how often it is named)."""
    people = []
    for name, gender, times in persons:
        start = TEXT.index(name)
        people.append(Person((Span(start, start + 3),) * times, gender))
    return question(TEXT, SHE, people)


def consistent(one, p):
    """What a predictor says that knows the distribution p (k + 1,)."""
    rows = np.array([[p[i], p[j], p[-1]] for i, j in one.pairs])
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_consistent_pairs_give_their_distribution_back(k):
    one = asked(*[(name, None, 1) for name in NAMES[:k]])
    p = np.random.default_rng(k).dirichlet(np.ones(k + 1))
    assert len(one.pairs) == k * (k - 1) // 2
    assert choice(pair_utilities(one, consistent(one, p))) == pytest.approx(p)


def test_probabilities_sum_to_one_and_are_raised_for_names_that_recur_or_agree_in_gender():
    one = asked(("Ann", Gender.FEMININE, 1), ("Bea", Gender.MASCULINE, 1), ("Cas", None, 3))
    p = couple(one, consistent(one, np.array([0.3, 0.3, 0.3, 0.1])), "she")
    assert p.sum() == pytest.approx(1)
    assert np.log(p[0] / p[1]) == pytest.approx(coupling.AGREEMENT - coupling.MISMATCH)
    assert np.log(p[2] / p[0]) == pytest.approx(coupling.MENTIONS * np.log(3) - coupling.AGREEMENT)
    assert np.log(p[0] / p[3]) == pytest.approx(np.log(3) + coupling.NOBODY + coupling.AGREEMENT)
    neutral = couple(one, consistent(one, np.array([0.3, 0.3, 0.3, 0.1])), "they")
    assert neutral[0] == pytest.approx(neutral[1])


def test_one_candidate_is_compared_with_a_word_that_is_nobody():
    one = asked(("Bea", None, 1))
    assert one.pairs == ((0, -1),)
    (row,) = one.rows
    assert (row.a_text, row.b_text) == ("Bea", "Hal")
    assert choice(pair_utilities(one, np.array([[0.5, 0.2, 0.3]]))) == pytest.approx([0.5, 0.5])


def test_without_candidates_it_is_nobody_and_without_a_row_nobody_knows():
    assert couple(question(TEXT, SHE, []), np.empty((0, 3)), "she").tolist() == [1.0]
    alone = question("Ann she", Span(4, 7), [Person((Span(0, 3),))])
    assert alone.rows == ()
    assert couple(alone, np.empty((0, 3)), "she")[0] == pytest.approx(1 / (1 + np.exp(-coupling.NOBODY)))


def test_the_nearest_of_many_people_are_rivals_unless_they_overlap():
    one = asked(*[(name, None, 1) for name in NAMES])
    assert [TEXT[slice(*mention)] for mention in one.mentions] == NAMES[-MAX_CANDIDATES:]
    assert question(TEXT, SHE, [Person((Span(0, 3),)), Person((Span(0, 11),))]).pairs == ()
