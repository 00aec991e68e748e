"""Linear stackers: means with given weights, the simplex blend, the conditional logit and logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, minimize

from gapstack.ensemble.stacker import SWAPPED, Stacker, Table, member_inputs, softmax
from gapstack.errors import MemberError
from gapstack.kinds import BelowThird, Floor, Inputs, NotNegative, Positive, SomeShare
from gapstack.members.member import Probabilities
from gapstack.members.parts.learned import LearnedArrays
from gapstack.types import BasePredictions, Floats, Labels

_TOLERANCE = 1e-6
_MOST_STEPS = 20_000
_LEAST = 1e-15  # a probability whose logarithm is taken


class MeanStacker(LearnedArrays, Stacker):
    """A mean of the members with given weights: nothing is learned.

    As teams of the shared task combined theirs: the plain mean of probabilities (Attree, Wang, Krige, Chada), the mean
    of logits (Abzaliev), and weights by hand (Ionita et al. .65 and .35; Liu). The mean of logits, through softmax, is
    the normalised geometric mean of the probabilities. It runs over all folds' members at once.

    Parameters
    ----------
    of : str
        What the mean is of: ``probabilities`` or ``logits``.
    weights : sequence of float
        Of the members, in their order; all alike by default. They need not sum to 1.
    floor, ceiling : float
        Bounds that the mean is clipped to before it is rescaled to sum to 1 (Abzaliev .01 and .99; Liu .005 and 1).
    """

    of: Literal["probabilities", "logits"] = "probabilities"
    weights: Sequence[NotNegative] = ()
    floor: BelowThird = 0.0
    ceiling: SomeShare = 1.0

    LEARNS: ClassVar[bool] = False

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Table | None) -> None:
        self._weights(base.shape[1], base.shape[1])

    def _predict(self, base: BasePredictions, evidence: Table | None) -> Probabilities:
        weights = self._weights(self.members_, base.shape[1])
        if self.of == "logits":
            mean = softmax(np.einsum("m,nmc->nc", weights, np.log(np.clip(base, _LEAST, None))))
        else:
            mean = np.einsum("m,nmc->nc", weights, base)
        clipped: Probabilities = np.clip(mean, self.floor, self.ceiling)
        return clipped

    def _weights(self, members: int, columns: int) -> NDArray[np.float64]:
        """Weights (columns,) that sum to 1, of the members of one fold after the other."""
        weights = np.array(self.weights, dtype=np.float64) if self.weights else np.ones(members)
        if len(weights) != members or not weights.sum():
            raise MemberError(
                f"the mean has {len(weights)} weights for {members} members, that sum to {weights.sum():g}; give one "
                "for each member, in their order, not all 0"
            )
        return np.tile(weights, columns // members) / (weights.sum() * (columns // members))


class SimplexStacker(LearnedArrays, Stacker):
    """The convex combination of the members' probabilities with the least logloss.

    At any weights the logloss exceeds the optimum by at most ``log(max g)``, where ``g`` holds, for each member, the
    mean over rows of its probability of the label divided by the mixture's (Cover 1984, theorem 2, on growth-optimal
    portfolios: the same problem). The solver iterates until this bound is below 1e-6 nats.

    Parameters
    ----------
    floor : float
        Lower bound that members' probabilities are clipped to.
    """

    floor: Floor = 1e-4

    LEARNED = ("weights",)

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Table | None) -> None:
        of_label = self._floored(base)[np.arange(len(labels)), :, labels]
        self.weights_, self.gap_ = _growth_optimal(of_label)

    def _predict(self, base: BasePredictions, evidence: Table | None) -> Probabilities:
        blend: Probabilities = np.einsum("m,nmc->nc", self.weights_, self._floored(base))
        return blend

    def _floored(self, base: BasePredictions) -> BasePredictions:
        raised = np.clip(base, self.floor, None)
        floored: BasePredictions = raised / raised.sum(axis=2, keepdims=True)
        return floored


def _growth_optimal(of_label: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Weights on the simplex that maximise the mean of log(of_label @ weights), and the bound of their gap in nats."""
    members = of_label.shape[1]

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        mixed = of_label @ weights
        return float(-np.log(mixed).mean()), -(of_label / mixed[:, None]).mean(axis=0)

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
    # multiplicative updates stay on the simplex and never raise the loss; a little of the start keeps weights above 0
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


