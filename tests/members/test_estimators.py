"""The logistic regression is scikit-learn's."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from gapstack.members.estimators import fit_symmetric_logistic, logistic_probabilities

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
    return fit_symmetric_logistic(*rows, MIRROR, SIGNS, strength=0.5)


def test_it_is_scikit_learns_regression_on_rows_and_their_mirror_images(rows, fitted):
    features, labels = rows
    both = np.concatenate([features, features[:, MIRROR] * SIGNS])
    answers = np.concatenate([labels, np.array([1, 0, 2])[labels]])
    scaler = StandardScaler().fit(both)
    model = LogisticRegression(C=0.25, max_iter=1000, tol=1e-8).fit(scaler.transform(both), answers)
    expected = model.predict_proba(scaler.transform(features))
    # the difference is what the average row of each class is worth
    np.testing.assert_allclose(logistic_probabilities(fitted, features), expected, atol=5e-3)
