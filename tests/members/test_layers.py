"""Parallel layers equal single layers, and a batch of one row works."""

import numpy as np
import pytest
import torch

from gapstack.members.layers import BatchNorm, ParallelLinear, SharedLinear


@pytest.mark.parametrize("kind", [ParallelLinear, SharedLinear])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_training_multiplies_in_the_fastest_precision_and_predicting_in_float32(kind, dtype, monkeypatch):
    monkeypatch.setattr("gapstack.members.layers.fastest_dtype", lambda device: dtype)
    layer, rows = kind(3, 64, 5), torch.randn(3, 64) if kind is SharedLinear else torch.randn(3, 6, 64)
    learned = layer(rows)
    learned.square().sum().backward()
    gradient = layer.weight.grad.clone()
    layer.weight.grad = None
    exact = layer.eval()(rows)
    exact.square().sum().backward()
    assert learned.dtype == exact.dtype == gradient.dtype == torch.float32
    for found, expected in ((learned, exact), (gradient, layer.weight.grad)):
        apart = float((found - expected).abs().max().detach() / expected.abs().max().detach())
        assert apart == 0 if dtype == torch.float32 else 0 < apart < 0.02


def test_a_lone_training_row_is_normalised_by_what_was_seen_before():
    norm = BatchNorm(4)
    norm(3 + 2 * torch.randn(50, 4))
    row = torch.randn(1, 4)
    seen = norm.running_mean.clone()
    learning = norm(row)
    np.testing.assert_array_equal(norm.running_mean, seen)
    np.testing.assert_allclose(learning.detach(), norm.eval()(row).detach(), atol=1e-6)
