"""Convex stackers reach their optimum; weights that depend on the row follow its facts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from gapstack.ensemble import create_stacker
from gapstack.ensemble.linear import (
    META,
    FeatureWeightedStacker,
    conditional_logits,
    fit_conditional_logit,
    meta_features,
)
from gapstack.ensemble.stacker import EVIDENCE, softmax
from gapstack.errors import MemberError
from gapstack.evaluation import log_loss
from gapstack.features import features
from tests.ensemble.test_stacker import BASE, HELD, LABELS, TRAIN, base_on, evidence_on


def test_given_weights_are_those_of_the_members_in_their_order():
    stacker = create_stacker("mean", weights=[65, 35, 0]).fit(BASE, LABELS)
    np.testing.assert_allclose(stacker.predict_proba(BASE), 0.65 * BASE[:, 0] + 0.35 * BASE[:, 1])


@pytest.mark.parametrize("weights", [[1, 2], [0, 0, 0]])
def test_weights_that_fit_no_member_are_refused(weights):
    with pytest.raises(MemberError, match="give one for each"):
        create_stacker("mean", weights=weights).fit(BASE, LABELS)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_no_other_blend_of_two_members_is_better(seed):
    labels = np.random.default_rng(seed).choice(3, size=80)
    base = base_on(labels, [1.5, 0.5], seed)
    stacker = create_stacker("simplex").fit(base, labels)
    assert stacker.gap_ < 1e-6
    found = log_loss(labels, stacker.predict_proba(base))
    grid = [log_loss(labels, w * base[:, 0] + (1 - w) * base[:, 1]) for w in np.linspace(0, 1, 201)]
    assert found <= min(grid) + 2e-6


def test_no_other_weights_of_a_conditional_logit_are_better():
    rng = np.random.default_rng(0)
    logs, shared, labels = rng.normal(size=(300, 4, 3)), rng.normal(size=(300, 2)), rng.integers(3, size=300)
    middle, penalty, rows = rng.normal(size=10), np.r_[np.full(8, 0.01), 0, 0], rng.uniform(0, 2, 300)

    def loss(weights):
        of_label = softmax(conditional_logits(logs, shared, weights))[np.arange(300), labels]
        return -(rows * np.log(of_label)).mean() + (penalty * (weights - middle) ** 2).sum() / 2

    found = fit_conditional_logit(logs, shared, labels, middle, penalty, rows)
    np.testing.assert_allclose(approx_fprime(found, loss), 0, atol=1e-6)


FACTS = evidence_on(LABELS)
FEMININE = FACTS.shared[:, FACTS.shared_names.index("feminine")] == 1
TAKEN, LEFT = FACTS.take(np.arange(400)), FACTS.take(np.arange(400, 600))


def test_whom_to_trust_follows_the_row():
    """The first member knows feminine rows alone, the second the others: one weight for all rows wastes both."""
    sharp = base_on(LABELS, [3.0, 0.0])
    base = np.where(FEMININE[:, None, None], sharp, sharp[:, ::-1])
    weighted = create_stacker("feature_weighted", shrink=0.01)
    weighted.fit(base[TRAIN], LABELS[TRAIN], TAKEN)
    common = create_stacker("conditional").fit(base[TRAIN], LABELS[TRAIN])
    gain = log_loss(LABELS[HELD], common.predict_proba(base[HELD])) - log_loss(
        LABELS[HELD], weighted.predict_proba(base[HELD], LEFT)
    )
    assert gain > 0.1


def test_rows_without_a_page_are_predicted(sample_train):
    """The title's features are NaN there, which counts as average."""
    rows = sample_train.take(np.arange(40))
    evidence = features(rows.map(lambda example: replace(example, url=None)), EVIDENCE)
    assert np.isnan(meta_features(evidence)[:, list(META).index("titled")]).all()
    base = base_on(rows.labels, [2.0, 1.0])
    stacker = FeatureWeightedStacker().fit(base, rows.labels, evidence)
    assert np.isfinite(stacker.predict_proba(base, evidence)).all()
