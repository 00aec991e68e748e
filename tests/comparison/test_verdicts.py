"""The verdict on each member is that of its test against the best."""

from dataclasses import replace

import numpy as np
import pytest


def test_the_best_has_none_and_the_others_are_worse(made):
    best, middling, poor, decided = made.against_best()
    assert best is None
    for place, verdict in enumerate((middling, poor), 1):
        assert (verdict.metric, verdict.outcome) == ("logloss", "worse")
        assert verdict.difference.value == made.pairs["logloss"].value[place, 0] > 0
        assert verdict.difference.p == made.pairs["logloss"].p_holm[place, 0]
    assert decided.metric == "f1_overall", "decisions have no logloss"


@pytest.mark.parametrize(
    ("difference", "p", "outcome"),
    [
        (2.0, 0.01, "better"),
        (-2.0, 0.01, "worse"),
        (2.0, 0.06, "cannot be told"),
        (2.0, np.nan, "cannot be told"),
    ],
)
def test_higher_f1_is_better_and_what_is_not_significant_cannot_be_told(made, difference, p, outcome):
    pairs = made.pairs["f1_overall"]
    shape = pairs.value.shape
    planted = replace(pairs, value=np.full(shape, difference), p_holm=np.full(shape, p))
    verdicts = replace(made, pairs={**made.pairs, "f1_overall": planted}).against_best()
    assert verdicts[3].outcome == outcome
