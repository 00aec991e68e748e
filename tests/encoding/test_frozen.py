"""Blocks hold every row, in a shape of its own."""

import numpy as np
import pytest

from gapstack.encoding.frozen import STEP, blocks


@pytest.mark.parametrize(("budget", "limit"), [(1, None), (64, None), (1024, 100), (10_000, 32)])
def test_blocks_cover_all_rows_once_in_shapes_that_each_length_decides(budget, limit):
    draw, shapes = np.random.default_rng(0), {}
    for size in (200, 7, 1, 0, 90):
        lengths = draw.integers(3, (limit or 60) + 1, size)
        found = list(blocks(lengths, budget, limit))
        own = [row for block in found for row in block.rows[: block.real]]
        assert sorted(own) == list(range(size))
        for rows, real, length in found:
            assert set(rows) == set(rows[:real])
            assert len(rows) == 1 or len(rows) * length <= budget
            for row in rows:
                assert lengths[row] <= length <= min(lengths[row] + STEP - 1, limit or 999)
                assert shapes.setdefault(lengths[row], (len(rows), length)) == (len(rows), length)
