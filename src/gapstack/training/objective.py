"""What a training minimises."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor
from torch.nn import functional

Objective = Callable[[Tensor, Tensor, float], Tensor]
"""Maps the model's output, targets and label smoothing to the loss of each row, (b,)."""


def cross_entropy(logits: Tensor, target: Tensor, smoothing: float) -> Tensor:
    """Cross-entropy (b,) of logits (b, c) against class labels (b,) or soft labels (b, c).

    Soft labels that sum to more or less than 1 give their row that weight.
    """
    weight = target.sum(dim=-1, keepdim=True) if target.is_floating_point() else None
    of_one = target if weight is None else target / weight
    loss = functional.cross_entropy(logits.float(), of_one, reduction="none", label_smoothing=smoothing)
    return loss if weight is None else loss * weight.squeeze(-1)
