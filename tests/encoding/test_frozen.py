"""Batches are whole and small."""

import numpy as np
import pytest

from gapstack.encoding.frozen import batches


@pytest.mark.parametrize("budget", [1, 10, 64, 10_000])
def test_batches_cover_all_rows_once_within_the_budget(budget):
    lengths = np.sort(np.random.default_rng(0).integers(3, 30, 200))
    found = list(batches(lengths, budget))
    np.testing.assert_array_equal(np.concatenate(found), np.arange(200))
    assert all(len(batch) == 1 or lengths[batch].max() * len(batch) <= budget for batch in found)
    assert list(batches(lengths[:0], budget)) == []
