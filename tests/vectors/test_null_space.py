"""Planted classes are told before and hardly after; what is left is a projection, and something is left."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from gapstack.vectors.null_space import null_space


def above_chance(features, labels):
    """Points by which a probe that learned from the first half tells the second better than its larger class."""
    half = len(features) // 2
    probe = LogisticRegression(max_iter=1000).fit(features[:half], labels[:half])
    share = labels[half:].mean()
    return 100 * (probe.score(features[half:], labels[half:]) - max(share, 1 - share))


def test_the_projection_is_one_and_takes_the_planted_direction_away():
    rng = np.random.default_rng(1)
    labels = rng.random(6000) < 0.5
    features = rng.normal(size=(6000, 8))
    features[:, 0] += np.where(labels, 2, -2)
    found = null_space(features, labels)
    np.testing.assert_allclose(found.projection @ found.projection, found.projection, atol=1e-12)
    np.testing.assert_allclose(found.projection, found.projection.T, atol=1e-12)
    assert np.linalg.matrix_rank(found.projection) == 8 - found.removed
    assert np.linalg.norm(found.projection[0]) < 0.2
    assert found.accuracy < 0.55


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_it_did_not_learn_from_are_hardly_told_either(seed):
    rng = np.random.default_rng(seed)
    labels = rng.random(16_000) < 0.5
    features = rng.normal(size=(16_000, 12))
    features[:, :3] += np.where(labels, 1, -1)[:, None] * [0.6, 0.4, 0.2]
    found = null_space(features[:8000], labels[:8000])
    assert above_chance(features[8000:], labels[8000:]) > 20
    # the directions are estimates from 4,000 rows
    assert abs(above_chance(features[8000:] @ found.projection, labels[8000:])) <= 4


def test_something_is_left_even_where_the_classes_are_told_by_everything():
    labels = np.arange(200) % 2 == 0
    features = np.where(labels, 1.0, -1.0)[:, None] * np.eye(4)[np.arange(200) // 2 % 4] * 5
    found = null_space(features, labels, tolerance=-1.0, iterations=99)
    assert found.removed == 3
    assert np.linalg.matrix_rank(found.projection) == 1
