import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as sklearn_log_loss

from gapstack.errors import DataError
from gapstack.evaluation import metrics

ROWS = arrays(np.float64, st.tuples(st.integers(1, 12), st.just(3)), elements=st.floats(1e-6, 1e3))
SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize(
    ("label", "row", "loss"),
    [
        (0, [1.0, 0.0, 0.0], -math.log(1 - 1e-15)),  # clipped above
        (1, [1.0, 0.0, 0.0], -math.log(1e-15)),  # clipped below, not infinite
        (2, [1.0, 1.0, 2.0], math.log(2)),  # divided by its sum first
        (0, [5e-16, 5e-16, 0.0], math.log(2)),  # divided before it is clipped
    ],
)
def test_loss_is_kaggles(label, row, loss):
    assert metrics.log_loss(np.array([label]), [row]) == pytest.approx(loss, rel=1e-12)


@settings(max_examples=30)
@given(ROWS, SEEDS)
def test_logloss_and_brier_agree_with_sklearn_for_one_member_or_several(rows, seed):
    labels = np.random.default_rng(seed).integers(0, 3, len(rows))
    normalised = metrics.normalise(rows)
    expected = sklearn_log_loss(labels, normalised, labels=[0, 1, 2])
    np.testing.assert_allclose(metrics.log_loss(labels, rows), expected, rtol=1e-9)
    expected = brier_score_loss(labels, normalised, labels=[0, 1, 2], scale_by_half=False)
    np.testing.assert_allclose(metrics.example_briers(labels, rows).mean(), expected, rtol=1e-9)
    members = np.stack([rows, rows[:, ::-1], rows**0.5])
    for metric in (metrics.example_losses, metrics.example_briers, metrics.calibration_gaps):
        alone = np.stack([metric(labels, member) for member in members])
        np.testing.assert_array_equal(metric(labels, members), alone)


@pytest.mark.parametrize(
    ("row", "decided"),
    [
        ([0.3, 0.5, 0.2], [False, True]),
        ([0.2, 0.3, 0.5], [False, False]),
        ([0.4, 0.4, 0.2], [True, False]),  # ties go left
        ([0.4, 0.2, 0.4], [True, False]),
        ([0.2, 0.4, 0.4], [False, True]),
    ],
)
def test_decision_is_the_leftmost_maximum(row, decided):
    assert metrics.decisions([row]).tolist() == [decided]


def test_calibration_error_by_hand():
    # bin (0.6, 0.8]: confidences 0.8 (hit) and 0.7 (miss), gap |1.5 - 1| / 2; bin (0.8, 1]: 0.9 (hit), gap 0.1
    rows = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.05, 0.05, 0.9]]
    gaps = metrics.calibration_gaps(np.array([0, 0, 2]), rows, bins=5)
    assert np.abs(gaps.mean(axis=0)).sum() == pytest.approx((0.5 + 0.1) / 3)


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ([[1, 0, 0], [1, 0, 0], [0, 0, 0]], "row 2"),
        ([[0.5, -0.1, 0.6]], "row 0"),
        ([[math.nan, 0.5, 0.5]], "row 0"),
        ([[math.inf, 0.5, 0.5]], "row 0"),
        ([[0.5, 0.5]], "shape"),
        ([0.2, 0.3, 0.5], "shape"),
        (np.ones((2, 3)), "expected 1"),
    ],
)
def test_rows_that_are_not_probabilities_are_refused(rows, named):
    with pytest.raises(DataError, match=named):
        metrics.log_loss(np.array([0]), rows)


def test_equalised_odds_are_the_larger_difference_of_the_rates(make_corpus):
    corpus = make_corpus([0, 0, 0, 1], ["he", "he", "she", "she"])
    answers = np.eye(3)[[0, 0, 0, 0]]  # he: both right; she: one right, one wrong
    metric = metrics.METRICS["equalised_odds"]
    # true positive rates 2/2 and 1/2, false positive rates 0/2 and 1/2
    assert metric.value(corpus, metrics.Predictions.of(answers)) == pytest.approx(50)
    assert metric.value(corpus[:2], metrics.Predictions.of(answers[:2])) is None, "no feminine rows"


@settings(max_examples=20)
@given(SEEDS)
def test_the_calibration_gap_is_the_difference_of_the_genders_errors(make_corpus, seed):
    rng = np.random.default_rng(seed)
    corpus = make_corpus(rng.integers(0, 3, 40).tolist(), ["he", "she"] * 20)
    rows = rng.dirichlet([1, 1, 1], 40)
    errors = [
        np.abs(metrics.calibration_gaps(corpus.labels[side::2], rows[side::2], bins=5).mean(axis=0)).sum()
        for side in (1, 0)
    ]
    found = metrics.METRICS["ece_gap"].value(corpus, metrics.Predictions.of(rows))
    assert found == pytest.approx(errors[0] - errors[1])
