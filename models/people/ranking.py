"""Boosted conditional logit: one distribution over the alternatives of each choice, with trees for the utility.

Alternatives are those of a mention-ranking coreference model (Denis and Baldridge 2008; Durrett and Klein 2013, section
2): the entities read so far, and none of them. The loss is the negative log-probability of all right alternatives
together, so that a choice may have several, and rows that only name two people can teach as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np

from gapstack.types import Floats, Ints

_TREES: dict[str, Any] = {
    "num_leaves": 31,
    "learning_rate": 0.06,
    "min_data_in_leaf": 30,
    "feature_fraction": 0.7,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "verbosity": -1,
    "deterministic": True,
    "force_row_wise": True,
}


@dataclass
class Choices:
    """Choices with features (n, f) of all alternatives, the size of each choice, and the right ones (n,)."""

    features: list[Floats]
    right: list[Floats]

    @property
    def sizes(self) -> Ints:
        """Number of alternatives of each choice."""
        return np.array([len(one) for one in self.features])


def shares(utilities: Floats, starts: Ints, sizes: Ints) -> Floats:
    """Softmax within each choice; choices are adjacent."""
    peaks = np.repeat(np.maximum.reduceat(utilities, starts), sizes)
    exponentials: Floats = np.exp(utilities - peaks)
    totals: Floats = np.add.reduceat(exponentials, starts)
    return exponentials / np.repeat(totals, sizes)


def fit(
    choices: Choices, rounds: int, seed: int = 0, weights: Sequence[float] | None = None
) -> lightgbm.Booster:
    """Fit the utility of an alternative; choices without a right alternative are left out."""
    usable = [i for i, right in enumerate(choices.right) if right.any() and len(right) > 1]
    features = np.concatenate([choices.features[i] for i in usable])
    right = np.concatenate([choices.right[i] for i in usable])
    sizes = np.array([len(choices.right[i]) for i in usable])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    weight = np.repeat([1.0 if weights is None else weights[i] for i in usable], sizes)

    def objective(utilities: Floats, _: lightgbm.Dataset) -> tuple[Floats, Floats]:
        p = shares(utilities, starts, sizes)
        of_right = p * right
        wanted = of_right / np.repeat(np.maximum(np.add.reduceat(of_right, starts), 1e-12), sizes)
        return weight * (p - wanted), weight * np.maximum(p * (1 - p), 1e-3)

    data = lightgbm.Dataset(features, np.zeros(len(features)), free_raw_data=True)
    return lightgbm.train(_TREES | {"objective": objective, "seed": seed}, data, num_boost_round=rounds)


def choose(booster: lightgbm.Booster, features: Floats, temperature: float = 1.0) -> Floats:
    """Probabilities (k,) of the alternatives (k, f) of one choice."""
    utilities: Floats = np.asarray(booster.predict(features, raw_score=True)) / temperature
    exponentials: Floats = np.exp(utilities - utilities.max())
    result: Floats = exponentials / exponentials.sum()
    return result
