import numpy as np
import pytest

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


def test_it_learns_what_the_page_and_the_places_say(gap_splits):
    held = gap_splits["validation"]
    member = Surface(rounds=80, learning_rate=0.2, bags=1).fit(gap_splits["development"])
    scores = score(held, member.predict_proba(held))
    prior = score(held, Prior().fit(gap_splits["development"]).predict_proba(held))
    # URL with token distance, the best cue without a parse, has F1 62.4 here
    assert scores.f1_overall > 68
    assert scores.logloss < 0.75 < prior.logloss
