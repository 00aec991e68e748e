"""No bit of a row's answer hangs on the other rows."""

import numpy as np
import pytest

from gapstack.rowwise import rowwise


@pytest.mark.parametrize("width", [1, 7, 33, 400])
def test_neither_the_number_of_rows_nor_their_order_changes_a_bit(width):
    chance = np.random.default_rng(width)
    table, weights = chance.normal(size=(700, width)), chance.normal(size=(width, 3))

    def answers(rows):
        return rowwise(lambda some, nothing: some @ weights, table[rows], None)

    every = answers(np.arange(700))
    np.testing.assert_allclose(every, table @ weights, rtol=1e-10, atol=1e-12)
    for count in (1, 2, 5, 255, 256, 257, 700):
        rows = chance.permutation(700)[:count]
        np.testing.assert_array_equal(answers(rows), every[rows])


def test_no_rows_have_no_answers():
    assert rowwise(lambda rows: rows @ np.ones((4, 3)), np.empty((0, 4))).shape == (0, 3)
