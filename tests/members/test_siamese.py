"""Beyond the contract: the network is the paper's, and what it takes to be it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gapstack.members import create
from gapstack.members.siamese import PUBLISHED, SiameseTower
from gapstack.training.plan import TrainingPlan


def selu(values):
    return 1.0507009873554805 * np.where(values > 0, values, 1.6732632423543772 * (np.exp(values) - 1))


def test_the_tower_computes_the_papers_interactions():
    chance = np.random.default_rng(0)
    tower = SiameseTower(inputs=10, heads=3, width=4, hidden=5).eval()
    torch.nn.init.normal_(tower.encode.bias)
    torch.nn.init.normal_(tower.relate.bias)
    mentions = chance.normal(size=(6, 3, 10)).astype(np.float32)
    found = tower(torch.from_numpy(mentions)).detach().numpy()
    weights = {name: value.detach().numpy().astype(np.float64) for name, value in tower.named_parameters()}
    for row in range(6):
        expected = np.zeros((2, 5))
        for head in range(3):
            p, *names = selu(mentions[row] @ weights["encode.weight"][head] + weights["encode.bias"][head])
            for side, a in enumerate(names):
                crossed = np.concatenate([a, p, a * p, p - a])
                expected[side] += selu(
                    crossed @ weights["relate.weight"][head] + weights["relate.bias"][head, 0]
                )
        np.testing.assert_allclose(found[row], expected.ravel(), rtol=1e-4, atol=1e-4)


def test_the_papers_settings_make_a_member_with_the_papers_plan():
    member = create("siamese", **PUBLISHED)
    plan = member._plan(0)
    assert (plan.head_lr, plan.patience, plan.batch_size) == (1e-3, 15, 32)
    assert isinstance(plan, TrainingPlan)
    assert (member.input_dropout, member.heads, member.width) == (0.6, 6, 37)


@pytest.mark.parametrize("naive", [False, True])
def test_the_papers_output_layer_takes_sides_and_ours_does_not(
    naive, sample_train, sample_test, tiny_encoder_folder
):
    settings = {"encoder": str(tiny_encoder_folder), "blocks": ["surface"], "naive": naive}
    swapped = sample_test.map(lambda e: replace(e, a=e.b, b=e.a))
    gaps = []
    for symmetric in (True, False):
        member = create("siamese", **settings, symmetric=symmetric, training={"epochs": 2})
        answers = member.fit(sample_train[:60]).predict_proba(sample_test)
        gaps.append(np.abs(member.predict_proba(swapped)[:, [1, 0, 2]] - answers).max())
    assert gaps[0] < 1e-6 < 1e-3 < gaps[1]


def test_features_and_vectors_both_reach_the_answer(sample_train, sample_test, tiny_encoder_folder):
    member = create(
        "siamese", encoder=str(tiny_encoder_folder), blocks=["surface"], training={"epochs": 3}
    ).fit(sample_train[:60])
    arrays = member._arrays(sample_test)
    network = member.networks_[0]
    scaled = {
        name: torch.from_numpy(np.asarray(value, dtype=np.float32))
        for name, value in member._scaled(arrays, member.scales_).items()
    }
    with torch.no_grad():
        answers = network(**scaled)
        for name, value in scaled.items():
            blank = {**scaled, name: torch.zeros_like(value)}
            assert (network(**blank) - answers).abs().max() > 1e-3, name
