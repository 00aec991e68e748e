"""Gradient-boosted stackers: over base predictions alone, and over base predictions and hand-made features."""

from __future__ import annotations

from typing import Any, ClassVar

import lightgbm
import numpy as np

from gapstack.ensemble.linear import ConditionalStacker
from gapstack.ensemble.stacker import Stacker, member_inputs, softmax
from gapstack.members.boosters import restore_booster
from gapstack.members.member import State
from gapstack.members.surface import LIGHTGBM
from gapstack.settings import (
    AtLeastTwo,
    Count,
    FractionBelowOne,
    NonNegative,
    Positive,
    PositiveFraction,
    ProbabilityFloor,
    Seed,
)
from gapstack.types import BasePredictions, Floats, Labels, Probabilities

_FLOOR = 1e-6
_LIGHTGBM: dict[str, Any] = LIGHTGBM | {
    "objective": "multiclass",
    "num_class": 3,
    "bagging_fraction": 0.7,
    # the same trees as with columns bundled, in less time
    "enable_bundle": False,
}


class LightGBMStacker(Stacker):
    """Gradient-boosted trees on centred log-probabilities; small trees, since the columns are few and correlated."""

    rounds: Count = 120
    learning_rate: Positive = 0.05
    leaves: AtLeastTwo = 6
    min_rows: Count = 40
    seed: Seed = 0
    """LightGBM's num_boost_round, learning_rate, num_leaves, min_data_in_leaf and seed."""

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Floats) -> None:
        self.booster_ = _train(self, lightgbm.Dataset(self._columns(base), labels), l2=10.0, columns=0.6)

    def _predict(self, base: BasePredictions, evidence: Floats) -> Probabilities:
        return np.asarray(self.booster_.predict(self._columns(base)), dtype=np.float64)

    @staticmethod
    def _columns(base: BasePredictions) -> Floats:
        return member_inputs(base, "logs", _FLOOR).reshape(len(base), -1)

    def _state(self) -> State:
        return State(texts={"booster": self.booster_.model_to_string()})

    def _restore(self, state: State) -> None:
        self.booster_ = restore_booster(state.texts["booster"])


class EvidenceStacker(Stacker):
    """A conditional logit of the base predictions, corrected by boosted trees over agreement and hand-made features.

    The logits are the trees' initial score, out of fold in training, or the trees would trust a score that was fitted
    on the labels. The result is the weighted geometric mean of this and of :class:`LightGBMStacker`.
    """

    rounds: Count = 250
    learning_rate: Positive = 0.05
    leaves: AtLeastTwo = 8
    min_rows: Count = 30
    l2: NonNegative = 30.0
    columns: PositiveFraction = 0.3
    seed: Seed = 0
    """LightGBM's num_boost_round, learning_rate, num_leaves, min_data_in_leaf, lambda_l2, feature_fraction and seed."""
    strength: Positive = 0.01
    floor: ProbabilityFloor = 1e-3
    """Settings of the conditional logit."""
    beside: FractionBelowOne = 0.3
    """Weight of the trees without an initial score."""
    parts: AtLeastTwo = 5
    """Folds of the initial score; both orders of a row are in the same one."""

    READS_EVIDENCE: ClassVar[bool] = True

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Floats) -> None:
        rows = len(labels) // 2  # the second half is the first with A and B swapped
        part = np.tile(np.random.default_rng(self.seed).permutation(rows) % self.parts, 2)
        initial = np.empty((len(labels), 3))
        for held in range(self.parts):
            inside = part != held
            initial[~inside] = self._fit_logit(base[inside], labels[inside]).logits(base[~inside])
        data = lightgbm.Dataset(self._columns(base, evidence), labels, init_score=initial.ravel(order="F"))
        self.booster_ = _train(self, data, l2=self.l2, columns=self.columns)
        self.logit_ = self._fit_logit(base, labels)
        self.trees_ = LightGBMStacker(seed=self.seed)
        self.trees_._fit(base, labels, evidence)

    def _fit_logit(self, base: BasePredictions, labels: Labels) -> ConditionalStacker:
        logit = ConditionalStacker(strength=self.strength, floor=self.floor)
        logit._fit(base, labels, np.empty((len(base), 0)))  # the rows are in both orders already
        return logit

    def _predict(self, base: BasePredictions, evidence: Floats) -> Probabilities:
        correction = np.asarray(self.booster_.predict(self._columns(base, evidence), raw_score=True))
        other = np.log(self.trees_._predict(base, evidence))
        return softmax((1 - self.beside) * (self.logit_.logits(base) + correction) + self.beside * other)

    def _columns(self, base: BasePredictions, evidence: Floats) -> Floats:
        """Each member's log odds of A to B and of NEITHER to a name, mean and deviation, and the evidence."""
        logs = np.log(np.clip(base, self.floor, None))
        odds = [logs[:, :, 0] - logs[:, :, 1], logs[:, :, 2] - logs[:, :, :2].max(axis=2)]
        return np.concatenate([*odds, logs.mean(axis=1), logs.std(axis=1), evidence], axis=1)

    def _state(self) -> State:
        boosters = {"booster": self.booster_, "beside": self.trees_.booster_}
        texts = {name: booster.model_to_string() for name, booster in boosters.items()}
        return State(self.logit_._state().arrays, texts)

    def _restore(self, state: State) -> None:
        self.booster_ = restore_booster(state.texts["booster"])
        self.trees_ = LightGBMStacker(seed=self.seed)
        self.trees_.booster_ = restore_booster(state.texts["beside"])
        self.logit_ = ConditionalStacker(strength=self.strength, floor=self.floor)
        self.logit_._restore(state)


def _train(
    stacker: LightGBMStacker | EvidenceStacker, data: lightgbm.Dataset, *, l2: float, columns: float
) -> lightgbm.Booster:
    settings = _LIGHTGBM | {
        "learning_rate": stacker.learning_rate,
        "num_leaves": stacker.leaves,
        "min_data_in_leaf": stacker.min_rows,
        "lambda_l2": l2,
        "feature_fraction": columns,
        "seed": stacker.seed,
    }
    return lightgbm.train(settings, data, num_boost_round=stacker.rounds)
