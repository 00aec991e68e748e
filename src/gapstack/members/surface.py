"""Boosted trees over hand-made features: no encoder, no parser, a few seconds to fit.

A conditional logit (McFadden 1974) whose utilities are boosted trees: one function ``u`` scores a candidate from its
own features, their differences to the rival's, and the row's features, and P(A), P(B), P(NEITHER) = softmax(u(A), u(B),
0). Both names go through the same trees, so swapping A and B swaps the probabilities. The defaults were chosen on GAP
development and validation by 5-fold cross-validation grouped by page. Rows without a page are predicted as if the title
named neither, since every row of GAP has a page.
"""

from typing import Any, ClassVar

import lightgbm
import numpy as np
from scipy.special import softmax

from gapstack.boosters import LIGHTGBM, restore_booster
from gapstack.data import Corpus, Label
from gapstack.errors import MemberError
from gapstack.features import BlockNames, Features, features
from gapstack.members.learned_state import State
from gapstack.members.soft_labels import SoftLabelMember, TrainingSet
from gapstack.processes import in_threads
from gapstack.settings import AtLeastTwo, Count, NonNegative, Positive, PositiveFraction, Seed
from gapstack.types import Floats, Probabilities


class Surface(SoftLabelMember):
    """LightGBM on feature blocks, as a conditional logit over the two names and "neither"."""

    blocks: BlockNames = ("surface",)
    """Feature blocks, by their names in :data:`gapstack.features.BLOCKS`."""
    rounds: Count = 225
    """Trees in each booster."""
    learning_rate: Positive = 0.1
    """Shrinkage of each tree."""
    leaves: AtLeastTwo = 20
    """Maximum number of leaves of a tree."""
    min_leaf: Count = 15
    """Minimum number of candidates in a leaf."""
    l2: NonNegative = 10.0
    """Ridge penalty on leaf values."""
    columns: PositiveFraction = 0.6
    """Share of the columns that each tree sees."""
    rows: PositiveFraction = 0.7
    """Share of the candidates that each tree sees."""
    bags: Count = 4
    """Boosters of different seeds, whose probabilities are averaged."""
    seed: Seed = 0
    """Seed of the first booster."""

    ONE_THREAD: ClassVar[bool] = True

    def _prepare(self, corpus: Corpus) -> None:
        features(corpus, self.blocks)

    def _fit_training_set(self, training_set: TrainingSet) -> None:
        if not self.blocks:
            raise MemberError("surface has no feature block; name some in blocks")
        table = candidate_table(features(training_set.corpus, self.blocks))
        truth, weights = training_set.targets, training_set.weights[:, None]

        def objective(utilities: Floats, _: lightgbm.Dataset) -> tuple[Floats, Floats]:
            """Gradient and diagonal Hessian of the multinomial logloss in the utilities of A and B."""
            p = choice_probabilities(utilities)
            gradient, hessian = (weights * part[:, : Label.NEITHER] for part in (p - truth, p * (1 - p)))
            return gradient.T.ravel(), hessian.T.ravel()

        def grow(bag: int) -> lightgbm.Booster:
            settings = {**self._settings(), "objective": objective, "seed": self.seed + bag}
            return lightgbm.train(
                settings, lightgbm.Dataset(table, truth[:, : Label.NEITHER].T.ravel()), self.rounds
            )

        self.boosters_ = in_threads(grow, range(self.bags))

    def _settings(self) -> dict[str, Any]:
        return LIGHTGBM | {
            "learning_rate": self.learning_rate,
            "num_leaves": self.leaves,
            "min_data_in_leaf": self.min_leaf,
            "lambda_l2": self.l2,
            "feature_fraction": self.columns,
            "bagging_fraction": self.rows,
            # random thresholds: the features are many and alike, and the best cut of each is mostly noise
            "extra_trees": True,
            "max_bin": 63,
        }

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        table = candidate_table(features(corpus, self.blocks))
        each = [choice_probabilities(b.predict(table, raw_score=True, num_threads=1)) for b in self.boosters_]
        return np.mean(each, axis=0)

    def _state(self) -> State:
        return State(texts={f"booster-{i}": b.model_to_string() for i, b in enumerate(self.boosters_)})

    def _restore(self, state: State) -> None:
        texts = [state.texts[f"booster-{i}"] for i in range(len(state.texts))]
        self.boosters_ = [restore_booster(text) for text in texts]


def candidate_table(block: Features) -> Floats:
    """Features of all As, then of all Bs: own columns, own minus the rival's, and the row's; (2n, 2k + m)."""
    candidates = np.concatenate([block.candidates[:, 0], block.candidates[:, 1]])
    rival = np.concatenate([block.candidates[:, 1], block.candidates[:, 0]])
    return np.concatenate([candidates, candidates - rival, np.tile(block.shared, (2, 1))], axis=1)


def choice_probabilities(utilities: Floats) -> Probabilities:
    """Utilities of all As, then of all Bs (2n,), to probabilities (n, 3); that of "neither" is 0."""
    a, b = utilities.reshape(2, -1)
    return softmax(np.stack([a, b, np.zeros_like(a)], axis=1), axis=1)
