"""Linear stackers: means, the simplex blend, conditional logits (also with weights by row) and logistic regression."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, minimize
from scipy.special import entr

from gapstack.ensemble.stacker import (
    LEAST_PROBABILITY,
    SWAPPED,
    Inputs,
    Stacker,
    column_scales,
    member_inputs,
    softmax,
    standardised,
)
from gapstack.errors import MemberError
from gapstack.features import Features
from gapstack.settings import FractionBelowThird, NonNegative, Positive, PositiveFraction
from gapstack.types import BasePredictions, Floats, Labels, Probabilities

_TOLERANCE = 1e-6
_MAX_STEPS = 20_000
LOGIT_FLOOR, _BLEND_FLOOR, _LOGISTIC_FLOOR = 1e-3, 1e-4, 1e-6
"""Lower bounds of the members' probabilities in a conditional logit, a blend and a logistic regression."""


class MeanStacker(Stacker):
    """A mean of the members with given weights, over all folds at once; nothing is learned."""

    of: Literal["probabilities", "logits"] = "probabilities"
    """Average ``probabilities``, or ``logits`` (the normalised geometric mean)."""
    weights: Sequence[NonNegative] = ()
    """Weights of the members, in their order; equal by default. They need not sum to 1."""
    floor: FractionBelowThird = 0.0
    ceiling: PositiveFraction = 1.0
    """Clip the mean to these bounds before rescaling it to sum to 1 (Abzaliev 0.01 and 0.99; Liu 0.005 and 1)."""

    LEARNS: ClassVar[bool] = False

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Floats) -> None:
        self._normalised_weights(base.shape[1], base.shape[1])

    def _predict(self, base: BasePredictions, evidence: Floats) -> Probabilities:
        weights = self._normalised_weights(self.members_, base.shape[1])
        if self.of == "logits":
            mean = softmax(np.einsum("m,nmc->nc", weights, np.log(np.clip(base, LEAST_PROBABILITY, None))))
        else:
            mean = np.einsum("m,nmc->nc", weights, base)
        return np.clip(mean, self.floor, self.ceiling)

    def _normalised_weights(self, members: int, columns: int) -> Floats:
        """Weights (columns,) that sum to 1, for the members of one or several folds."""
        weights = np.array(self.weights, dtype=np.float64) if self.weights else np.ones(members)
        if len(weights) != members or not weights.sum():
            raise MemberError(f"{len(weights)} weights of {members} members; give one for each, not all 0")
        return np.tile(weights, columns // members) / (weights.sum() * (columns // members))


class SimplexStacker(Stacker):
    """The convex combination of the members' probabilities with the least logloss.

    At any weights the logloss exceeds the optimum by at most ``log(max g)``, where ``g`` holds, for each member, the
    mean over rows of its probability of the label divided by the mixture's (Cover 1984, theorem 2, on growth-optimal
    portfolios). The solver iterates until this bound is below 1e-6 nats.
    """

    LEARNED = ("weights",)

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Floats) -> None:
        of_label = _floored(base)[np.arange(len(labels)), :, labels]
        self.weights_, self.gap_ = _growth_optimal(of_label)

    def _predict(self, base: BasePredictions, evidence: Floats) -> Probabilities:
        return np.einsum("m,nmc->nc", self.weights_, _floored(base))


def _floored(base: BasePredictions) -> BasePredictions:
    raised = np.clip(base, _BLEND_FLOOR, None)
    return raised / raised.sum(axis=2, keepdims=True)


def _growth_optimal(of_label: Floats) -> tuple[Floats, float]:
    """Weights on the simplex that maximise the mean of log(of_label @ weights), and their bound in nats."""
    members = of_label.shape[1]

    def loss(weights: Floats) -> tuple[float, Floats]:
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
    ).x.clip(0, None)
    # multiplicative updates stay on the simplex and never raise the loss; a little of the start keeps weights above 0
    weights = 0.999 * close / close.sum() + 0.001 * start
    for _ in range(_MAX_STEPS):
        gains = -loss(weights)[1]
        gap = float(np.log(gains.max()))
        if gap < _TOLERANCE:
            return weights, gap
        weights = weights * gains
        weights /= weights.sum()
    raise MemberError(
        f"the simplex blend is still {gap:.1e} nats above its optimum after {_MAX_STEPS} steps; leave out members "
        "with nearly equal predictions, or use another stacker"
    )


