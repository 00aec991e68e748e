"""Boosted conditional logit: one distribution over the alternatives of each choice, with trees for the utility.

Alternatives are those of a mention-ranking coreference model (Denis and Baldridge 2008; Durrett and Klein 2013, section
2): the entities read so far, and none of them. The loss is the negative log-probability of all right alternatives
together, so that a choice may have several, and rows that only name two people can teach as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

import lightgbm
import numpy as np
from scipy.special import softmax

from gapstack.types import Floats, Ints

TREES: dict[str, Any] = {
    "num_leaves": 31,
    "learning_rate": 0.06,
    "min_data_in_leaf": 30,
    "feature_fraction": 0.7,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 100.0,
    "verbosity": -1,
    "deterministic": True,
    "force_row_wise": True,
}


OFFSET = "offset"
"""Name of the feature that is a fixed part of the utility, which the trees add to; 0 if missing."""
_RISING = ("agreement", "title_agrees", "name_agrees")
"""A larger value of these never makes an alternative less probable."""


@dataclass
class Choices:
    """Choices with the features of all alternatives, each a dictionary, and which of them are right (k,)."""

    features: list[Floats] = field(default_factory=list)
    right: list[Floats] = field(default_factory=list)
    offsets: list[Floats] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def add(self, alternatives: Sequence[Mapping[str, float]], right: Sequence[bool]) -> None:
        """Add a choice; one with a single alternative, or with none that is right, teaches nothing."""
        if len(right) > 1 and any(right):
            self.names = self.names or [name for name in alternatives[0] if name != OFFSET]
            self.offsets.append(_offsets(alternatives))
            self.features.append(matrix(alternatives, self.names).astype(np.float32))
            self.right.append(np.array(right, dtype=np.float64))


def _offsets(alternatives: Sequence[Mapping[str, float]]) -> Floats:
    return np.array([one.get(OFFSET, 0.0) for one in alternatives])


def matrix(alternatives: Sequence[Mapping[str, float]], names: Sequence[str]) -> Floats:
    """Features as an array (k, f)."""
    return np.array([[one.get(name, nan) for name in names] for one in alternatives])


def shares(utilities: Floats, starts: Ints, sizes: Ints) -> Floats:
    """Softmax within each choice; choices are adjacent."""
    peaks = np.repeat(np.maximum.reduceat(utilities, starts), sizes)
    exponentials: Floats = np.exp(utilities - peaks)
    totals: Floats = np.add.reduceat(exponentials, starts)
    return exponentials / np.repeat(totals, sizes)


def fit(choices: Choices, rounds: int, seed: int = 0) -> lightgbm.Booster:
    """Fit the utility of an alternative."""
    right = np.concatenate(choices.right)
    sizes = np.array([len(one) for one in choices.right])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])

    def objective(utilities: Floats, _: lightgbm.Dataset) -> tuple[Floats, Floats]:
        p = shares(utilities, starts, sizes)
        of_right = p * right
        wanted = of_right / np.repeat(np.maximum(np.add.reduceat(of_right, starts), 1e-12), sizes)
        return p - wanted, np.maximum(p * (1 - p), 1e-3)

    data = lightgbm.Dataset(
        np.concatenate(choices.features),
        np.zeros(len(right)),
        init_score=np.concatenate(choices.offsets),
        feature_name=choices.names,
    )
    rising = [int(name in _RISING) for name in choices.names]
    parameters = TREES | {"objective": objective, "seed": seed, "monotone_constraints": rising}
    return lightgbm.train(parameters, data, num_boost_round=rounds)


def choose(booster: lightgbm.Booster, alternatives: Sequence[Mapping[str, float]]) -> Floats:
    """Probabilities (k,) of the alternatives of one choice."""
    if len(alternatives) == 1:
        return np.ones(1)
    features = matrix(alternatives, booster.feature_name())
    # one thread, since starting more takes longer than predicting so few rows
    utilities = booster.predict(features, raw_score=True, num_threads=1)
    result: Floats = softmax(np.asarray(utilities) + _offsets(alternatives))
    return result
