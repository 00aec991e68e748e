"""Feature-weighted linear stacking (Sill et al. 2009, arXiv:0911.0460): which member to trust on which row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from gapstack.ensemble.linear import conditional_logit, logits_of
from gapstack.ensemble.meta_features import NAMES, disagreement, meta_features
from gapstack.ensemble.stacker import Stacker, Table, scales_of, softmax, standardised
from gapstack.features.blocks import Features
from gapstack.kinds import Floor, MetaFeatureName, Positive
from gapstack.members.parts.learned import LearnedArrays
from gapstack.types import BasePredictions, Labels, Probabilities


class FeatureWeightedStacker(LearnedArrays, Stacker):
    """A conditional logit whose weights are linear functions of the row.

    As :class:`~gapstack.ensemble.linear.ConditionalStacker`, with ``w_m + sum_k W_mk x_k`` in the place of ``w_m``, and
    so ``v`` and ``b``, where ``x`` are the standardised meta-features of the row and the disagreement of the members
    (:mod:`~gapstack.ensemble.meta_features`). A quadratic penalty shrinks ``W`` to 0, which is the conditional logit.

    Parameters
    ----------
    features : sequence of str
        Meta-features that weights depend on; all by default.
    feminine : float
        Weight of a row with a feminine pronoun in the fit, beside 1 of any other.
    strength : float
        Of the penalty on the weights of an average row, in nats a row.
    shrink : float
        Of the penalty on what a meta-feature changes, likewise.
    floor : float
        Lower bound that members' probabilities are clipped to.
    """

    features: Sequence[MetaFeatureName] = NAMES
    feminine: Positive = 1.0
    strength: Positive = 0.01
    shrink: Positive = 3.0
    floor: Floor = 1e-3

    READS_EVIDENCE: ClassVar[bool] = True
    LEARNED = ("weights", "scales")

    def _table(self, evidence: Features) -> Table:
        return meta_features(evidence)

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Table | None) -> None:
        facts = self._facts(base, evidence)
        self.scales_ = scales_of(facts)
        columns = self._columns(facts)
        members, count = base.shape[1], columns.shape[1]
        average = np.eye(1, count)[0]  # the constant column is the first
        weights = np.tile(average, 2 * members)
        middle = np.r_[weights / members, np.zeros(count)]
        penalty = np.r_[np.where(weights, self.strength, self.shrink), np.where(average, 0.0, self.shrink)]
        assert evidence is not None
        rows = np.where(evidence[:, NAMES.index("feminine")] == 1, self.feminine, 1.0)
        self.weights_ = conditional_logit(
            self._logs(base, columns), columns, labels, middle, penalty, rows / rows.mean()
        )

    def _predict(self, base: BasePredictions, evidence: Table | None) -> Probabilities:
        columns = self._columns(self._facts(base, evidence))
        return softmax(logits_of(self._logs(base, columns), columns, self.weights_))

    def _facts(self, base: BasePredictions, evidence: Table | None) -> Table:
        """The meta-features that count, (n, k)."""
        assert evidence is not None  # as READS_EVIDENCE says
        every = np.column_stack([evidence, disagreement(base)])
        return every[:, [NAMES.index(name) for name in self.features]]

    def _columns(self, facts: Table) -> Table:
        """1 and the standardised meta-features, (n, 1 + k)."""
        return np.column_stack([np.ones(len(facts)), standardised(facts, self.scales_)])

    def _logs(self, base: BasePredictions, columns: Table) -> BasePredictions:
        """Each member's logs times each column, (n, members x columns, 3)."""
        logs = np.log(np.clip(base, self.floor, None))
        product: BasePredictions = (logs[:, :, None, :] * columns[:, None, :, None]).reshape(len(base), -1, 3)
        return product
