"""Gradient-boosted stackers: over base predictions alone, and over base predictions and hand-made features."""

from typing import Any, ClassVar

import lightgbm
import numpy as np

from gapstack.boosters import LIGHTGBM
from gapstack.ensemble.linear import LOGIT_FLOOR, member_logits, member_weights
from gapstack.ensemble.stacker import Stacker, member_inputs, softmax
from gapstack.settings import Count, Seed
from gapstack.types import BasePredictions, Floats, Labels, Probabilities

_FLOOR = 1e-6
_PARTS = 5  # folds of the initial score
_UNGUIDED = 0.3  # weight of the trees without an initial score


class LightGBMStacker(Stacker):
    """Gradient-boosted trees on centred log-probabilities; small trees, since the columns are few and correlated."""

    rounds: Count = 120
    """Number of trees."""
    seed: Seed = 0
    """Seed of the rows and columns that a tree sees."""

    LEARNED = ("booster",)

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Floats) -> None:
        data = lightgbm.Dataset(self._columns(base), labels)
        self.booster_ = _train(
            self, data, num_leaves=6, min_data_in_leaf=40, lambda_l2=10, feature_fraction=0.6
        )

    def _predict(self, base: BasePredictions, evidence: Floats) -> Probabilities:
        return np.asarray(self.booster_.predict(self._columns(base)), dtype=np.float64)

    @staticmethod
    def _columns(base: BasePredictions) -> Floats:
        return member_inputs(base, "logs", _FLOOR).reshape(len(base), -1)


class EvidenceStacker(Stacker):
    """A conditional logit of the base predictions, corrected by boosted trees over agreement and hand-made features."""

    rounds: Count = 250
    """Number of trees that correct."""
    seed: Seed = 0
    """Seed of the rows and columns that a tree sees, and of the folds of the initial score."""

    READS_EVIDENCE: ClassVar[bool] = True
    LEARNED = ("weights", "booster", "unguided")

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Floats) -> None:
        rows = len(labels) // 2  # the second half is the first with A and B swapped
        fold = np.tile(np.random.default_rng(self.seed).permutation(rows) % _PARTS, 2)
        initial = np.empty((len(labels), 3))
        for held in range(_PARTS):
            inside = fold != held
            weights = member_weights(base[inside], labels[inside])
            initial[~inside] = member_logits(base[~inside], weights)
        data = lightgbm.Dataset(self._columns(base, evidence), labels, init_score=initial.ravel(order="F"))
        self.booster_ = _train(
            self, data, num_leaves=8, min_data_in_leaf=30, lambda_l2=30, feature_fraction=0.3
        )
        self.weights_ = member_weights(base, labels)
        unguided = LightGBMStacker(seed=self.seed)
        unguided._fit(base, labels, evidence)
        self.unguided_ = unguided.booster_

    def _predict(self, base: BasePredictions, evidence: Floats) -> Probabilities:
        correction = np.asarray(self.booster_.predict(self._columns(base, evidence), raw_score=True))
        unguided = np.log(np.asarray(self.unguided_.predict(LightGBMStacker._columns(base))))
        guided = member_logits(base, self.weights_) + correction
        return softmax((1 - _UNGUIDED) * guided + _UNGUIDED * unguided)

    @staticmethod
    def _columns(base: BasePredictions, evidence: Floats) -> Floats:
        """Each member's log odds of A to B and of NEITHER to a name, mean and deviation, and the evidence."""
        logs = np.log(np.clip(base, LOGIT_FLOOR, None))
        odds = [logs[:, :, 0] - logs[:, :, 1], logs[:, :, 2] - logs[:, :, :2].max(axis=2)]
        return np.concatenate([*odds, logs.mean(axis=1), logs.std(axis=1), evidence], axis=1)


def _train(
    stacker: LightGBMStacker | EvidenceStacker, data: lightgbm.Dataset, **settings: float
) -> lightgbm.Booster:
    common: dict[str, Any] = LIGHTGBM | {
        "objective": "multiclass",
        "num_class": 3,
        "learning_rate": 0.05,
        "bagging_fraction": 0.7,
        # the same trees as with columns bundled, in less time
        "enable_bundle": False,
        "seed": stacker.seed,
    }
    return lightgbm.train(common | settings, data, num_boost_round=stacker.rounds)
