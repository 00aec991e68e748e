"""Dense layers of the heads on frozen features."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from gapstack.precision import fastest_dtype


def _product(
    layer: nn.Module, fused: Callable[..., Tensor], bias: Tensor, rows: Tensor, weight: Tensor
) -> Tensor:
    """``bias + rows @ weight``, which ``fused`` computes.

    In training the factors are in bfloat16 where the device multiplies that in hardware, for these products take most
    of the time there; weights, sums and predictions stay in float32.
    """
    if layer.training and (dtype := fastest_dtype(rows.device)) != rows.dtype:
        return bias + (rows.to(dtype) @ weight.to(dtype)).float()
    return fused(bias, rows, weight)


class ParallelLinear(nn.Module):
    """Several linear layers of one shape applied at once: (count, rows, inputs) -> (count, rows, outputs).

    Weights have an initial variance of 1 / inputs (LeCun et al. 1998), as SELU requires.
    """

    def __init__(self, count: int, inputs: int, outputs: int, *, zero: bool = False):
        super().__init__()
        scale = 0.0 if zero else inputs**-0.5
        self.weight = nn.Parameter(torch.randn(count, inputs, outputs) * scale)
        self.bias = nn.Parameter(torch.zeros(count, 1, outputs))

    def forward(self, rows: Tensor) -> Tensor:
        """Give (count, rows, outputs) from (count, rows, inputs)."""
        return _product(self, torch.baddbmm, self.bias, rows, self.weight)

    def take(self, which: slice) -> None:
        """Keep these layers alone."""
        self.weight, self.bias = (
            nn.Parameter(part[which].detach().clone()) for part in (self.weight, self.bias)
        )


class SharedLinear(nn.Module):
    """Several linear layers of one shape over the same rows, as one product: (rows, inputs) -> (rows, count, outputs).

    Initial weights are as in :class:`ParallelLinear`.
    """

    def __init__(self, count: int, inputs: int, outputs: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, count, outputs) * inputs**-0.5)
        self.bias = nn.Parameter(torch.zeros(count, outputs))

    def forward(self, rows: Tensor) -> Tensor:
        """Give (rows, count, outputs) from (rows, inputs)."""
        product = _product(self, torch.addmm, self.bias.flatten(), rows, self.weight.flatten(1))
        return product.unflatten(1, self.bias.shape)

    def take(self, which: slice) -> None:
        """Keep these layers alone."""
        self.weight = nn.Parameter(self.weight[:, which].detach().clone())
        self.bias = nn.Parameter(self.bias[which].detach().clone())


class RowwiseLinear(nn.Linear):
    """A linear layer to a few outputs that gives a row the same bits wherever it stands in the batch.

    On some processors the kernel for at most eight outputs does so only for multiples of eight inputs. Zeros fill them
    up, and change no sum.
    """

    def forward(self, rows: Tensor) -> Tensor:
        """Give (b, outputs) from (b, inputs)."""
        filled = (0, -self.in_features % 8)
        return functional.linear(functional.pad(rows, filled), functional.pad(self.weight, filled), self.bias)


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation that uses the running statistics for a batch of one row in training too."""

    def forward(self, rows: Tensor) -> Tensor:
        """Give (b, width) from (b, width)."""
        if self.training and len(rows) == 1:
            return functional.batch_norm(
                rows, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
            )
        return super().forward(rows)


def dense_block(inputs: int, outputs: int, dropout: float) -> nn.Sequential:
    """Dense, batch normalisation, ReLU, dropout: (b, inputs) -> (b, outputs)."""
    return nn.Sequential(nn.Linear(inputs, outputs), BatchNorm(outputs), nn.ReLU(), nn.Dropout(dropout))
