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
        (np.ones((2, 3)), "1 labels"),
    ],
)
def test_rows_that_are_not_probabilities_are_refused(rows, named):
    with pytest.raises(DataError, match=named):
        metrics.log_loss(np.array([0]), rows)
