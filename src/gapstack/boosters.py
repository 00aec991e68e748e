"""Boosted trees of LightGBM: settings that all share, and their restoration from untrusted text."""

import re
from math import isfinite
from typing import Any

import lightgbm
import numpy as np

from gapstack.errors import DamageError

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
