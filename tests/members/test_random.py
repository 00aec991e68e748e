from dataclasses import replace

import numpy as np
import pytest

from gapstack.data import Corpus
from gapstack.members.baselines import Random


@pytest.fixture(scope="module")
def many(sample) -> Corpus:
    return Corpus(replace(e, id=f"{copy}-{e.id}") for copy in range(8) for e in sample)


def test_the_coin_is_fair(sample, many):
    draws = Random().fit(sample).predict_proba(many).argmax(axis=1)
    # about 2,000 tosses: five standard deviations
    assert abs((draws == 0).mean() - 0.5) < 2.5 / np.sqrt(len(many))


def test_seeds_toss_other_coins(sample, many):
    first, second = (Random(seed=seed).fit(sample).predict_proba(many).argmax(axis=1) for seed in (0, 1))
    assert abs((first == second).mean() - 0.5) < 2.5 / np.sqrt(len(many))


def test_confidence_is_the_drawn_share_of_what_names_get(sample):
    answers = Random(confidence=0.9).fit(sample).predict_proba(sample)
    neither = (np.count_nonzero(sample.labels == 2) + 1) / (len(sample) + 3)
    np.testing.assert_allclose(answers[:, 2], neither)
    np.testing.assert_allclose(answers[:, :2].max(axis=1), 0.9 * (1 - neither))
