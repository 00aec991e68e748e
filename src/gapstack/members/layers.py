"""Layers of several members' heads: dense layers, interactions of name and pronoun, and running standardisation."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from gapstack.data import Label
from gapstack.processes import fastest_dtype
from gapstack.registry import import_extra

_SWAPPED = {"mentions": [0, 2, 1], "names": [1, 0]}
"""Order of an input's second axis after A and B are swapped."""
_MIN_BATCH_WEIGHT = 0.01  # smallest weight of a batch in the running scale of features
_MAX_DEVIATIONS = 5.0  # standard deviations at which a feature is clipped


def _product(
    layer: nn.Module, fused: Callable[..., Tensor], bias: Tensor, rows: Tensor, weight: Tensor
) -> Tensor:
    """``bias + rows @ weight`` by ``fused``; in training with factors in bfloat16 where the device multiplies it."""
    if layer.training and (dtype := fastest_dtype(rows.device)) != rows.dtype:
        return bias + (rows.to(dtype) @ weight.to(dtype)).float()
    return fused(bias, rows, weight)


class ParallelLinear(nn.Module):
    """Linear layers of one shape, (count, rows, inputs) -> (count, rows, outputs), of variance 1 / inputs, for SELU."""

    def __init__(self, count: int, inputs: int, outputs: int, *, zero: bool = False):
        super().__init__()
        scale = 0.0 if zero else inputs**-0.5
        self.weight = nn.Parameter(torch.randn(count, inputs, outputs) * scale)
        self.bias = nn.Parameter(torch.zeros(count, 1, outputs))

    def forward(self, rows: Tensor) -> Tensor:
        """Map (count, rows, inputs) to (count, rows, outputs)."""
        return _product(self, torch.baddbmm, self.bias, rows, self.weight)


class SharedLinear(nn.Module):
    """Linear layers of one shape over the same rows, as one product: (rows, inputs) -> (rows, count, outputs)."""

    def __init__(self, count: int, inputs: int, outputs: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, count, outputs) * inputs**-0.5)
        self.bias = nn.Parameter(torch.zeros(count, outputs))

    def forward(self, rows: Tensor) -> Tensor:
        """Map (rows, inputs) to (rows, count, outputs)."""
        product = _product(self, torch.addmm, self.bias.flatten(), rows, self.weight.flatten(1))
        return product.unflatten(1, self.bias.shape)


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation that uses the running statistics for a batch of one row in training too."""

    def forward(self, rows: Tensor) -> Tensor:
        """Map (b, width) to (b, width)."""
        if self.training and len(rows) == 1:
            return functional.batch_norm(
                rows, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
            )
        return super().forward(rows)


def dense_block(inputs: int, outputs: int, dropout: float) -> nn.Sequential:
    """Dense, batch normalisation, ReLU, dropout: (b, inputs) -> (b, outputs)."""
    return nn.Sequential(nn.Linear(inputs, outputs), BatchNorm(outputs), nn.ReLU(), nn.Dropout(dropout))


def initialise_like_bert(*layers: nn.Linear) -> None:
    """Draw weights from a normal distribution with standard deviation 0.02; set biases to zero."""
    for layer in layers:
        nn.init.normal_(layer.weight, std=0.02)
        nn.init.zeros_(layer.bias)


class PoolerHead(nn.Module):
    """BERT's pooler and classifier: dense layer from ``inputs`` (``width``) to ``width``, tanh, dropout, classifier."""

    def __init__(
        self, width: int, outputs: int = len(Label), dropout: float = 0.1, *, inputs: int | None = None
    ):
        super().__init__()
        self.dense = nn.Linear(inputs or width, width)
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(width, outputs)
        initialise_like_bert(self.dense, self.classifier)

    def logits(self, vectors: Tensor) -> Tensor:
        """Map (..., inputs) to (..., outputs)."""
        return self.classifier(self.dropout(torch.tanh(self.dense(vectors))))


