"""Feature-weighted linear stacking (Sill et al. 2009, arXiv:0911.0460): member weights that depend on the row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, ClassVar

import numpy as np

from gapstack.ensemble.linear import conditional_logits, fit_conditional_logit
from gapstack.ensemble.stacker import (
    EVIDENCE,
    LEAST_PROBABILITY,
    Stacker,
    column_scales,
    softmax,
    standardised,
)
from gapstack.errors import MemberError
from gapstack.features.blocks import Features
from gapstack.settings import OneOf, Positive, ProbabilityFloor
from gapstack.types import BasePredictions, Floats, Labels, Probabilities

Pool = Callable[[Floats, Floats], Floats]


def _distance(a: Floats, b: Floats) -> Floats:
    return np.abs(a - b)


META: dict[str, tuple[str, Pool | None, bool]] = {
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

NAMES = (*META, "disagreement")
"""All meta-features; the last is computed from base predictions, by :func:`disagreement`."""
MetaFeatureName = Annotated[str, OneOf(NAMES)]


def meta_features(features: Features) -> Floats:
    """Return the columns of :data:`META`, (n, len(META)), symmetric in A and B; NaN for missing values."""
    columns = []
    for name, pool, logarithm in META.values():
        names = features.shared_names if pool is None else features.candidate_names
        if name not in names:
            raise MemberError(
                f"the evidence has no feature {name!r}; give the blocks {' and '.join(EVIDENCE)}"
            )
        at = names.index(name)
        column = features.shared[:, at] if pool is None else pool(*features.candidates[:, :, at].T)
        columns.append(np.log1p(column) if logarithm else column)
    return np.column_stack(columns)


def disagreement(base_predictions: BasePredictions) -> Floats:
    """Return the Jensen-Shannon divergence of the members in nats, (n, 1)."""

    def entropy(probabilities: Floats) -> Floats:
        logs = np.log(np.clip(probabilities, LEAST_PROBABILITY, None))
        entropies: Floats = -(probabilities * logs).sum(axis=-1)
        return entropies

    return (entropy(base_predictions.mean(axis=1)) - entropy(base_predictions).mean(axis=1))[:, None]


class FeatureWeightedStacker(Stacker):
    """A conditional logit whose weights are linear functions of meta-features of the row.

    As :class:`~gapstack.ensemble.linear.ConditionalStacker`, with ``w_m + sum_k W_mk x_k`` instead of ``w_m``, and
    likewise for ``v`` and ``b``; ``x`` are standardised meta-features of the row and the disagreement of the members.
    A quadratic penalty shrinks ``W`` to 0, which is the conditional logit.

    Parameters
    ----------
    features : sequence of str
        Meta-features that weights depend on; all by default.
    feminine : float
        Weight in the fit of a row with a feminine pronoun; other rows weigh 1.
    strength : float
        Weight of the penalty on the weights of an average row, in nats per row.
    shrink : float
        Weight of the penalty on the coefficients of meta-features, likewise.
    floor : float
        Lower bound that members' probabilities are clipped to.
    """

    features: Sequence[MetaFeatureName] = NAMES
    feminine: Positive = 1.0
    strength: Positive = 0.01
    shrink: Positive = 3.0
    floor: ProbabilityFloor = 1e-3

    READS_EVIDENCE: ClassVar[bool] = True
    LEARNED = ("weights", "scales")

    def _table(self, evidence: Features) -> Floats:
        return meta_features(evidence)

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Floats | None) -> None:
        assert evidence is not None  # guaranteed by READS_EVIDENCE
        facts = self._facts(base, evidence)
        self.scales_ = column_scales(facts)
        columns = self._columns(facts)
        members, count = base.shape[1], columns.shape[1]
        average = np.eye(1, count)[0]  # the constant column is the first
        weights = np.tile(average, 2 * members)
        middle = np.r_[weights / members, np.zeros(count)]
        penalty = np.r_[np.where(weights, self.strength, self.shrink), np.where(average, 0.0, self.shrink)]
        rows = np.where(evidence[:, NAMES.index("feminine")] == 1, self.feminine, 1.0)
        self.weights_ = fit_conditional_logit(
            self._logs(base, columns), columns, labels, middle, penalty, rows / rows.mean()
        )

    def _predict(self, base: BasePredictions, evidence: Floats | None) -> Probabilities:
        assert evidence is not None
        columns = self._columns(self._facts(base, evidence))
        return softmax(conditional_logits(self._logs(base, columns), columns, self.weights_))

    def _facts(self, base: BasePredictions, evidence: Floats) -> Floats:
        """The chosen meta-features, (n, k)."""
        every = np.column_stack([evidence, disagreement(base)])
        return every[:, [NAMES.index(name) for name in self.features]]

    def _columns(self, facts: Floats) -> Floats:
        """A constant and the standardised meta-features, (n, 1 + k)."""
        return np.column_stack([np.ones(len(facts)), standardised(facts, self.scales_)])

    def _logs(self, base: BasePredictions, columns: Floats) -> BasePredictions:
        """Each member's logs times each column, (n, members x columns, 3)."""
        logs = np.log(np.clip(base, self.floor, None))
        product: BasePredictions = (logs[:, :, None, :] * columns[:, None, :, None]).reshape(len(base), -1, 3)
        return product
