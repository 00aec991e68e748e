"""Stackers that are convex problems: the simplex blend, the conditional logit, multinomial logistic regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, minimize
from sklearn.linear_model import LogisticRegression

from gapstack.ensemble.stacker import SWAPPED, Labels, Opinions, Stacker, Table, log_opinions, softmax
from gapstack.errors import MemberError
from gapstack.kinds import Floor, Positive
from gapstack.members.member import Probabilities, State

_TOLERANCE = 1e-6
_MOST_STEPS = 20_000


class SimplexStacker(Stacker):
    """A weighted mean of the members' probabilities, weights at least 0 that sum to 1, of least logloss.

    The logloss of a mixture is convex in its weights. At any weights ``w`` it exceeds the optimum by at most
    ``log(max g)``, where ``g`` holds, for each member, the mean over rows of its probability of the label divided by
    the mixture's (Cover 1984, theorem 2: the gap of growth-optimal portfolios, which are the same problem); the
    solver goes on until that certificate is below 1e-6 nats.

    Parameters
    ----------
    floor : float
        Least probability that a member is taken to give.
    """

    floor: Floor = 1e-4

    def _fit(self, opinions: Opinions, labels: Labels, evidence: Table | None) -> None:
        found = self._floored(opinions)[np.arange(len(labels)), :, labels]
        self.weights_, self.gap_ = _growth_optimal(found)

    def _predict(self, opinions: Opinions, evidence: Table | None) -> Probabilities:
        blend: Probabilities = np.einsum("m,nmc->nc", self.weights_, self._floored(opinions))
        return blend

    def _floored(self, opinions: Opinions) -> Opinions:
        raised = np.clip(opinions, self.floor, None)
        floored: Opinions = raised / raised.sum(axis=2, keepdims=True)
        return floored

    def _state(self) -> State:
        return State(arrays={"weights": self.weights_})

    def _restore(self, state: State) -> None:
        self.weights_ = state.arrays["weights"]


def _growth_optimal(found: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Weights on the simplex that maximise the mean of log(found @ weights), and their certified gap in nats."""
    members = found.shape[1]

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        mixed = found @ weights
        return float(-np.log(mixed).mean()), -(found / mixed[:, None]).mean(axis=0)

    start = np.full(members, 1 / members)
    close = minimize(
        loss,
        start,
        jac=True,
        method="SLSQP",
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(np.ones((1, members)), 1, 1),
        options={"maxiter": 500, "ftol": 1e-12},
    ).x
    # multiplicative updates never leave the simplex and never raise the loss; a little of the start keeps all alive
    weights = 0.999 * np.clip(close, 0, None) / np.clip(close, 0, None).sum() + 0.001 * start
    for _ in range(_MOST_STEPS):
        gains = -loss(weights)[1]
        gap = float(np.log(gains.max()))
        if gap < _TOLERANCE:
            return weights, gap
        weights = weights * gains
        weights /= weights.sum()
    raise MemberError(
        f"the simplex blend stopped {gap:.1e} nats above its optimum, after {_MOST_STEPS} steps"
    )


class ConditionalStacker(Stacker):
    """A conditional logit: each member has one weight for both names and one for NEITHER.

    ``logit_A = sum_m w_m log p_mA``, the same ``w`` for B, ``logit_N = sum_m v_m log p_mN + b``; ``w`` and ``v`` are
    drawn towards 1/m, a geometric mean of all members. Half as many weights as in multinomial regression, and none
    that could tell A from B.

    Parameters
    ----------
    strength : float
        Of the quadratic pull, in nats a row.
    floor : float
        Least probability that a member is taken to give.
    """

    strength: Positive = 0.01
    floor: Floor = 1e-3

    def _fit(self, opinions: Opinions, labels: Labels, evidence: Table | None) -> None:
        logs = self._logs(opinions)
        rows, members, _ = logs.shape
        truth = np.eye(3)[labels]
        middle = np.r_[np.full(2 * members, 1 / members), 0.0]
        pull = np.r_[np.full(2 * members, self.strength), 0.0]

        def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            answers = softmax(_logits(logs, weights))
            away = weights - middle
            value = -np.log((answers * truth).sum(axis=1)).mean() + (pull * away * away).sum() / 2
            wrong = (answers - truth) / rows
            names = np.einsum("nc,nmc->m", wrong[:, :2], logs[:, :, :2])
            neither = wrong[:, 2] @ logs[:, :, 2]
            return float(value), np.r_[names, neither, wrong[:, 2].sum()] + pull * away

        self.weights_ = minimize(loss, middle, jac=True, method="L-BFGS-B", options={"maxiter": 1000}).x

    def logits(self, opinions: Opinions) -> NDArray[np.float64]:
        """Give (n, 3) logits, up to a constant of each row."""
        return _logits(self._logs(opinions), self.weights_)

    def _logs(self, opinions: Opinions) -> Opinions:
        # not centred: with weights of its own, NEITHER's log-probability means something by itself
        logs: Opinions = np.log(np.clip(opinions, self.floor, None))
        return logs

    def _predict(self, opinions: Opinions, evidence: Table | None) -> Probabilities:
        return softmax(self.logits(opinions))

    def _state(self) -> State:
        return State(arrays={"weights": self.weights_})

    def _restore(self, state: State) -> None:
        self.weights_ = state.arrays["weights"]


def _logits(logs: Opinions, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    members = logs.shape[1]
    names, neither, bias = weights[:members], weights[members:-1], weights[-1]
    logits: NDArray[np.float64] = np.stack(
        [logs[:, :, 0] @ names, logs[:, :, 1] @ names, logs[:, :, 2] @ neither + bias], axis=1
    )
    return logits


class LogisticStacker(Stacker):
    """Multinomial logistic regression on log-probabilities with an L2 penalty.

    Parameters
    ----------
    C : float
        Inverse strength of the penalty, as scikit-learn's.
    floor : float
        Least probability that a member is taken to give.
    """

    C: Positive = 0.05
    floor: Floor = 1e-6

    def _fit(self, opinions: Opinions, labels: Labels, evidence: Table | None) -> None:
        model = LogisticRegression(C=self.C, max_iter=2000).fit(self._columns(opinions), labels)
        if len(model.classes_) < len(SWAPPED):
            raise MemberError(
                "the logistic stacker needs rows of all three labels to learn from, with any two folds left out as "
                "well; take simplex or conditional for so few rows"
            )
        self.coefficients_, self.intercepts_ = model.coef_, model.intercept_

    def _predict(self, opinions: Opinions, evidence: Table | None) -> Probabilities:
        return softmax(self._columns(opinions) @ self.coefficients_.T + self.intercepts_)

    def _columns(self, opinions: Opinions) -> NDArray[np.float64]:
        return log_opinions(opinions, self.floor).reshape(len(opinions), -1)

    def _state(self) -> State:
        return State(arrays={"coefficients": self.coefficients_, "intercepts": self.intercepts_})

    def _restore(self, state: State) -> None:
        self.coefficients_, self.intercepts_ = state.arrays["coefficients"], state.arrays["intercepts"]
