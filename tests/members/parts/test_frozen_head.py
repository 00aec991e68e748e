"""What members on frozen features share: seeds, early stopping, copies."""

import numpy as np
import pytest

from gapstack.errors import MemberError
from gapstack.members import create
from gapstack.members.parts import frozen_head


@pytest.fixture
def settings(tiny_encoder_folder):
    return {"encoder": str(tiny_encoder_folder), "blocks": []}


@pytest.fixture
def trained(monkeypatch):
    """Rows learned from and rows held back of each training."""
    seen = []
    original = frozen_head.train

    def noting(network, data, plan, held=None):
        seen.append((len(data.sizes), None if held is None else len(held.sizes)))
        return original(network, data, plan, held)

    monkeypatch.setattr(frozen_head, "train", noting)
    return seen


def test_early_stopping_holds_a_share_back_and_nothing_else_does(settings, sample_train, trained):
    rows = sample_train[:100]
    create("siamese", **settings, training={"epochs": 1}).fit(rows)
    create("siamese", **settings, seeds=2, training={"epochs": 1, "patience": 1}, validation_share=0.2).fit(
        rows
    )
    assert trained[0] == (100, None)
    assert len(trained) == 3
    assert {sum(pair) for pair in trained[1:]} == {100}
    assert all(15 <= held <= 25 for _, held in trained[1:])


def test_several_seeds_are_averaged(settings, sample_train, sample_test):
    rows = sample_train[:60]
    member = create("siamese", **settings, seeds=2, training={"epochs": 1}).fit(rows)
    both = member.predict_proba(sample_test)
    networks = member.networks_
    each = []
    for network in networks:
        member.networks_ = [network]
        each.append(member.predict_proba(sample_test))
    assert np.abs(each[0] - each[1]).max() > 1e-3
    np.testing.assert_allclose(both, np.mean(each, axis=0), atol=1e-12)


def test_a_seed_for_the_training_is_refused(settings, sample_train):
    with pytest.raises(MemberError, match=r"training\.seed: no such setting"):
        create("siamese", **settings, training={"seed": 3}).fit(sample_train[:20])
