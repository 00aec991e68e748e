"""Shares, correlations and paired differences against plain computations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, linregress

from gapstack.audit.statistics import correlation, mean_percent, over_seeds, paired, regression, shares


def test_shares_are_means_over_the_rows_picked_and_have_no_value_without_any():
    groups = np.array(["a", "a", "b", "b"])
    values = np.array([[1.0, 1, 1], [0, 1, 1], [1, 0, 1], [1, 0, 1]])
    where = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)
    first, second, third = shares(groups, values, where)
    assert first.value == pytest.approx(200 / 3)
    assert (second.value, second.low, second.high) == (100, 100, 100)
    assert np.isnan(third).all()
    # replicates are aa, ab, bb: 1 of 2, 2 of 3, 1 of 1
    assert (first.low, first.high) == pytest.approx((50, 100))


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=5, max_size=30))
def test_correlation_is_pearsons(points):
    x, y = np.array(points, dtype=float).T
    found = correlation(x, y, replicates=50)
    if np.ptp(x) and np.ptp(y):
        assert found.value == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)
    else:
        assert np.isnan(found.value)


def test_a_paired_difference_is_the_difference_and_its_p_that_of_a_sign_test():
    rng = np.random.default_rng(1)
    first = (rng.random((200, 1)) < 0.7).astype(float)
    second = (rng.random((200, 1)) < 0.55).astype(float)
    found = paired(first, second, mean_percent, replicates=4000)
    assert found.value == pytest.approx(100 * (first.mean() - second.mean()))
    assert found.low < found.value < found.high
    wins, losses = int((first > second).sum()), int((first < second).sum())
    assert found.p == pytest.approx(binomtest(wins, wins + losses).pvalue, abs=0.03)


def test_without_any_difference_p_is_one():
    rows = np.ones((9, 1))
    assert paired(rows, rows, mean_percent, replicates=100) == (0, 0, 0, 1)


def test_the_regression_line_and_its_band():
    rng = np.random.default_rng(2)
    x = rng.random(40) * 100
    y = 3 - 0.2 * x + rng.normal(size=40)
    at = np.array([0.0, x.mean()])
    found = regression(np.stack([x, y], axis=1), at)
    line = linregress(x, y)
    np.testing.assert_allclose(found[:, 0], line.intercept + line.slope * at)
    # at 0 the band is the interval of the intercept
    from scipy.stats import t

    assert found[0, 2] - found[0, 0] == pytest.approx(t.ppf(0.975, 38) * line.intercept_stderr)
    assert regression(np.array([[1.0, 2], [1, 3], [1, 4]]), at) is None


class TestOverSeeds:
    @staticmethod
    def rows(*shares, pairs=200):
        """One training for each share of pairs that are right."""
        return np.stack([np.arange(pairs) < share * pairs for share in shares]).astype(float)[..., None]

    def test_scores_are_means_over_trainings(self):
        found = over_seeds(self.rows(0.5, 0.7), self.rows(0.2, 0.4), mean_percent)
        assert [side.value for side in found] == pytest.approx([60, 30, 45, 30])
        assert all(side.low < side.value < side.high for side in found)

    def test_trainings_that_disagree_widen_the_interval_beyond_that_of_the_sentences(self):
        alike, apart = (
            over_seeds(self.rows(*s), self.rows(0.3, 0.3), mean_percent) for s in ((0.5, 0.5), (0.1, 0.9))
        )
        assert alike.pro.value == apart.pro.value
        assert apart.pro.high - apart.pro.low > 3 * (alike.pro.high - alike.pro.low)

    def test_groups_are_drawn_together(self):
        half = np.repeat(["a", "b"], 100)
        found = over_seeds(self.rows(0.5), self.rows(0.5), mean_percent, groups=half)
        assert (found.pro.low, found.pro.high) == (0, 100)
        assert found.difference == (0, 0, 0)
