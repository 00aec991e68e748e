import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.data import Label
from gapstack.errors import DataError
from gapstack.evaluation import decisions, degenerate_scores, gold_decisions, score, score_decisions

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