def inside(ranges: Tensor, length: int) -> Tensor:
    """Mask (..., length), True on the pieces of half-open ranges (..., 2)."""
    places = torch.arange(length, device=ranges.device)
    return (places >= ranges[..., :1]) & (places < ranges[..., 1:])


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """Mean (..., H) of values (..., L, H) where mask (..., L) is True, at least once each."""
    weights = mask.to(values.dtype)
    return torch.einsum("...l,...lh->...h", weights / weights.sum(dim=-1, keepdim=True), values)


def first_pieces(hidden: Tensor, mentions: Tensor) -> Tensor:
    """Vectors (b, m, D) of the first pieces of mentions with half-open ranges (b, m, 2), from states (b, L, D)."""
    rows = torch.arange(len(hidden), device=hidden.device)[:, None]
    return hidden[rows, mentions[..., 0]]


def inclusive(mentions: Tensor) -> Tensor:
    """Half-open ranges (b, m, 2) with inclusive ends, as allennlp's span extractors take them."""
    return torch.stack([mentions[..., 0], mentions[..., 1] - 1], dim=-1)


def allennlp(module: str) -> Any:
    """A module of allennlp-light, which then makes ranges on any device; ExtraError if it is missing."""
    util = import_extra("allennlp_light.nn.util", "allennlp")
    # its own know the CPU and CUDA alone
    util.get_device_of = lambda tensor: tensor.device
    util.get_range_vector = lambda size, device: torch.arange(size, device=device)
    return import_extra(f"allennlp_light.{module}", "allennlp")


def self_attentive_extractor(width: int) -> nn.Module:
    """Allennlp's self-attentive span pooling (Lee et al. 2017, section 4); ExtraError if allennlp-light is missing."""
    extractor: nn.Module = allennlp("modules.span_extractors").SelfAttentiveSpanExtractor(width)
    return extractor


def cross(name: Tensor, pronoun: Tensor) -> Tensor:
    """[name; pronoun; name * pronoun; pronoun - name], (..., 4 D), as Yang et al. 2019, after Mou et al. 2016."""
    name, pronoun = torch.broadcast_tensors(name, pronoun)
    return torch.cat([name, pronoun, name * pronoun, pronoun - name], dim=-1)


class SwapEquivariant(nn.Module):
    """A network averaged over both orders of A and B, as one batch, so that swapping them swaps columns."""

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network

    def forward(self, **inputs: Tensor) -> Tensor:
        """Return logits (b, 3)."""
        swapped = {
            name: value[:, _SWAPPED[name]] if name in _SWAPPED else value for name, value in inputs.items()
        }
        both = {name: torch.cat([value, swapped[name]]) for name, value in inputs.items()}
        first, second = self.network(**both).chunk(2)
        return (first + second[:, [1, 0, 2]]) / 2


class RunningScale(nn.Module):
    """Standardises inputs over all rows seen in training so far, not by the batch; 0 for missing values."""

    mean: Tensor
    square: Tensor
    seen: Tensor

    def __init__(self, width: int):
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("square", torch.ones(width))
        self.register_buffer("seen", torch.zeros(width))

    @torch.no_grad()
    def forward(self, values: Tensor) -> Tensor:
        """Map (..., width), which may hold NaN, to the same shape."""
        shape, values = values.shape, values.flatten(0, -2)
        known = ~values.isnan()
        filled = torch.where(known, values, 0.0)
        if self.training:
            counts = known.sum(0)
            self.seen += counts
            # an exact mean of all rows at first, then one of the latest few thousand
            share = torch.where(
                counts > 0, (counts / self.seen.clamp_min(1)).clamp_min(_MIN_BATCH_WEIGHT), 0.0
            )
            for moment, moments in ((self.mean, filled), (self.square, filled**2)):
                moment.lerp_(moments.sum(0) / counts.clamp_min(1), share)
        spread = (self.square - self.mean**2).clamp_min(0).sqrt()
        scaled = (filled - self.mean) / torch.where(spread > 1e-4, spread, 1.0)
        return torch.where(known, scaled, 0.0).clamp(-_MAX_DEVIATIONS, _MAX_DEVIATIONS).view(shape)
