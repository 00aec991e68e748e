"""Standardising features by all rows that training has seen so far."""

from __future__ import annotations

import torch
from torch import Tensor, nn

_SLOWEST = 0.01
"""Least weight of a batch in the running scale of the features."""
_WIDEST = 5.0
"""Standard deviations at which a feature is clipped."""


class RunningScale(nn.Module):
    """Standardises inputs over the rows seen in training, with 0 for missing values.

    In training too, unlike batch normalisation, it scales by all rows so far and not by the batch; inputs get no
    gradient.

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
        for moment, values in ((self.mean, filled), (self.square, filled**2)):
            moment.lerp_(values.sum(0) / counts.clamp_min(1), share)
