import numpy as np
import pytest

from gapstack.scoring import expected_calibration_error
from gapstack.scoring.agreement import answer_flips, correlations, difficulty, disagreement, double_fault
from gapstack.scoring.label_errors import label_quality, likely_errors, precision_at
from gapstack.scoring.reliability import reliability


def test_correlations_are_numpys_and_what_never_varies_has_none():
    values = np.random.default_rng(0).normal(size=(3, 50))
    np.testing.assert_allclose(correlations(values), np.corrcoef(values))
    values[1], values[2, 0] = 0.3, np.nan
    found = correlations(values)
    assert found[0, 0] == pytest.approx(1)
    assert np.isnan(found[1:]).all()
    assert np.isnan(found[:, 1:]).all()


def test_an_answer_flips_when_another_is_most_probable():
    before = np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])
    after = np.array([[0.4, 0.35, 0.25], [0.5, 0.3, 0.2]])
    assert answer_flips(before, after).tolist() == [False, True]
    assert answer_flips(np.stack([before, after]), after).tolist() == [[False, True], [False, False]]


def test_disagreement_and_double_fault_count_rows():
    true, false = [1, 0], [0, 0]
    decided = np.array([[true, true, false, false], [true, false, false, [0, 1]]], dtype=bool)
    np.testing.assert_allclose(disagreement(decided), [[0, 0.5], [0.5, 0]])
    right = np.array([[1, 0, 0, 0], [1, 1, 0, 0]], dtype=bool)
    np.testing.assert_allclose(double_fault(right), [[0.75, 0.5], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        ([1, 1, 1, 1], "all right"),
        ([1, 1, 1, 0], "most right"),
        ([1, 1, 0, 0], "most right"),
        ([1, 0, 0, 0], "few right"),
        ([0, 0, 0, 0], "none right"),
    ],
)
def test_difficulty_is_how_many_were_right(right, expected):
    assert difficulty(np.array(right, dtype=bool)[:, None]).tolist() == [expected]


def test_calibration_error_is_the_distance_between_the_reliability_columns():
    rng = np.random.default_rng(1)
    labels, given = rng.integers(0, 3, 200), rng.dirichlet([0.5] * 3, 200)
    found = reliability(labels, given)
    gaps = np.nan_to_num(np.abs(found.confidence - found.accuracy))
    assert (gaps * found.rows).sum() / 200 == pytest.approx(expected_calibration_error(labels, given))
    assert found.rows.sum() == 200
    assert np.isnan(found.confidence[:4]).all(), "the top of three answers is never below a third"


def test_planted_label_errors_come_first():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 300)
    wrong = rng.choice(300, 20, replace=False)
    labels = truth.copy()
    labels[wrong] = (truth[wrong] + 1) % 3
    probabilities = 0.85 * np.eye(3)[truth] + 0.05
    ids = [str(row) for row in range(300)]
    ranked = [ids[row] for row in np.argsort(label_quality(labels, probabilities))]
    known = {ids[row] for row in wrong}
    assert precision_at(20, ranked, known) == 1
    assert precision_at(40, ranked, known) == 0.5
    assert set(likely_errors(labels, probabilities)) == set(wrong)
    with pytest.raises(ValueError, match="nothing to take a share of"):
        precision_at(5, [], known)
