import numpy as np
import pytest

from gapstack.members.surface import choice_probabilities


@pytest.mark.parametrize(
    ("utilities", "expected"),
    [
        ([0, 0], [1 / 3, 1 / 3, 1 / 3]),
        ([np.log(2), np.log(5)], [2 / 8, 5 / 8, 1 / 8]),
        ([1000, 0], [1, 0, 0]),
        ([-1000, -1000], [0, 0, 1]),
    ],
)
def test_neither_has_utility_zero(utilities, expected):
    np.testing.assert_allclose(choice_probabilities(np.array(utilities, dtype=float)), [expected], atol=1e-12)