class ConditionalStacker(Stacker):
    """A conditional logit: each member has one weight for both names and one for NEITHER.

    ``logit_A = sum_m w_m log p_mA``, the same ``w`` for B, ``logit_N = sum_m v_m log p_mN + b``. A quadratic penalty
    shrinks ``w`` and ``v`` towards 1/m, the geometric mean of all members.
    """

    strength: Positive = 0.01
    """Weight of the penalty, in nats per row."""
    LEARNED = ("weights",)

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Floats) -> None:
        self._fit_weights(base, np.ones((len(base), 1)), labels)

    def _fit_weights(
        self,
        base: BasePredictions,
        columns: Floats,
        labels: Labels,
        shrink: float = 0.0,
        row_weights: Floats | None = None,
    ) -> None:
        """Learn weights that are linear in a constant and other columns of the row (n, k)."""
        members, count = base.shape[1], columns.shape[1]
        average = np.eye(1, count)[0]  # the constant column is the first
        weights = np.tile(average, 2 * members)
        middle = np.r_[weights / members, np.zeros(count)]
        penalty = np.r_[np.where(weights, self.strength, shrink), np.where(average, 0.0, shrink)]
        logs = _times_columns(base, columns)
        self.weights_ = fit_conditional_logit(logs, columns, labels, middle, penalty, row_weights)

    def _predict(self, base: BasePredictions, evidence: Floats) -> Probabilities:
        return softmax(member_logits(base, self.weights_))


def member_weights(base: BasePredictions, labels: Labels) -> Floats:
    """Weights of a :class:`ConditionalStacker` for rows that are in both orders of the names already."""
    stacker = ConditionalStacker()
    stacker._fit(base, labels, np.empty((len(base), 0)))
    return stacker.weights_


def member_logits(base: BasePredictions, weights: Floats, columns: Floats | None = None) -> Floats:
    """Logits (n, 3) of a :class:`ConditionalStacker`, up to a constant of each row."""
    columns = np.ones((len(base), 1)) if columns is None else columns
    return conditional_logits(_times_columns(base, columns), columns, weights)


def _times_columns(base: BasePredictions, columns: Floats) -> BasePredictions:
    """Each member's logs times each column, (n, members x columns, 3)."""
    # not centred: NEITHER has weights of its own, so a constant added to a member's logs would not cancel
    logs = np.log(np.clip(base, LOGIT_FLOOR, None))
    return np.asarray((logs[:, :, None, :] * columns[:, None, :, None]).reshape(len(base), -1, 3))


def fit_conditional_logit(
    logs: BasePredictions,
    shared: Floats,
    labels: Labels,
    middle: Floats,
    penalty: Floats,
    row_weights: Floats | None = None,
) -> Floats:
    """Weights with the least penalised logloss, for :func:`conditional_logits`; ``row_weights`` (n,) have mean 1."""
    truth = np.eye(3)[labels]
    share = (np.ones(len(labels)) if row_weights is None else row_weights) / len(labels)
    a, b, neither = logs[:, :, 0], logs[:, :, 1], np.column_stack([logs[:, :, 2], shared])
    columns = logs.shape[1]

    def loss(weights: Floats) -> tuple[float, Floats]:
        probabilities = softmax(conditional_logits(logs, shared, weights))
        away = weights - middle
        value = -share @ np.log((probabilities * truth).sum(axis=1)) + (penalty * away * away).sum() / 2
        error = (probabilities - truth) * share[:, None]
        gradient = np.r_[error[:, 0] @ a + error[:, 1] @ b, error[:, 2] @ neither]
        return float(value), gradient + penalty * away

    def hessian(weights: Floats) -> Floats:
        of_a, of_b, of_neither = softmax(conditional_logits(logs, shared, weights)).T[:, :, None]
        mean = np.hstack([of_a * a + of_b * b, of_neither * neither])
        weight = share[:, None]
        matrix = np.diag(penalty) - mean.T @ (weight * mean)
        matrix[:columns, :columns] += a.T @ (weight * of_a * a) + b.T @ (weight * of_b * b)
        matrix[columns:, columns:] += neither.T @ (weight * of_neither * neither)
        return matrix

    return minimize(loss, middle, jac=True, hess=hessian, method="trust-exact", tol=1e-8).x


def conditional_logits(logs: BasePredictions, shared: Floats, weights: Floats) -> Floats:
    """Logits (n, 3) from logs (n, q, 3) and r shared columns: q weights for names, q and r for NEITHER."""
    columns = logs.shape[1]
    names, neither, of_shared = np.split(weights, [columns, 2 * columns])
    return np.stack(
        [logs[:, :, 0] @ names, logs[:, :, 1] @ names, logs[:, :, 2] @ neither + shared @ of_shared], axis=1
    )


