"""Heads of one shape side by side over narrow self-attentive spans and hand-made features (Abzaliev 2019)."""

from __future__ import annotations

import torch
from allennlp_light.modules.span_extractors import SelfAttentiveSpanExtractor
from torch import Tensor, nn

from gapstack.corpus import Label
from gapstack.members.parts.dense import BatchNorm
from gapstack.members.parts.pooling import inclusive

_SLOWEST = 0.01
"""Least share that a batch has in the running scale of the features."""
_WIDEST = 5.0
"""Standard deviations beyond which a feature is cut off."""


class RunningScale(nn.Module):
    """Puts inputs on mean 0 and deviation 1 over the rows seen in training, with 0 for what is missing.

    Unlike batch normalisation it scales by what it has seen so far in training too, not by the batch at hand; it
    may, since no gradient passes to its inputs.

    Parameters
    ----------
    width : int
        Number of inputs.
    """

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
        """Give (b, width) from (b, width), which may hold NaN."""
        known = ~values.isnan()
        filled = torch.where(known, values, 0.0)
        if self.training:
            self._see(filled, known.sum(0))
        spread = (self.square - self.mean**2).clamp_min(0).sqrt()
        scaled = (filled - self.mean) / torch.where(spread > 1e-4, spread, 1.0)
        return torch.where(known, scaled, 0.0).clamp(-_WIDEST, _WIDEST)

    def _see(self, filled: Tensor, counts: Tensor) -> None:
        self.seen += counts
        # an exact mean of all rows at first, then one of the latest few thousand
        share = torch.where(counts > 0, (counts / self.seen.clamp_min(1)).clamp_min(_SLOWEST), 0.0)
        for kept, values in ((self.mean, filled), (self.square, filled**2)):
            kept.lerp_(values.sum(0) / counts.clamp_min(1), share)


class SpanHeads(nn.Module):
    """Several heads over one layer's hidden states and one scale of features.

    Parameters
    ----------
    hidden : int
        Width H of the hidden states.
    features : int
        Number k of features; may be 0.
    seeds : int
        Number of heads, which differ in their first weights and in dropout.
    width, units : int
        Of projected pieces and of the hidden layer.
    dropout : float
        On the hidden layer.
    """

    def __init__(self, hidden: int, features: int, *, seeds: int, width: int, units: int, dropout: float):
        super().__init__()
        self.scale = RunningScale(features)
        self.heads = nn.ModuleList(_Head(hidden, features, width, units, dropout) for _ in range(seeds))

    def forward(self, hidden: Tensor, mentions: Tensor, features: Tensor, **_: Tensor) -> Tensor:
        """Give logits from hidden states (b, L, H), mention ranges (b, 3, 2) and features (b, k), NaN for none.

        The heads' mean (b, 3); in training each one's own (b, seeds, 3).
        """
        scaled = self.scale(features)
        logits = torch.stack([head(hidden, mentions, scaled) for head in self.heads], dim=1)
        return logits if self.training else logits.mean(1)


class _Head(nn.Module):
    """One head."""

    def __init__(self, hidden: int, features: int, width: int, units: int, dropout: float):
        super().__init__()
        self.project = nn.Linear(hidden, width)  # a convolution of kernel 1
        self.extractor = SelfAttentiveSpanExtractor(width)
        self.dense = nn.Sequential(
            BatchNorm(3 * width),
            nn.Linear(3 * width, units),
            nn.ReLU(),
            BatchNorm(units),
            nn.Dropout(dropout),
        )
        self.classifier = nn.Linear(units + features, len(Label))

    def forward(self, hidden: Tensor, mentions: Tensor, features: Tensor) -> Tensor:
        """Give logits (b, 3)."""
        # (b, 3, width)
        spans = self.extractor(self.project(hidden), inclusive(mentions))
        logits: Tensor = self.classifier(torch.cat([self.dense(spans.flatten(1)), features], dim=-1))
        return logits
