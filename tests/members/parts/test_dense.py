"""Layers side by side are layers, and a batch of one row is no error."""

import numpy as np
import pytest
import torch

from gapstack.members.parts.dense import BatchNorm, ParallelLinear, RowwiseLinear, SharedLinear, dense_block


def test_parallel_layers_are_each_a_layer_of_its_own():
    layer = ParallelLinear(3, 4, 5).eval()
    torch.nn.init.normal_(layer.bias)
    rows = torch.randn(3, 6, 4)
    found = layer(rows).detach().numpy()
    for number in range(3):
        weight, bias = layer.weight[number].detach().numpy(), layer.bias[number].detach().numpy()
        np.testing.assert_allclose(found[number], rows[number].numpy() @ weight + bias, atol=1e-5)
    assert (ParallelLinear(2, 3, 4, zero=True)(torch.ones(2, 1, 3)) == 0).all()


def test_layers_over_the_same_rows_are_each_a_layer_of_its_own():
    layer = SharedLinear(3, 4, 5).eval()
    torch.nn.init.normal_(layer.bias)
    rows = torch.randn(6, 4)
    found = layer(rows).detach().numpy()
    for number in range(3):
        weight, bias = layer.weight[:, number].detach().numpy(), layer.bias[number].detach().numpy()
        np.testing.assert_allclose(found[:, number], rows.numpy() @ weight + bias, atol=1e-5)
    layer.take(slice(1, 3))
    np.testing.assert_allclose(layer(rows).detach().numpy(), found[:, 1:], atol=1e-5)


@pytest.mark.parametrize("kind", [ParallelLinear, SharedLinear])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_training_multiplies_in_the_fastest_precision_and_predicting_in_float32(kind, dtype, monkeypatch):
    monkeypatch.setattr("gapstack.members.parts.dense.fastest_dtype", lambda device: dtype)
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


def test_a_block_is_dense_norm_relu():
    block = dense_block(4, 6, 0.5)
    block(torch.randn(20, 4))
    block.eval()
    rows = torch.randn(7, 4)
    linear, norm = block[0], block[1]
    dense = rows.numpy() @ linear.weight.detach().numpy().T + linear.bias.detach().numpy()
    spread = np.sqrt(norm.running_var.numpy() + norm.eps)
    expected = np.maximum((dense - norm.running_mean.numpy()) / spread, 0)
    np.testing.assert_allclose(block(rows).detach(), expected, atol=1e-5)


@pytest.mark.parametrize("inputs", [1, 5, 37, 64])
@pytest.mark.parametrize("outputs", [1, 3])
def test_a_rows_bits_do_not_hang_on_its_place_in_the_batch(inputs, outputs):
    layer, rows = RowwiseLinear(inputs, outputs), torch.randn(64, inputs)
    order = torch.randperm(64)
    expected = torch.nn.functional.linear(rows, layer.weight, layer.bias)
    torch.testing.assert_close(layer(rows), expected)
    assert torch.equal(layer(rows[order]), layer(rows)[order])
