"""The scorer against a slow one written from the definition, row by row and answer by answer."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data import Gender
from gapstack.evaluation.scores import DecisionCounts, GapScores, gap_scores

GENDERS = [gender.value for gender in Gender]
ANSWER = st.sampled_from([True, False, None])
ROW = st.tuples(st.sampled_from([(True, False), (False, True), (False, False)]), ANSWER, ANSWER)
ROWS = st.lists(st.tuples(ROW, st.sampled_from(GENDERS)), min_size=1, max_size=30)


def arrays_of(rows):
    gold = np.array([row[0] for row, _ in rows])
    answered = np.array([[row[1] is not None, row[2] is not None] for row, _ in rows])
    decided = np.array([[row[1] is True, row[2] is True] for row, _ in rows])
    return gold, decided, np.array([gender for _, gender in rows]), answered


def slow(rows):
    """Counter of outcomes by gender and overall, by the definition."""
    found = {name: Counter() for name in [*GENDERS, "overall"]}
    for (gold, *answers), gender in rows:
        for truth, answer in zip(gold, answers, strict=True):
            if answer is None or (truth and not answer):
                kind = "fn"
            elif answer:
                kind = "tp" if truth else "fp"
            else:
                kind = "tn"
            for name in (gender, "overall"):
                found[name][kind] += 1
    return found


def slow_f1(counter):
    precision = counter["tp"] / (counter["tp"] + counter["fp"]) if counter["tp"] + counter["fp"] else 0
    recall = counter["tp"] / (counter["tp"] + counter["fn"]) if counter["tp"] + counter["fn"] else 0
    return 100 * 2 * precision * recall / (precision + recall) if precision + recall else 0


@given(ROWS)
def test_scores_are_those_of_the_definition(rows):
    scores, expected = gap_scores(*arrays_of(rows)), slow(rows)
    for name, counter in expected.items():
        counts = getattr(scores, name)
        assert (counts.tp, counts.fp, counts.fn, counts.tn) == tuple(
            counter[kind] for kind in ("tp", "fp", "fn", "tn")
        )
        assert counts.f1 == pytest.approx(slow_f1(counter))
    masculine, feminine = slow_f1(expected["masculine"]), slow_f1(expected["feminine"])
    assert scores.bias == (pytest.approx(feminine / masculine) if masculine and feminine else None)


@given(ROWS)
def test_no_answer_is_a_false_negative_even_where_gold_is_false(rows):
    gold, decided, genders, answered = arrays_of(rows)
    silent = gap_scores(gold, decided, genders, np.zeros_like(answered))
    assert silent.overall == DecisionCounts(tp=0, fp=0, fn=2 * len(rows), tn=0)


@pytest.mark.parametrize(
    ("counts", "precision", "recall", "f1"),
    [
        (DecisionCounts(3, 1, 2, 0), 75.0, 60.0, 200 / 3),
        (DecisionCounts(0, 0, 5, 0), 0.0, 0.0, 0.0),  # no answer TRUE
        (DecisionCounts(0, 0, 0, 0), 0.0, 0.0, 0.0),
    ],
)
def test_ratio_without_denominator_is_0(counts, precision, recall, f1):
    assert (counts.precision, counts.recall, counts.f1) == pytest.approx((precision, recall, f1))


def test_json_has_neutral_only_where_there_is_some():
    nothing, some = DecisionCounts(0, 0, 0, 0), DecisionCounts(1, 0, 0, 1)
    assert "neutral" not in GapScores(some, some, nothing, some).as_dict()
    assert GapScores(some, some, some, some).as_dict()["neutral"]["f1"] == 100
