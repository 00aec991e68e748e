"""Weights that depend on the row: whom to trust follows its facts, and without any it is the conditional logit."""

from dataclasses import replace

import numpy as np

from gapstack.ensemble import create_stacker
from gapstack.ensemble.linear import META, FeatureWeightedStacker, meta_features
from gapstack.ensemble.stacker import EVIDENCE
from gapstack.evaluation import log_loss
from gapstack.features.blocks import features
from tests.ensemble.test_stacker import HELD, LABELS, TRAIN, base_on, evidence_on

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
