"""The official scorer against a slow one written from the definition; all scores, constant baselines and slices."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.data import Gender, Label
from gapstack.errors import DataError
from gapstack.evaluation import (
    bootstrap,
    contributions,
    decisions,
    degenerate_scores,
    gold_decisions,
    score,
    score_decisions,
)
from gapstack.evaluation.scores import SLICE_SCORES, DecisionCounts, GapScores, gap_scores, slice_scores

ROWS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["he", "Her", "they"])), min_size=1, max_size=20)


@settings(max_examples=40)
@given(rows=ROWS, seed=st.integers(0, 2**32 - 1))
def test_probabilities_score_as_their_decisions_and_labels_are_perfect(make_corpus, rows, seed):
    corpus = make_corpus(*zip(*rows, strict=True))
    probabilities = np.random.default_rng(seed).dirichlet([1, 1, 1], len(corpus))
    by_probability = score(corpus, probabilities)
    by_decision = score_decisions(corpus, decisions(probabilities))
    assert by_probability.gap == by_decision.gap
    assert by_probability.accuracy == pytest.approx(by_decision.accuracy)
    assert (by_decision.logloss, by_decision.brier, by_decision.ece) == (None, None, None)
    perfect = score(corpus, np.eye(3)[corpus.labels])
    assert perfect.accuracy == 1
    assert perfect.logloss == pytest.approx(0, abs=1e-12)
    assert perfect.gap.overall.fp == perfect.gap.overall.fn == 0
    assert score_decisions(corpus, gold_decisions(corpus)).gap == perfect.gap


def test_unlabelled_empty_and_misshapen_are_refused(make_corpus):
    corpus = make_corpus([Label.A], ["he"])
    with pytest.raises(DataError, match="no label"):
        score(corpus.unlabelled(), np.ones((1, 3)))
    with pytest.raises(DataError, match="nothing to score"):
        score(corpus[:0], np.ones((0, 3)))
    with pytest.raises(DataError, match="2 rows"):
        score_decisions(corpus, np.ones((2, 2), dtype=bool))


@settings(max_examples=40)
@given(rows=ROWS, seed=st.integers(0, 2**32 - 1))
def test_constant_baselines_are_what_their_names_say(make_corpus, rows, seed):
    corpus = make_corpus(*zip(*rows, strict=True))
    found = degenerate_scores(corpus, training_labels=np.array([1, 1, 0]))
    assert list(found) == ["always A", "always B", "both TRUE", "class prior of training labels"]
    assert found["always A"].accuracy == pytest.approx((corpus.labels == 0).mean())
    assert found["both TRUE"].double_true == len(rows)
    named = int((corpus.labels != 2).sum())
    assert found["both TRUE"].f1_overall == pytest.approx(100 * 2 * named / (2 * len(rows) + named))
    assert found["class prior of training labels"].gap == found["always B"].gap
    prior = degenerate_scores(corpus)["class prior of these labels"]
    constant = np.random.default_rng(seed).dirichlet([1, 1, 1])
    assert score(corpus, np.tile(constant, (len(rows), 1))).logloss >= prior.logloss - 1e-9


GENDERS = [gender.value for gender in Gender]
ANSWER = st.sampled_from([True, False, None])
ROW = st.tuples(st.sampled_from([(True, False), (False, True), (False, False)]), ANSWER, ANSWER)
ANSWERED = st.lists(st.tuples(ROW, st.sampled_from(GENDERS)), min_size=1, max_size=30)


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


@given(ANSWERED)
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


@given(ANSWERED)
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


IN_PARTS = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from(["he", "her"]), st.sampled_from("wxyz"), st.sampled_from("ab")
    ),
    min_size=1,
    max_size=14,
)


@settings(max_examples=40)
@given(rows=IN_PARTS, seed=st.integers(0, 2**32 - 1))
def test_values_are_the_scores_of_the_rows(make_corpus, rows, seed):
    labels, pronouns, pages, parts = (list(column) for column in zip(*rows, strict=True))
    corpus = make_corpus(labels, pronouns, pages)
    members = np.random.default_rng(seed).dirichlet([1, 1, 1], (2, len(rows)))
    tables = {str(k): contributions(corpus, each) for k, each in enumerate(members)}
    made = slice_scores(corpus.groups, corpus.genders, tables, {"part": np.array(parts)}, replicates=3)
    assert [found.value for found in made] == sorted(set(parts))
    for found in made:
        here = np.flatnonzero(np.array(parts) == found.value)
        taken = corpus.take(here)
        assert (found.rows, found.masculine) == (len(here), (taken.genders == "masculine").sum())
        for column, each in enumerate(members):
            expected = score(taken, each[here])
            ours = {key: values[column, 0] for key, values in found.scores.items()}
            # without a name that is right there is no F1
            named = {gender for gender, label in zip(taken.genders, taken.labels, strict=True) if label != 2}
            gap = expected.f1_feminine - expected.f1_masculine if len(named) == 2 else np.nan
            assert ours["f1_overall_gap"] == pytest.approx(gap, nan_ok=True)
            assert ours["f1_overall"] == pytest.approx(expected.f1_overall if named else np.nan, nan_ok=True)
            for key in ("logloss", "accuracy"):
                assert ours[key] == pytest.approx(expected.value(key))


@pytest.fixture(scope="module")
def planted(make_corpus):
    rng, n = np.random.default_rng(1), 240
    corpus = make_corpus(
        rng.integers(0, 3, n).tolist(), ["he", "she"] * (n // 2), [f"p{r // 3}" for r in range(n)]
    )
    sharp = np.where(corpus.genders == "masculine", 4.0, 1.0)[:, None]
    raw = np.exp(sharp * np.eye(3)[corpus.labels] + rng.normal(size=(n, 3)))
    return corpus, {"m": contributions(corpus, raw / raw.sum(axis=1, keepdims=True))}


def test_slice_of_everything_has_the_intervals_of_the_bootstrap(planted):
    corpus, members = planted
    everything = {"all": np.full(len(corpus), "yes")}
    (whole,) = slice_scores(corpus.groups, corpus.genders, members, everything, replicates=700, seed=9)
    expected = bootstrap(corpus.groups, members, replicates=700, seed=9)
    for metric in ("logloss", "accuracy", "f1_overall", "f1_masculine", "f1_feminine"):
        assert whole.scores[metric][0] == pytest.approx(list(expected.interval("m", metric)), rel=1e-4)
    assert set(whole.scores) == set(SLICE_SCORES)


def test_order_is_kept_and_rows_without_a_value_are_left_out(planted):
    corpus, members = planted
    values = {"distance": np.array(["near", "far", "", "odd"] * 60)}
    order = {"distance": ("near", "far", "nowhere")}
    made = slice_scores(corpus.groups, corpus.genders, members, values, order=order, replicates=4)
    assert [(found.value, found.rows) for found in made] == [("near", 60), ("far", 60), ("odd", 60)]
