import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gapstack.evaluation.scores import score
from gapstack.members.baselines import Prior
from gapstack.members.surface import Surface, choice_probabilities


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


@given(arrays.arrays(np.float64, st.integers(0, 8).map(lambda n: 2 * n), elements=st.floats(-50, 50)))
def test_exchanging_utilities_exchanges_columns(utilities):
    straight = choice_probabilities(utilities)
    exchanged = choice_probabilities(np.concatenate(np.split(utilities, 2)[::-1]))
    np.testing.assert_allclose(exchanged, straight[:, [1, 0, 2]])
    np.testing.assert_allclose(straight.sum(axis=1), 1)


def test_it_learns_what_the_page_and_the_places_say(gap_splits):
    held = gap_splits["validation"]
    member = Surface(rounds=80, learning_rate=0.2, bags=1).fit(gap_splits["development"])
    scores = score(held, member.predict_proba(held))
    prior = score(held, Prior().fit(gap_splits["development"]).predict_proba(held))
    # URL with token distance, the best cue without a parse, has F1 62.4 here
    assert scores.f1_overall > 68
    assert scores.logloss < 0.75 < prior.logloss


def test_threads_grow_the_same_trees(sample, monkeypatch):
    def grown(threads: int) -> dict[str, str]:
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        return Surface(rounds=5).fit(sample)._state().texts

    assert grown(1) == grown(4)
