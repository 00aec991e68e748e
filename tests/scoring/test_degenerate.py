import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.scoring import degenerate_scores, score

LABELS = st.lists(st.integers(0, 2), min_size=1, max_size=30)


@given(labels=LABELS, seed=st.integers(0, 2**32 - 1))
def test_no_constant_answer_beats_the_prior_of_the_labels_themselves(make_corpus, labels, seed) -> None:
    corpus = make_corpus(labels, ["he"] * len(labels))
    prior = degenerate_scores(corpus)["class prior of these labels"]
    shares = np.bincount(labels, minlength=3) / len(labels)
    entropy = -sum(share * np.log(share) for share in shares if share)
    assert prior.logloss == pytest.approx(entropy, abs=1e-9)
    constant = np.random.default_rng(seed).dirichlet([1, 1, 1])
    assert score(corpus, np.tile(constant, (len(labels), 1))).logloss >= prior.logloss - 1e-9


@given(labels=LABELS)
def test_degenerate_rows_are_what_their_names_say(make_corpus, labels) -> None:
    corpus = make_corpus(labels, ["she"] * len(labels))
    rows = degenerate_scores(corpus, training_labels=np.array([1, 1, 0]))
    assert list(rows) == ["always A", "always B", "both TRUE", "class prior of training labels"]
    assert rows["always A"].accuracy == pytest.approx(labels.count(0) / len(labels))
    assert rows["always B"].accuracy == pytest.approx(labels.count(1) / len(labels))
    assert rows["both TRUE"].double_true == len(labels)
    named = len(labels) - labels.count(2)
    assert rows["both TRUE"].f1_overall == pytest.approx(100 * 2 * named / (2 * len(labels) + named))
    assert rows["class prior of training labels"].gap == rows["always B"].gap
