"""The risk-coverage curve on rows whose order of confidence is known."""

import numpy as np
import pytest

from gapstack.scoring.risk_coverage import risk_coverage


def confident(values):
    """Rows that say A with this confidence."""
    return np.array([[value, (1 - value) / 2, (1 - value) / 2] for value in values])


def test_the_most_confident_are_answered_first():
    curve = risk_coverage(np.array([1, 0, 0, 1]), confident([0.5, 0.9, 0.8, 0.6]))
    assert curve.coverage.tolist() == [0.25, 0.5, 0.75, 1]
    assert curve.risk.tolist() == pytest.approx([0, 0, 1 / 3, 1 / 2])
    assert curve.area == pytest.approx(np.mean([0, 0, 1 / 3, 1 / 2]))


def test_rows_of_equal_confidence_are_answered_together():
    probabilities = confident([0.7, 0.7, 0.7, 0.7])
    for labels in ([0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]):
        assert risk_coverage(np.array(labels), probabilities).risk.tolist() == [0.5] * 4


def test_the_last_point_is_the_error_rate_and_many_rows_have_few_points():
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.ones(3), size=500)
    labels = rng.integers(0, 3, size=500)
    curve = risk_coverage(labels, probabilities, points=20)
    assert len(curve.coverage) == len(curve.risk) == 20
    assert curve.coverage[-1] == 1
    assert curve.risk[-1] == pytest.approx((probabilities.argmax(axis=1) != labels).mean())
