"""Convex stackers reach their optimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.ensemble import create_stacker
from gapstack.scoring import log_loss
from tests.ensemble.test_stacker import BASE, LABELS, base_on


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_no_other_blend_of_two_members_is_better(seed):
    labels = np.random.default_rng(seed).choice(3, size=80)
    base = base_on(labels, [1.5, 0.5], seed)
    stacker = create_stacker("simplex", floor=1e-9).fit(base, labels)
    assert stacker.gap_ < 1e-6
    found = log_loss(labels, stacker.predict_proba(base))
    grid = [log_loss(labels, w * base[:, 0] + (1 - w) * base[:, 1]) for w in np.linspace(0, 1, 201)]
    assert found <= min(grid) + 2e-6


def test_weights_lie_on_the_simplex_and_leave_out_who_knows_nothing():
    weights = create_stacker("simplex").fit(BASE, LABELS).weights_
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    assert weights[0] > weights[1] > weights[2]


def test_a_strong_pull_gives_the_geometric_mean():
    stacker = create_stacker("conditional", strength=1e6).fit(BASE, LABELS)
    np.testing.assert_allclose(stacker.weights_[:-1], 1 / 3, atol=1e-4)


def test_names_share_their_weights():
    weights = create_stacker("conditional").fit(BASE, LABELS).weights_
    assert len(weights) == 2 * BASE.shape[1] + 1
