"""What members on frozen features share: seeds, early stopping, copies."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gapstack.members import create, frozen_head, saved
from gapstack.members.frozen_head import chosen_layers


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


def test_the_papers_network_takes_sides_and_ours_does_not(settings, sample_train, sample_test):
    swapped = sample_test.map(lambda e: replace(e, a=e.b, b=e.a))
    gaps = []
    for symmetric in (True, False):
        member = create("siamese", **settings, symmetric=symmetric, training={"epochs": 1})
        answers = member.fit(sample_train[:40]).predict_proba(sample_test)
        gaps.append(np.abs(member.predict_proba(swapped)[:, [1, 0, 2]] - answers).max())
    assert gaps[0] < 1e-6 < 1e-3 < gaps[1]


@pytest.mark.parametrize(
    ("layers", "depth", "of", "expected"),
    [
        ((20,), 24, 24, (20,)),
        ((9,), 12, 6, (4,)),
        ((21, 20, 19), 24, 24, (21, 20, 19)),
        ((21, 20, 19), 24, 6, (5,)),  # they fall together
        ((21, 22), 24, 12, (10, 11)),
    ],
)
def test_layers_are_found_as_deep_in_another_encoder(layers, depth, of, expected):
    assert chosen_layers(None, SimpleNamespace(num_layers=of), (layers, depth)) == expected


def test_a_null_space_is_learned_and_kept(sample_train, sample_test, settings, tmp_path):
    settings |= {"training": {"epochs": 1}}
    member = create("siamese", null_space=True, **settings).fit(sample_train[:60])
    assert (np.linalg.matrix_rank(member.scales_["projection"]) < member.scales_["projection"].shape[1]).any()
    answers = member.predict_proba(sample_test)
    plain = create("siamese", **settings).fit(sample_train[:60]).predict_proba(sample_test)
    assert np.abs(answers - plain).max() > 1e-3
    saved.save(member, "siamese", tmp_path / "member")
    np.testing.assert_array_equal(saved.load(tmp_path / "member").predict_proba(sample_test), answers)
