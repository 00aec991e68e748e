"""Estimators that members and stackers share: LightGBM's trees, and a logistic regression symmetric in A and B."""

import re
from collections.abc import Sequence
from math import isfinite
from typing import Any

import lightgbm
import numpy as np
from scipy.special import softmax

from gapstack.data import Label
from gapstack.errors import DamageError
from gapstack.types import Floats, Ints

LIGHTGBM: dict[str, Any] = {
    # one thread and one histogram layout, so that every machine grows the same trees
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
    "bagging_freq": 1,
    "verbosity": -1,
}
"""Settings that all boosters share."""
_INTEGERS = (b"split_feature", b"decision_type", b"left_child", b"right_child")


def restore_booster(text: str) -> lightgbm.Booster:
    """Make a booster from text, if its nodes are trees: LightGBM itself crashes, or hangs, on others."""
    try:
        problem = _problem(text.encode("utf-8", "surrogatepass"))
    except (KeyError, ValueError, OverflowError) as error:
        problem = f"{type(error).__name__}: {error}"
    if problem:
        raise DamageError(f"not a valid LightGBM model: {problem}", remedy="Fit this member or stack again")
    return lightgbm.Booster(model_str=text)


def _problem(content: bytes) -> str:
    """What is wrong with a model; empty if nothing is."""
    head, _, rest = content.partition(b"\n\n")
    header = _fields(head)
    sizes = [int(size) for size in header[b"tree_sizes"].split()]
    outputs, features = int(header[b"num_tree_per_iteration"]), int(header[b"max_feature_idx"]) + 1
    if outputs < 1 or outputs != int(header[b"num_class"]) or len(sizes) % outputs:
        return "the numbers of classes and trees do not match"
    end = sum(sizes)
    if not rest.startswith(b"end of trees\n", end) or b"\nend of parameters\n" not in rest:
        return "the text is truncated"
    for number, (size, last) in enumerate(zip(sizes, np.cumsum(sizes), strict=True)):
        problem = _tree_problem(rest[last - size : last], number, features)
        if problem:
            return f"tree {number} {problem}"
    return ""


def _tree_problem(block: bytes, number: int, features: int) -> str:
    tree = _fields(block)
    leaves = int(tree[b"num_leaves"])
    if (int(tree[b"Tree"]), tree[b"num_cat"], tree.get(b"is_linear", b"0")) != (number, b"0", b"0"):
        return "is truncated or of another kind"
    columns = {key: tree[key].split() for key in (b"threshold", b"leaf_value", *_INTEGERS)}
    if any(len(column) != leaves - (key != b"leaf_value") for key, column in columns.items()):
        return "has a column of another length"
    if not all(isfinite(float(value)) for value in columns[b"leaf_value"]):  # a threshold may be infinite
        return "has values that are not finite numbers"
    feature, decision, left, right = (np.array([int(one) for one in columns[key]], int) for key in _INTEGERS)
    if (decision & 1).any() or not ((feature >= 0) & (feature < features)).all():
        return "splits on categories or on a feature that does not exist"
    # leaves are ~0, ~1, ...; every node but the first has one parent, which comes before it
    children = np.stack([left, right])
    expected = [*range(-leaves, 0), *range(1, leaves - 1)] if leaves > 1 else []
    inner = children >= 0
    if sorted(children.ravel().tolist()) != expected or not (children > np.arange(leaves - 1))[inner].all():
        return "has a child that does not exist, or a node without one parent"
    return ""


def _fields(block: bytes) -> dict[bytes, bytes]:
    pairs = re.findall(rb"^(\w+)=(.*)$", block, re.MULTILINE)
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a field comes twice")
    return dict(pairs)


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
