"""Leave-one-out against its definition, the blend against a general-purpose optimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from gapstack.evaluation import log_loss
from gapstack.evaluation.contribution import blend_losses, blend_weights, contribution


def random_losses(members: int, seed: int, rows: int = 5):
    """Losses without any structure, one for each subset."""
    losses = np.random.default_rng(seed).random((2**members, rows))
    return lambda asked: losses[asked @ 2 ** np.arange(members)]


@settings(max_examples=15)
@given(members=st.integers(1, 11), seed=st.integers(0, 10**6))
def test_leave_one_out_is_the_loss_without_a_member_minus_that_of_all(members, seed):
    losses_of = random_losses(members, seed)
    found = contribution(losses_of, members)
    np.testing.assert_allclose(found.left_out, losses_of(~np.eye(members, dtype=bool)) - found.full)
    np.testing.assert_allclose(found.prior, losses_of(np.zeros((1, members), dtype=bool))[0])


@settings(max_examples=15)
@given(members=st.integers(1, 6), seed=st.integers(0, 10**6))
def test_blend_weights_are_the_optimum(members, seed):
    rng = np.random.default_rng(seed)
    found = rng.uniform(0.01, 1, (80, members))
    subsets = np.array([np.ones(members, bool), np.arange(members) == 0])
    weights = blend_weights(found, subsets)
    np.testing.assert_allclose(weights.sum(axis=0), 1)
    assert weights[0, 1] == pytest.approx(1)
    best = minimize(
        lambda w: -np.log(found @ w).mean(),
        np.full(members, 1 / members),
        bounds=[(0, 1)] * members,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    assert -np.log(found @ weights[:, 0]).mean() <= best.fun + 5e-4


def test_the_blend_is_scored_on_other_folds_than_it_is_fitted_on():
    """A member that knows the labels of one fold and lies on the others must not be trusted anywhere."""
    rng = np.random.default_rng(0)
    labels, folds = rng.integers(0, 3, 300), np.arange(300) % 3
    fair = np.full((300, 3), 0.1) + 0.7 * np.eye(3)[(labels + (rng.random(300) < 0.3)) % 3]
    odd = np.where((folds == 0)[:, None], np.eye(3)[labels], np.eye(3)[(labels + 1) % 3]) * 0.97 + 0.01
    losses_of = blend_losses(np.stack([fair, odd]), labels, folds)
    losses = losses_of(np.array([[False, False], [True, False], [True, True]]))
    prior = [
        log_loss(labels[folds == f], np.tile(np.bincount(labels[folds != f]), (100, 1))) for f in range(3)
    ]
    assert losses[0].mean() == pytest.approx(np.mean(prior))
    assert losses[1].mean() == pytest.approx(log_loss(labels, fair))
    assert losses[2][folds == 0].mean() > losses[1][folds == 0].mean() - 0.02
