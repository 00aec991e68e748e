import numpy as np
import pytest

from gapstack.evaluation.diagnostics import (
    difficulty,
    label_quality,
    risk_coverage,
)


def confident(values):
    """Rows that answer A with this confidence."""
    return np.array([[value, (1 - value) / 2, (1 - value) / 2] for value in values])


def test_difficulty_bins_the_share_of_members_that_are_right():
    right = np.array([[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=bool)
    found = [name.removesuffix(" right") for name in difficulty(right.T)]
    assert found == ["all", "most", "most", "few", "none"]


def test_risk_coverage_answers_the_most_confident_rows_first():
    curve = risk_coverage(np.array([1, 0, 0, 1]), confident([0.5, 0.9, 0.8, 0.6]))
    assert curve.coverage.tolist() == [0.25, 0.5, 0.75, 1]
    assert curve.risk.tolist() == pytest.approx([0, 0, 1 / 3, 1 / 2])
    assert curve.area == pytest.approx(np.mean([0, 0, 1 / 3, 1 / 2]))
    for labels in ([0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]):
        tied = risk_coverage(np.array(labels), confident([0.7] * 4))
        assert tied.risk.tolist() == [0.5] * 4, "rows of equal confidence are answered together"


def test_planted_label_errors_come_first():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 300)
    wrong = rng.choice(300, 20, replace=False)
    labels = truth.copy()
    labels[wrong] = (truth[wrong] + 1) % 3
    probabilities = 0.85 * np.eye(3)[truth] + 0.05
    ranked = np.argsort(label_quality(labels, probabilities))
    assert set(ranked[:20]) == set(wrong)
