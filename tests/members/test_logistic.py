"""Logistic regression that is equivariant to swapping A and B."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from gapstack.members.logistic import SwapEquivariantLogistic

MIRROR, SIGNS = (1, 0, 2, 3), (1, 1, 1, -1)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    features = rng.normal(size=(200, 4)) * [1, 1, 5, 2] + [0, 0, 30, 0]
    logits = np.stack(
        [features[:, 0] + features[:, 3], features[:, 1] - features[:, 3], features[:, 2] - 31], 1
    )
    labels = (softmax(logits, axis=1).cumsum(axis=1) < rng.random((200, 1))).sum(axis=1)
    return features, labels


@pytest.fixture(scope="module")
def fitted(rows):
    return SwapEquivariantLogistic(MIRROR, SIGNS, strength=0.5).fit(*rows)


def test_it_is_scikit_learns_regression_on_rows_and_their_mirror_images(rows, fitted):
    features, labels = rows
    both = np.concatenate([features, features[:, MIRROR] * SIGNS])
    answers = np.concatenate([labels, np.array([1, 0, 2])[labels]])
    scaler = StandardScaler().fit(both)
    model = LogisticRegression(C=0.25, max_iter=1000, tol=1e-8).fit(scaler.transform(both), answers)
    expected = model.predict_proba(scaler.transform(features))
    # the difference is what the average row of each class is worth
    np.testing.assert_allclose(fitted.predict_proba(features), expected, atol=5e-3)
