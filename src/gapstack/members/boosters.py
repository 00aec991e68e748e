"""LightGBM models from text, which is checked first: the library crashes on, or never leaves, an invalid tree."""

from __future__ import annotations

import re

import lightgbm
import numpy as np
from numpy.typing import NDArray

from gapstack.errors import DamageError

Integers = NDArray[np.int64]
_HEADER = re.compile(rb"tree\n(?:[^\n]+\n)*tree_sizes=([\d ]*)\n\n")
_TREE = re.compile(
    rb"Tree=(?P<number>\d{1,9})\nnum_leaves=(?P<leaves>\d{1,9})\nnum_cat=0\nsplit_feature=(?P<feature>.*)\nsplit_gain=.*\n"
    rb"threshold=(?P<threshold>.*)\ndecision_type=(?P<decision>.*)\nleft_child=(?P<left>.*)\nright_child=(?P<right>.*)\n"
    rb"leaf_value=(?P<value>.*)\n(?:(?:leaf_weight|leaf_count|internal_\w+|shrinkage)=.*\n|is_linear=0\n)*\n+"
)


def restore_booster(text: str) -> lightgbm.Booster:
    """Make a booster from the text of ``model_to_string``.

    Raises
    ------
    DamageError
        If the text is truncated, or its nodes are not trees: indices of children, leaves and features must be in range,
        and every node must have one parent.
    """
    problem = _problem(text.encode("utf-8", "surrogatepass"))
    if problem:
        raise DamageError(f"not a valid LightGBM model: {problem}", remedy="Fit this member or stack again")
    return lightgbm.Booster(model_str=text)


def _problem(content: bytes) -> str:
    """What is wrong with a model; empty if nothing is."""
    header = _HEADER.match(content)
    if header is None or b"\nend of parameters\n" not in content:
        return "the text is truncated"
    sizes, trees, at = [int(size) for size in header[1].split()], [], header.end()
    for number, size in enumerate(sizes):
        tree = _TREE.match(content, at)
        if tree is None or int(tree["number"]) != number or tree.end() != at + size:
            return f"tree {number} is truncated or has unknown fields"
        trees.append(tree)
        at += size
    if not content.startswith(b"end of trees\n", at):
        return "the text is truncated"
    counts = {key: re.findall(rb"^%s=(\d{1,9})$" % key, header[0], re.MULTILINE) for key in _COUNTS}
    if any(len(found) != 1 for found in counts.values()):
        return "the header lacks a number"
    outputs, classes, features = (int(counts[key][0]) for key in _COUNTS)
    if not outputs or outputs != classes or len(sizes) % outputs:
        return "the numbers of classes and trees do not match"
    return _tree_problem(trees, features + 1) if trees else ""


_INTEGERS = ("feature", "decision", "left", "right")
_COUNTS = (b"num_tree_per_iteration", b"num_class", b"max_feature_idx")


def _tree_problem(trees: list[re.Match[bytes]], features: int) -> str:
    leaves = np.array([int(tree["leaves"]) for tree in trees])
    for key in ("threshold", "value", *_INTEGERS):
        texts = [tree[key] for tree in trees]
        if [text.count(b" ") + bool(text) for text in texts] != (leaves - (key != "value")).tolist():
            return f"{key} has another length than its tree"
    try:
        feature, decision, left, right = (
            np.fromstring(b" ".join(tree[key] for tree in trees if tree[key]).decode("latin-1"), int, sep=" ")
            for key in _INTEGERS
        )
    except ValueError:
        return "an index is not a number"
    if any(len(column) != (leaves - 1).sum() for column in (feature, decision, left, right)):
        return "an index is not a number"
    if (decision & 1).any():
        return "a node splits on categories"
    if not ((feature >= 0) & (feature < features)).all():
        return "a node splits on a feature that does not exist"
    return _shape_problem(leaves, np.stack([left, right]))


def _shape_problem(leaves: Integers, children: Integers) -> str:
    """Check flat arrays of all trees; the nodes of a tree come after their parents, and its leaves are ~0, ~1."""
    of_tree = np.repeat(np.arange(len(leaves)), leaves - 1)
    first_node, first_leaf = np.cumsum(leaves - 1) - (leaves - 1), np.cumsum(leaves) - leaves
    position = np.arange(len(of_tree)) - first_node[of_tree]
    inner = children >= 0
    in_range = (children < leaves[of_tree] - 1) & (~children < leaves[of_tree])
    if not (in_range & (~inner | (children > position))).all():
        return "a node has a child that does not exist or is above it"
    parents_of_nodes = np.bincount((children + first_node[of_tree])[inner], minlength=len(of_tree))
    parents_of_leaves = np.bincount((~children + first_leaf[of_tree])[~inner], minlength=leaves.sum())
    expected_leaves = np.repeat(leaves > 1, leaves)
    if not ((parents_of_nodes == (position > 0)).all() and (parents_of_leaves == expected_leaves).all()):
        return "a node has no parent, or several"
    return ""
