"""Stackers of gradient-boosted trees: over the members' probabilities alone, and over them beside evidence."""

from __future__ import annotations

from typing import Any, ClassVar

import lightgbm
import numpy as np
from numpy.typing import NDArray

from gapstack.ensemble.linear import ConditionalStacker
from gapstack.ensemble.stacker import Labels, Opinions, Stacker, Table, log_opinions, softmax
from gapstack.kinds import Count, Floor, Leaves, NotNegative, Positive, Seed, SomeShare
from gapstack.members.member import Probabilities, State
from gapstack.members.parts.boosters import restore_booster

_FLOOR = 1e-6
_ALWAYS: dict[str, Any] = {
    "objective": "multiclass",
    "num_class": 3,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    # one thread, so that every machine grows the same trees
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "verbosity": -1,
}


class LightGBMStacker(Stacker):
    """Gradient-boosted trees on the members' probabilities.

    Small, slow-learning trees: a stack has few columns and they agree with each other.

    Parameters
    ----------
    rounds, learning_rate, leaves, min_rows : numbers
        LightGBM's num_boost_round, learning_rate, num_leaves and min_data_in_leaf.
    seed : int
        Seed of row and column sampling.
    """

    rounds: Count = 120
    learning_rate: Positive = 0.05
    leaves: Leaves = 6
    min_rows: Count = 40
    seed: Seed = 0

    def _fit(self, opinions: Opinions, labels: Labels, evidence: Table | None) -> None:
        settings: dict[str, Any] = _ALWAYS | {
            "learning_rate": self.learning_rate,
            "num_leaves": self.leaves,
            "min_data_in_leaf": self.min_rows,
            "lambda_l2": 10.0,
            "feature_fraction": 0.6,
            "seed": self.seed,
        }
        data = lightgbm.Dataset(self._columns(opinions), labels)
        self.booster_ = lightgbm.train(settings, data, num_boost_round=self.rounds)

    def _predict(self, opinions: Opinions, evidence: Table | None) -> Probabilities:
        return np.asarray(self.booster_.predict(self._columns(opinions)), dtype=np.float64)

    @staticmethod
    def _columns(opinions: Opinions) -> NDArray[np.float64]:
        return log_opinions(opinions, _FLOOR).reshape(len(opinions), -1)

    def _state(self) -> State:
        return State(texts={"booster": self.booster_.model_to_string()})

    def _restore(self, state: State) -> None:
        self.booster_ = restore_booster(state.texts["booster"])


class EvidenceStacker(Stacker):
    """A conditional logit of the opinions, corrected by trees that see how far members agree and what rows look like.

    The trees begin where :class:`~gapstack.ensemble.linear.ConditionalStacker` leaves off: its logits are their
    first score. While they learn, each row's logits come from a fit on other rows (in ``parts`` parts, both orders
    of a row in the same one), or trees would trust a first score that has seen the labels.

    Parameters
    ----------
    rounds, learning_rate, leaves, min_rows, l2, columns
        LightGBM's num_boost_round, learning_rate, num_leaves, min_data_in_leaf, lambda_l2 and feature_fraction.
    strength, floor
        Of the conditional logit.
    parts : int
    seed : int
        Of the parts and of the trees' rows and columns.
    """

    rounds: Count = 250
    learning_rate: Positive = 0.025
    leaves: Leaves = 4
    min_rows: Count = 60
    l2: NotNegative = 30.0
    columns: SomeShare = 0.3
    strength: Positive = 0.01
    floor: Floor = 1e-3
    parts: Leaves = 5
    seed: Seed = 0

    READS_EVIDENCE: ClassVar[bool] = True

    def _fit(self, opinions: Opinions, labels: Labels, evidence: Table | None) -> None:
        assert evidence is not None
        rows = len(labels) // 2  # the second half is the first with A and B exchanged
        part = np.tile(np.random.default_rng(self.seed).permutation(rows) % self.parts, 2)
        first = np.empty((len(labels), 3))
        for held in range(self.parts):
            inside = part != held
            first[~inside] = self._logit_of(opinions[inside], labels[inside]).logits(opinions[~inside])
        settings: dict[str, Any] = _ALWAYS | {
            "learning_rate": self.learning_rate,
            "num_leaves": self.leaves,
            "min_data_in_leaf": self.min_rows,
            "lambda_l2": self.l2,
            "feature_fraction": self.columns,
            "seed": self.seed,
        }
        data = lightgbm.Dataset(self._columns(opinions, evidence), labels, init_score=first.ravel(order="F"))
        self.booster_ = lightgbm.train(settings, data, num_boost_round=self.rounds)
        self.logit_ = self._logit_of(opinions, labels)

    def _logit_of(self, opinions: Opinions, labels: Labels) -> ConditionalStacker:
        logit = ConditionalStacker(strength=self.strength, floor=self.floor)
        logit._fit(opinions, labels, None)  # these rows stand in both orders already
        return logit

    def _predict(self, opinions: Opinions, evidence: Table | None) -> Probabilities:
        assert evidence is not None
        more = np.asarray(self.booster_.predict(self._columns(opinions, evidence), raw_score=True))
        return softmax(self.logit_.logits(opinions) + more)

    def _columns(self, opinions: Opinions, evidence: Table) -> NDArray[np.float64]:
        """Each member's lead of A over B and of NEITHER over both, all members' mean and spread, and the evidence."""
        logs = np.log(np.clip(opinions, self.floor, None))
        leads = [logs[:, :, 0] - logs[:, :, 1], logs[:, :, 2] - logs[:, :, :2].max(axis=2)]
        return np.concatenate([*leads, logs.mean(axis=1), logs.std(axis=1), evidence], axis=1)

    def _state(self) -> State:
        return State(self.logit_._state().arrays, {"booster": self.booster_.model_to_string()})

    def _restore(self, state: State) -> None:
        self.booster_ = restore_booster(state.texts["booster"])
        self.logit_ = ConditionalStacker(strength=self.strength, floor=self.floor)
        self.logit_._restore(state)
