"""Shares, correlations and means over trainings against plain computations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.audits.statistics import correlation, mean_percent, over_seeds, shares


def test_shares_are_means_over_a_part_and_have_no_value_without_rows():
    groups = np.array(["a", "a", "b", "b"])
    where = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)
    parts = dict(zip("abc", where.T, strict=True))
    first, second, third = shares(groups, np.array([1.0, 0, 1, 1]), parts).values()
    assert first.value == pytest.approx(200 / 3)
    assert (second.value, second.low, second.high) == (100, 100, 100)
    assert np.isnan(third).all()
    # replicates are aa, ab, bb: 1 of 2, 2 of 3, 1 of 1
    assert (first.low, first.high) == pytest.approx((50, 100))


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=5, max_size=30))
def test_correlation_is_pearsons(points):
    x, y = np.array(points, dtype=float).T
    found = correlation(x, y)
    if np.ptp(x) and np.ptp(y):
        assert found.value == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)
    else:
        assert np.isnan(found.value)


EACH = np.arange(200).astype(str)


def trainings(*shares):
    """One training for each share of 200 pairs that are right."""
    return np.stack([np.arange(200) < share * 200 for share in shares]).astype(float)[..., None]


def test_scores_are_means_over_trainings_and_trainings_that_disagree_widen_the_interval():
    found = over_seeds(EACH, trainings(0.5, 0.7), trainings(0.2, 0.4), mean_percent)
    assert [side.value for side in found.values()] == pytest.approx([60, 30, 45, 30])
    assert all(side.low < side.value < side.high for side in found.values())
    alike, apart = (
        over_seeds(EACH, trainings(*each), trainings(0.3, 0.3), mean_percent)["pro"]
        for each in ((0.5, 0.5), (0.1, 0.9))
    )
    assert alike.value == apart.value
    assert apart.high - apart.low > 3 * (alike.high - alike.low)