def _distance(a: Floats, b: Floats) -> Floats:
    return np.abs(a - b)


META: dict[str, tuple[str, Callable[[Floats, Floats], Floats] | None, bool]] = {
    "feminine": ("feminine", None, False),
    "near": ("words", np.minimum, True),
    "apart": ("words", _distance, True),
    "both_before": ("before", np.minimum, False),
    "one_sentence": ("same_sentence", np.minimum, False),
    "titled": ("title_share", np.maximum, False),
    "title_apart": ("title_share", _distance, False),
    "others": ("other_names", None, True),
    "path": ("cue_ab_path", None, True),
}
"""Meta-features by name: hand-made feature, pooling of the two names' values (None: of the row), logarithm."""
_META_NAMES = list(META)


def meta_features(features: Features) -> Floats:
    """Return the columns of :data:`META`, (n, len(META)), symmetric in A and B; NaN for missing values."""
    columns = []
    for name, pool, logarithm in META.values():
        if pool is None:
            column = features.shared[:, features.shared_names.index(name)]
        else:
            column = pool(*features.candidates[:, :, features.candidate_names.index(name)].T)
        columns.append(np.log1p(column) if logarithm else column)
    return np.column_stack(columns)


def disagreement(base_predictions: BasePredictions) -> Floats:
    """Return the Jensen-Shannon divergence of the members in nats, (n, 1)."""
    of_mean = entr(base_predictions.mean(axis=1)).sum(axis=-1, keepdims=True)
    return of_mean - entr(base_predictions).sum(axis=-1).mean(axis=1, keepdims=True)


class FeatureWeightedStacker(ConditionalStacker):
    """Feature-weighted linear stacking (Sill et al. 2009, arXiv:0911.0460).

    As :class:`ConditionalStacker`, with ``w_m + sum_k W_mk x_k`` instead of ``w_m``, and likewise for ``v`` and ``b``;
    ``x`` are standardised meta-features of the row and the disagreement of the members. A quadratic penalty shrinks
    ``W`` to 0, which is the conditional logit.
    """

    feminine: Positive = 1.0
    """Weight in the fit of a row with a feminine pronoun; other rows weigh 1."""
    shrink: Positive = 3.0
    """Weight of the penalty on the coefficients of meta-features, in nats per row."""

    READS_EVIDENCE: ClassVar[bool] = True
    LEARNED = ("scales",)

    def _table(self, evidence: Features) -> Floats:
        return meta_features(evidence)

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Floats) -> None:
        self.scales_ = column_scales(np.column_stack([evidence, disagreement(base)]))
        rows = np.where(evidence[:, _META_NAMES.index("feminine")] == 1, self.feminine, 1.0)
        self._fit_weights(base, self._columns(base, evidence), labels, self.shrink, rows / rows.mean())

    def _predict(self, base: BasePredictions, evidence: Floats) -> Probabilities:
        return softmax(member_logits(base, self.weights_, self._columns(base, evidence)))

    def _columns(self, base: BasePredictions, evidence: Floats) -> Floats:
        """A constant, the standardised meta-features and the members' disagreement, (n, 1 + k)."""
        facts = np.column_stack([evidence, disagreement(base)])
        return np.column_stack([np.ones(len(facts)), standardised(facts, self.scales_)])


class LogisticStacker(Stacker):
    """Multinomial logistic regression with an L2 penalty."""

    inputs: Inputs = "logs"
    """``logs``, log-probabilities; or ``probabilities``, as Bao and Qiao 2019."""
    C: Positive = 0.05
    """Inverse strength of the penalty, as in scikit-learn."""
    LEARNED = ("coefficients", "intercepts")

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Floats) -> None:
        from sklearn.linear_model import LogisticRegression  # slow to import, not needed for predictions

        model = LogisticRegression(C=self.C, max_iter=2000).fit(self._columns(base), labels)
        if len(model.classes_) < len(SWAPPED):
            raise MemberError(
                "the logistic stacker needs training rows of all three labels, also with two folds left out; use "
                "simplex or conditional for so few rows"
            )
        self.coefficients_, self.intercepts_ = model.coef_, model.intercept_

    def _predict(self, base: BasePredictions, evidence: Floats) -> Probabilities:
        return softmax(self._columns(base) @ self.coefficients_.T + self.intercepts_)

    def _columns(self, base: BasePredictions) -> Floats:
        return member_inputs(base, self.inputs, _LOGISTIC_FLOOR).reshape(len(base), -1)
