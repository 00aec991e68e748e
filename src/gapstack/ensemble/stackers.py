"""The kinds of stacker: what turns the members' opinions on a row into one.

All take ``opinions``, a float64 (n, m, 3) array of the probabilities that m members give n rows, and learn on
each row in both orders, (A, B) and (B, A), so that no stacker can prefer a name for being called A.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from gapstack.errors import MemberError, NotFittedError
from gapstack.members.base import Probabilities, State

Opinions = NDArray[np.float64]
"""float64 (n, m, 3): rows, members, columns A, B, NEITHER."""

SWAPPED = [1, 0, 2]
"""Columns after A and B have exchanged their names."""

# Keeps log-probabilities finite where a member (a file of somebody else's, say) is sure of itself.
_FLOOR = 1e-6


class Stacker(BaseEstimator, ABC):
    """An estimator over opinions; equivariant to swapping A and B by construction."""

    def fit(self, opinions: Opinions, labels: NDArray[np.int64]) -> Self:
        """Learn from opinions on rows with known labels (0 A, 1 B, 2 NEITHER) and return self."""
        mirrored = np.concatenate([opinions, opinions[:, :, SWAPPED]])
        self._fit(mirrored, np.concatenate([labels, np.array(SWAPPED)[labels]]))
        self.members_ = opinions.shape[1]
        return self

    def predict_proba(self, opinions: Opinions) -> Probabilities:
        """Give (n, 3) probabilities.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        MemberError
            If the number of members is not that of ``fit``.
        """
        if not hasattr(self, "members_"):
            raise NotFittedError(f"{type(self).__name__} is not fitted; call fit(opinions, labels) first")
        if opinions.shape[1] != self.members_:
            raise MemberError(
                f"stacker was fitted on {self.members_} members and is asked about {opinions.shape[1]}"
            )
        mean = (self._predict(opinions) + self._predict(opinions[:, :, SWAPPED])[:, SWAPPED]) / 2
        return mean / mean.sum(axis=1, keepdims=True)

    def state(self) -> State:
        """Give what was learned."""
        state = self._state()
        state.values["members"] = self.members_
        return state

    def restore(self, state: State) -> Self:
        """Take back what :meth:`state` gave and return self."""
        self._restore(state)
        self.members_ = int(state.values["members"])
        return self

    @abstractmethod
    def _fit(self, opinions: Opinions, labels: NDArray[np.int64]) -> None: ...

    @abstractmethod
    def _predict(self, opinions: Opinions) -> Probabilities: ...

    @abstractmethod
    def _state(self) -> State: ...

    @abstractmethod
    def _restore(self, state: State) -> None: ...


def log_opinions(opinions: Opinions) -> NDArray[np.float64]:
    """Log-probabilities, centred per member, as (n, 3 m): a product of experts is linear in them."""
    logs = np.log(np.clip(opinions, _FLOOR, None))
    return (logs - logs.mean(axis=2, keepdims=True)).reshape(len(opinions), -1)


class LogisticStacker(Stacker):
    """Multinomial logistic regression on log-probabilities with an L2 penalty.

    Parameters
    ----------
    C : float
        Inverse strength of the penalty, as scikit-learn's.
    """

    def __init__(self, C: float = 0.05):
        self.C = C

    def _fit(self, opinions: Opinions, labels: NDArray[np.int64]) -> None:
        model = LogisticRegression(C=self.C, max_iter=2000).fit(log_opinions(opinions), labels)
        self.coefficients_, self.intercepts_ = model.coef_, model.intercept_

    def _predict(self, opinions: Opinions) -> Probabilities:
        logits = log_opinions(opinions) @ self.coefficients_.T + self.intercepts_
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    def _state(self) -> State:
        return State(arrays={"coefficients": self.coefficients_, "intercepts": self.intercepts_})

    def _restore(self, state: State) -> None:
        self.coefficients_, self.intercepts_ = state.arrays["coefficients"], state.arrays["intercepts"]


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

    def __init__(
        self,
        rounds: int = 120,
        learning_rate: float = 0.05,
        leaves: int = 6,
        min_rows: int = 40,
        seed: int = 0,
    ):
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.leaves = leaves
        self.min_rows = min_rows
        self.seed = seed

    def _fit(self, opinions: Opinions, labels: NDArray[np.int64]) -> None:
        settings: dict[str, Any] = {
            "objective": "multiclass",
            "num_class": 3,
            "learning_rate": self.learning_rate,
            "num_leaves": self.leaves,
            "min_data_in_leaf": self.min_rows,
            "lambda_l2": 10.0,
            "feature_fraction": 0.6,
            "bagging_fraction": 0.7,
            "bagging_freq": 1,
            "seed": self.seed,
            # one thread, so that every machine grows the same trees
            "num_threads": 1,
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }
        data = lightgbm.Dataset(log_opinions(opinions), labels)
        self.booster_ = lightgbm.train(settings, data, num_boost_round=self.rounds)

    def _predict(self, opinions: Opinions) -> Probabilities:
        return np.asarray(self.booster_.predict(log_opinions(opinions)), dtype=np.float64)

    def _state(self) -> State:
        return State(texts={"booster": self.booster_.model_to_string()})

    def _restore(self, state: State) -> None:
        self.booster_ = lightgbm.Booster(model_str=state.texts["booster"])


STACKERS: dict[str, type[Stacker]] = {"logistic": LogisticStacker, "lightgbm": LightGBMStacker}


def create_stacker(kind: str, **parameters: Any) -> Stacker:
    """Make the stacker called ``kind``; MemberError if there is none or it has no such setting."""
    if kind not in STACKERS:
        raise MemberError(f"no stacker is called {kind!r}; there are: {', '.join(STACKERS)}")
    unknown = sorted(set(parameters) - set(STACKERS[kind]._get_param_names()))
    if unknown:
        raise MemberError(f"stacker {kind!r} has no setting {', '.join(unknown)}")
    return STACKERS[kind](**parameters)
