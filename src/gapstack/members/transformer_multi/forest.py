"""A fitted scikit-learn forest as plain arrays, from which all predictions come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapstack.members.parts.learned import ArrayFields

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Forest(ArrayFields):
    """Binary classification trees, their nodes end to end.

    Attributes
    ----------
    roots : (trees,) int64
        First node of each tree.
    left, right : (nodes,) int64
        Children; -1 at a leaf.
    feature : (nodes,) int64
        Column that a node tests; goes left where it is at most ``threshold``, (nodes,) float64.
    positive : (nodes,) float64
        Share of the positive class among a node's training rows.
    """

    PREFIX = "forest_"

    roots: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: Floats
    positive: Floats

    @classmethod
    def of(cls, fitted: Any) -> Forest:
        """Take the arrays out of a fitted scikit-learn forest over the classes False and True."""
        trees = [estimator.tree_ for estimator in fitted.estimators_]
        roots = np.concatenate([[0], np.cumsum([tree.node_count for tree in trees])[:-1]]).astype(np.int64)
        children = {
            side: [
                np.where(getattr(tree, f"children_{side}") < 0, -1, getattr(tree, f"children_{side}") + root)
                for tree, root in zip(trees, roots, strict=True)
            ]
            for side in ("left", "right")
        }
        # (nodes, 1, classes); a forest fitted on one class only has one column
        column = np.flatnonzero(fitted.classes_)
        shares = [tree.value[:, 0] / tree.value[:, 0].sum(axis=1, keepdims=True) for tree in trees]
        return cls(
            roots=roots,
            left=np.concatenate(children["left"]).astype(np.int64),
            right=np.concatenate(children["right"]).astype(np.int64),
            feature=np.concatenate([tree.feature for tree in trees]).astype(np.int64),
            threshold=np.concatenate([tree.threshold for tree in trees]).astype(np.float64),
            positive=np.concatenate([share[:, column].sum(axis=1) for share in shares]).astype(np.float64),
        )

    def predict(self, rows: Floats) -> Floats:
        """Mean over the trees of the positive share in each row's leaf: (n,) for (n, features)."""
        # scikit-learn compares in float32
        values = np.asarray(rows, dtype=np.float32)
        node = np.tile(self.roots, (len(values), 1))
        while (inner := self.left[node] >= 0).any():
            tested = np.take_along_axis(values, np.where(inner, self.feature[node], 0), axis=1)
            child = np.where(tested <= self.threshold[node], self.left[node], self.right[node])
            node = np.where(inner, child, node)
        mean: Floats = self.positive[node].mean(axis=1)
        return mean
