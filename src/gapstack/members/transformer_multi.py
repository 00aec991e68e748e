"""Transformer-Multi (Webster et al. 2018, section 4.4): several attention heads, combined by extremely random trees.

Each of the two names is an instance: one binary feature for every head says whether the head's favourite counts for
the name, chi-square keeps the best three heads, and ExtraTrees fitted on GAP validation decide TRUE or FALSE. The
paper's figure is 62.3 F1 on GAP development (gold-two-mention); the same recipe over the embedded encoder's 72 heads,
``direction="name-to-pronoun"``, gives 67.5. The paper does not state the number of trees; here it is 100.

By default attention is read both ways (:mod:`gapstack.encoding.attention`), which gives 68.0. Two more things go
beyond the paper. Its decisions are TRUE or FALSE for each name; here A and B get the trees' own values, NEITHER the
rest to 1 (at least ``floor``), and the three are divided by their sum. The most probable class then answers more rows
than two thresholds of one half, and has 71.4 F1. And ``features="share"`` keeps the size of the attention, which suits
a stack: with ``heads=20, direction="each", min_samples_leaf=10``, fitted on validation, logloss on development is 0.76
instead of 0.82, F1 73.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus, Label
from gapstack.encoding.attention import attention
from gapstack.errors import MemberError
from gapstack.kinds import CandidatesName, Count, Floor, Seed
from gapstack.members.member import Probabilities, State
from gapstack.members.parts.learned import ArrayFields
from gapstack.members.parts.learner import Learner, Lessons
from gapstack.text.scenes import Candidates
from gapstack.types import Floats


class TransformerMulti(Learner):
    """ExtraTrees over features of the best attention heads, one instance for each name.

    Parameters
    ----------
    heads : int
        Most heads that chi-square keeps.
    features : str
        ``choice``: whether the head's favourite counts for the name, as in the paper. ``share``: the name's share of
        the head's attention to A and B.
    direction : str
        As for :class:`~gapstack.members.transformer_single.TransformerSingle`.
    trees, min_samples_leaf : int
        Size of the forest and of its smallest leaf.
    floor : float
        Lower bound of a class before the three are divided by their sum.
    encoder, candidates, parser
        As for :class:`~gapstack.members.transformer_single.TransformerSingle`.
    seed : int
        Of the trees.
    extra, teacher, gold_weight
        See :class:`~gapstack.members.parts.learner.Learner`. A name that may be TRUE is an instance of both kinds, each
        with its share of the row's weight; ``min_samples_leaf`` counts both.

    Attributes
    ----------
    selected_ : (heads,) int64
        Positions of the selected heads, layer by layer.
    heads_a_layer_ : int
    forest_ : Forest
    """

    heads: Count = 3
    features: Literal["choice", "share"] = "choice"
    direction: Literal["pronoun-to-name", "name-to-pronoun", "both", "each"] = "both"
    trees: Count = 100
    min_samples_leaf: Count = 1
    floor: Floor = 0.03
    encoder: str | None = None
    candidates: CandidatesName = "gold-two-mention"
    parser: str | None = None
    seed: Seed = 0

    def reads(self) -> dict[str, Any]:
        """Leave the parser out where A and B alone compete."""
        return super().reads() | ({} if self.candidates == Candidates.DETECTED else {"parser": False})

    def decide(self, corpus: Corpus) -> NDArray[np.bool_]:
        """The paper's decisions: TRUE for each name with a value above one half, (n, 2)."""
        self._check_fitted()
        return self._by_name(corpus) > 0.5

    def head_names(self) -> list[str]:
        """The selected heads, as ``L3H1``; for direction ``each`` the second direction's follow the first's."""
        self._check_fitted()
        return [f"L{index // self.heads_a_layer_}H{index % self.heads_a_layer_}" for index in self.selected_]

    def _prepare(self, corpus: Corpus) -> None:
        """Compute all heads in one pass."""
        self._table(corpus)

    def _learn(self, lessons: Lessons) -> None:
        from sklearn.ensemble import ExtraTreesClassifier
        from sklearn.feature_selection import SelectKBest

        table, heads_a_layer = self._table(lessons.corpus)
        # names as instances: all A, then all B
        rows = np.concatenate([table[:, 0], table[:, 1]])
        true = np.concatenate([lessons.targets[:, label] for label in (Label.A, Label.B)])
        # weight of each name as one that is FALSE, and as one that is TRUE, (2n, 2)
        kinds = np.tile(lessons.weights, 2)[:, None] * np.column_stack([1.0 - true, true])
        if not kinds.any(axis=0).all():
            raise MemberError(
                "TransformerMulti needs names of both kinds to fit: some that are TRUE, some FALSE"
            )
        # a head that never chooses has no chi-square
        with np.errstate(invalid="ignore"):
            selection = SelectKBest(weighted_chi2, k=min(self.heads, rows.shape[1])).fit(rows, kinds)
        forest = ExtraTreesClassifier(
            self.trees, min_samples_leaf=self.min_samples_leaf, random_state=self.seed
        )
        self.selected_ = np.flatnonzero(selection.get_support()).astype(np.int64)
        self.heads_a_layer_ = heads_a_layer
        names, is_true = np.nonzero(kinds)
        forest.fit(rows[np.ix_(names, self.selected_)], is_true.astype(bool), kinds[names, is_true])
        self.forest_ = Forest.of(forest)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        names = self._by_name(corpus)
        values = np.column_stack([names, 1.0 - names.sum(axis=1)])
        return np.maximum(values, self.floor)

    def _by_name(self, corpus: Corpus) -> Floats:
        """The trees' value for A and B, (n, 2)."""
        if not len(corpus):
            return np.empty((0, 2))
        table = self._table(corpus)[0][:, :, self.selected_]
        return self.forest_.predict(table.reshape(-1, table.shape[2])).reshape(-1, 2)

    def _table(self, corpus: Corpus) -> tuple[Floats, int]:
        """Features of each name, (n, 2, layers * heads), and the number of heads in a layer."""
        weights = attention(corpus, self.encoder, self.candidates, self.parser)
        if self.features == "choice":
            table = weights.choices(self.direction).astype(np.float64)
        else:
            pairs = weights.pairs(self.direction).astype(np.float64)
            total = pairs.sum(axis=-1, keepdims=True)
            table = np.divide(pairs, total, out=np.full_like(pairs, 0.5), where=total > 0)
        # (n, L, H, 2) -> (n, 2, L * H)
        return np.moveaxis(table, -1, 1).reshape(len(table), 2, -1), table.shape[2]

    def _state(self) -> State:
        return State(
            arrays={"selected": self.selected_, **self.forest_.arrays()},
            values={"heads_a_layer": self.heads_a_layer_},
        )

    def _restore(self, state: State) -> None:
        self.selected_ = state.arrays["selected"]
        self.heads_a_layer_ = state.values["heads_a_layer"]
        self.forest_ = Forest.from_arrays(state.arrays)


def weighted_chi2(rows: Floats, kinds: Floats) -> Floats:
    """Chi-square of each column, (features,), for rows (n, features) that weigh (n, classes) as one of each class.

    As :func:`sklearn.feature_selection.chi2`, which knows neither weights nor soft labels.
    """
    observed = kinds.T @ rows
    shares = kinds.sum(axis=0) / kinds.sum()
    expected = np.outer(shares, observed.sum(axis=0))
    statistic: Floats = ((observed - expected) ** 2 / expected).sum(axis=0)
    return statistic


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
