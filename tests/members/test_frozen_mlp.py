"""Beyond the contract: what the encoder is shown, what becomes of features, and the towers against numpy."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gapstack.encoding.encoders import load_encoder
from gapstack.errors import MemberError
from gapstack.members import create
from gapstack.members.frozen_mlp import PUBLISHED, TowersNetwork, numeric
from gapstack.text.grammar import Role


@pytest.fixture
def settings(tiny_encoder_folder):
    return {"encoder": str(tiny_encoder_folder), "blocks": ["surface"], "training": {"epochs": 2}}


def normed(network: torch.nn.Module, rows, prefix: str):
    """Dense, batch norm and ReLU of a block in evaluation mode."""
    w = {name: value.detach().numpy() for name, value in network.state_dict().items()}
    dense = rows @ w[f"{prefix}.0.weight"].T + w[f"{prefix}.0.bias"]
    spread = np.sqrt(w[f"{prefix}.1.running_var"] + 1e-5)
    scaled = (dense - w[f"{prefix}.1.running_mean"]) / spread
    return np.maximum(scaled * w[f"{prefix}.1.weight"] + w[f"{prefix}.1.bias"], 0)


def test_the_network_is_the_towers_of_the_released_code():
    chance = np.random.default_rng(0)
    network = TowersNetwork(6, 2 * 4 + 5, vector_dropout=0.9, feature_dropout=0.8)
    for name, value in network.state_dict().items():  # norms too, so that none of them can be forgotten
        if value.dtype.is_floating_point:
            value.copy_(torch.from_numpy(chance.uniform(0.2, 1, value.shape)) * (-1) ** ("weight" in name))
    network.eval()
    p, a, b = (chance.normal(size=(5, 6)).astype(np.float32) for _ in range(3))
    names, row = (
        chance.normal(size=(5, 2, 4)).astype(np.float32),
        chance.normal(size=(5, 5)).astype(np.float32),
    )
    tensors = [torch.from_numpy(x) for x in (np.stack([p, a, b], axis=1), names, row)]
    found = network(*tensors).detach().numpy()
    w = {name: value.numpy() for name, value in network.state_dict().items()}
    features = np.concatenate([names[:, 0], names[:, 1], row], axis=1)
    parts = [
        normed(network, np.concatenate([p, a, b], axis=1), "joint"),
        normed(network, p - a, "siamese"),
        normed(network, p - b, "siamese"),
        np.maximum(features @ w["dense.0.weight"].T + w["dense.0.bias"], 0),
    ]
    logits = np.concatenate(parts, axis=1) @ w["last.0.weight"].T + w["last.0.bias"]
    logits = (logits - w["last.1.running_mean"]) / np.sqrt(w["last.1.running_var"] + 1e-5)
    expected = logits * w["last.1.weight"] + w["last.1.bias"]
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_roles_become_columns_and_the_rest_logarithms():
    names = ("words", "cue_role", "chars")
    values = np.array([[3.0, Role.SUBJECT, -7.0], [0.0, np.nan, np.nan]])
    found = numeric(values, names)
    assert found.shape == (2, len(Role) + 2)
    assert np.flatnonzero(found[0, : len(Role)]).tolist() == [Role.SUBJECT]
    assert (found[1, : len(Role)] == 0).all()
    np.testing.assert_allclose(found[:, len(Role) :], [[np.log(4), -np.log(8)], [0, np.nan]])


def test_the_encoder_never_sees_the_names_asked_about(settings, sample_test):
    # where a name occurs once, another name in its place changes nothing but its features
    rows = [
        row
        for row in sample_test
        if row.text.count(row.a_text) == 1
        and len(row.a_text.split()) == 1
        and row.a < row.b
        and "*" not in row.text
    ][:5]
    assert rows
    member = create("frozen_mlp", **settings)
    told = sample_test.take([sample_test.ids.index(row.id) for row in rows])
    other = told.map(
        lambda e: replace(
            e,
            text=f"{e.text[: e.a.start]}{'Q' * len(e.a_text)}{e.text[e.a.end :]}",
        )
    )
    np.testing.assert_array_equal(member._mentions(told), member._mentions(other))


def test_default_layers_of_six_are_two(settings):
    assert create("frozen_mlp")._layers(load_encoder()) == (4, 5)


def test_the_papers_settings_make_a_member_that_takes_sides(settings, sample_train, sample_test):
    member = create("frozen_mlp", **PUBLISHED)
    assert (member._plan(0).patience, member._plan(0).head_lr) == (50, 2e-2)
    swapped = sample_test.map(lambda e: replace(e, a=e.b, b=e.a))
    gaps = []
    for symmetric in (True, False):
        fitted = create("frozen_mlp", **settings, symmetric=symmetric).fit(sample_train[:60])
        answers = fitted.predict_proba(sample_test)
        gaps.append(np.abs(fitted.predict_proba(swapped)[:, [1, 0, 2]] - answers).max())
    assert gaps[0] < 1e-6 < 1e-3 < gaps[1]


def test_a_window_too_small_for_a_mention_is_refused(settings, sample_train):
    with pytest.raises(MemberError, match=r"its pronoun alone takes more than the 2 pieces"):
        create("frozen_mlp", **settings, window=2).fit(sample_train[:20])
