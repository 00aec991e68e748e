"""A logistic regression symmetric in A and B, which members and stackers share."""

from collections.abc import Sequence

import numpy as np
from scipy.special import softmax

from gapstack.data import Label
from gapstack.types import Floats, Ints

_SWAPPED = [1, 0, 2]  # columns A, B and NEITHER after A and B are swapped
_SMOOTHING = 0.1  # weight of an average row added to each class, so that a class without rows stays possible


def fit_symmetric_logistic(
    features: Floats,
    labels: Ints,
    mirror: Sequence[int],
    signs: Sequence[float] | None = None,
    *,
    weights: Floats | None = None,
    strength: float = 1.0,
) -> Floats:
    """Regress classes (n,) on standardised features (n, k), so that swapping A and B swaps their probabilities.

    ``mirror[j]`` is the feature that replaces j, times ``signs[j]``, when A and B are swapped. ``weights`` (n,) of the
    rows and signs are 1 by default; ``strength`` is scikit-learn's ``C``. Returns coefficients (3, k + 1), the bias
    last.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    def mirrored(table: Floats) -> Floats:
        return table[:, list(mirror)] * (1.0 if signs is None else np.asarray(signs, dtype=np.float64))

    weights = np.ones(len(labels)) if weights is None else weights
    both = np.concatenate([features, mirrored(features)])
    classes = np.concatenate([labels, np.array(_SWAPPED)[labels], np.arange(len(Label))])
    scaler = StandardScaler().fit(both)
    average_rows = np.zeros((len(Label), features.shape[1]))
    model = LogisticRegression(C=strength, max_iter=1000).fit(
        np.concatenate([scaler.transform(both), average_rows]),
        classes,
        np.concatenate([weights / 2, weights / 2, np.full(len(Label), _SMOOTHING)]),
    )
    # W (x - mean) / scale + b as one matrix and one vector
    slopes = model.coef_ / scaler.scale_
    bias = model.intercept_ - slopes @ scaler.mean_
    slopes = (slopes + mirrored(slopes)[_SWAPPED]) / 2
    return np.column_stack([slopes, (bias + bias[_SWAPPED]) / 2])


def logistic_probabilities(coefficients: Floats, features: Floats) -> Floats:
    """Probabilities (n, 3) for features (n, k) by :func:`fit_symmetric_logistic`."""
    return softmax(features @ coefficients[:, :-1].T + coefficients[:, -1], axis=1)
