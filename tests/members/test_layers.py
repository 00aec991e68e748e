"""Parallel layers equal single layers, and a batch of one row works."""

import numpy as np
import pytest
import torch

from gapstack.members.layers import BatchNorm, ParallelLinear, RunningScale, SharedLinear


def test_layers_side_by_side_are_each_a_layer_of_its_own():
    parallel, shared = ParallelLinear(3, 4, 5).eval(), SharedLinear(3, 4, 5).eval()
    rows = torch.randn(6, 4)
    for layer in (parallel, shared):
        torch.nn.init.normal_(layer.bias)
    own, same = parallel(rows.expand(3, -1, -1)), shared(rows)
    for k in range(3):
        torch.testing.assert_close(own[k], rows @ parallel.weight[k] + parallel.bias[k])
        torch.testing.assert_close(same[:, k], rows @ shared.weight[:, k] + shared.bias[k])
    shared.keep(slice(1, 3))
    torch.testing.assert_close(shared(rows), same[:, 1:])
    assert (ParallelLinear(2, 3, 4, zero=True)(torch.ones(2, 1, 3)) == 0).all()


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


def test_features_are_scaled_by_all_rows_seen_and_missing_ones_are_the_mean():
    scale = RunningScale(2)
    rows = torch.tensor([[1.0, 5.0], [3.0, torch.nan], [8.0, 7.0]])
    for part in rows.split([2, 1]):
        scale(part)
    found = scale.eval()(rows)
    np.testing.assert_allclose(found[:, 0], (rows[:, 0] - 4) / np.std([1, 3, 8]), atol=1e-5)
    np.testing.assert_allclose(found[:, 1], [-1, 0, 1], atol=1e-5)