class ConditionalStacker(LearnedArrays, Stacker):
    """A conditional logit: each member has one weight for both names and one for NEITHER.

    ``logit_A = sum_m w_m log p_mA``, the same ``w`` for B, ``logit_N = sum_m v_m log p_mN + b``. A quadratic penalty
    shrinks ``w`` and ``v`` towards 1/m, the geometric mean of all members.

    Parameters
    ----------
    strength : float
        Of the penalty, in nats a row.
    floor : float
        Lower bound that members' probabilities are clipped to.
    """

    strength: Positive = 0.01
    floor: Floor = 1e-3

    LEARNED = ("weights",)

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Table | None) -> None:
        members = base.shape[1]
        middle = np.r_[np.full(2 * members, 1 / members), 0.0]
        penalty = np.r_[np.full(2 * members, self.strength), 0.0]
        constant = np.ones((len(base), 1))
        self.weights_ = conditional_logit(self._logs(base), constant, labels, middle, penalty)

    def logits(self, base: BasePredictions) -> NDArray[np.float64]:
        """Give (n, 3) logits, up to a constant of each row."""
        return logits_of(self._logs(base), np.ones((len(base), 1)), self.weights_)

    def _logs(self, base: BasePredictions) -> BasePredictions:
        # not centred: NEITHER has weights of its own, so a constant added to a member's logs would not cancel
        logs: BasePredictions = np.log(np.clip(base, self.floor, None))
        return logs

    def _predict(self, base: BasePredictions, evidence: Table | None) -> Probabilities:
        return softmax(self.logits(base))


def conditional_logit(
    logs: BasePredictions,
    shared: Table,
    labels: Labels,
    middle: Floats,
    penalty: Floats,
    rows: Floats | None = None,
) -> Floats:
    """Weights with the least logloss and penalty, see :func:`logits_of`; ``rows`` (n,) are weights of mean 1.

    By Newton's steps within a trust region: a handful reach what the quasi-Newton method needs a hundred for.
    """
    truth = np.eye(3)[labels]
    share = (np.ones(len(labels)) if rows is None else rows) / len(labels)
    a, b, neither = logs[:, :, 0], logs[:, :, 1], np.column_stack([logs[:, :, 2], shared])
    columns = logs.shape[1]

    def loss(weights: Floats) -> tuple[float, Floats]:
        probabilities = softmax(logits_of(logs, shared, weights))
        away = weights - middle
        value = -share @ np.log((probabilities * truth).sum(axis=1)) + (penalty * away * away).sum() / 2
        error = (probabilities - truth) * share[:, None]
        gradient = np.r_[error[:, 0] @ a + error[:, 1] @ b, error[:, 2] @ neither]
        return float(value), gradient + penalty * away

    def curvature(weights: Floats) -> Floats:
        of_a, of_b, of_neither = softmax(logits_of(logs, shared, weights)).T[:, :, None]
        mean = np.hstack([of_a * a + of_b * b, of_neither * neither])
        weight = share[:, None]
        matrix = np.diag(penalty) - mean.T @ (weight * mean)
        matrix[:columns, :columns] += a.T @ (weight * of_a * a) + b.T @ (weight * of_b * b)
        matrix[columns:, columns:] += neither.T @ (weight * of_neither * neither)
        return matrix

    best: Floats = minimize(loss, middle, jac=True, hess=curvature, method="trust-exact", tol=1e-8).x
    return best


def logits_of(logs: BasePredictions, shared: Table, weights: Floats) -> Floats:
    """Logits (n, 3) of logs (n, q, 3) and of r shared columns: q weights for names, q and r for NEITHER."""
    columns = logs.shape[1]
    names, neither, own = np.split(weights, [columns, 2 * columns])
    logits: Floats = np.stack(
        [logs[:, :, 0] @ names, logs[:, :, 1] @ names, logs[:, :, 2] @ neither + shared @ own], axis=1
    )
    return logits


class LogisticStacker(LearnedArrays, Stacker):
    """Multinomial logistic regression with an L2 penalty.

    Parameters
    ----------
    inputs : str
        ``logs``, log-probabilities; or ``probabilities``, as Bao and Qiao 2019.
    C : float
        Inverse strength of the penalty, as scikit-learn's.
    floor : float
        Lower bound that members' probabilities are clipped to.
    """

    inputs: Inputs = "logs"
    C: Positive = 0.05
    floor: Floor = 1e-6

    LEARNED = ("coefficients", "intercepts")

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Table | None) -> None:
        from sklearn.linear_model import LogisticRegression  # slow to import, and reading a stack needs none

        model = LogisticRegression(C=self.C, max_iter=2000).fit(self._columns(base), labels)
        if len(model.classes_) < len(SWAPPED):
            raise MemberError(
                "the logistic stacker needs rows of all three labels to learn from, with any two folds left out as "
                "well; take simplex or conditional for so few rows"
            )
        self.coefficients_, self.intercepts_ = model.coef_, model.intercept_

    def _predict(self, base: BasePredictions, evidence: Table | None) -> Probabilities:
        return softmax(self._columns(base) @ self.coefficients_.T + self.intercepts_)

    def _columns(self, base: BasePredictions) -> NDArray[np.float64]:
        return member_inputs(base, self.inputs, self.floor).reshape(len(base), -1)
