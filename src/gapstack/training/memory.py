"""What a training may hold in memory at once: pieces in a pass, and activations."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from gapstack.errors import MemberError
from gapstack.training.devices import default_budget
from gapstack.training.parameters import ENCODER
from gapstack.training.plan import TrainingPlan

_log = logging.getLogger(__name__)


class Budget:
    """Pieces in one pass: what the plan says, or the device, until memory runs out.

    Parameters
    ----------
    device : torch.device
    longest : int
        Pieces of the longest row, which no pass can do without.
    """

    def __init__(self, device: torch.device, longest: int):
        self._device, self._longest = device, longest
        self._most: int | None = None

    def of(self, plan: TrainingPlan) -> int:
        """Pieces in a pass of this phase."""
        limit = plan.token_budget or default_budget(self._device)
        return limit if self._most is None else min(limit, self._most)

    def halve(self, plan: TrainingPlan) -> None:
        """Allow half of it from now on; MemberError where that is less than one row."""
        before = self.of(plan)
        if before <= self._longest:
            remedy = "max_pieces" if plan.checkpointing else "checkpointing = true, or max_pieces"
            raise MemberError(
                f"memory does not hold one row of {self._longest:,} pieces; set {remedy}, or take a smaller encoder"
            )
        self._most = max(self._longest, before // 2)
        if self._device.type == "cuda":
            torch.cuda.empty_cache()
        _log.warning(
            "memory ran out with %s pieces in a pass; on with %s (token_budget says so from the start)",
            *(f"{before:,}", f"{self._most:,}"),
        )


def keep_activations(model: nn.Module, kept: bool) -> None:
    """Have the encoder keep all activations for the backward pass, or recompute them; MemberError if it cannot."""
    encoder: Any = getattr(model, ENCODER, None)
    if not kept:
        if not getattr(encoder, "supports_gradient_checkpointing", False):
            raise MemberError("training plan: checkpointing needs an encoder of transformers that offers it")
        encoder.config.use_cache = False
        # the other way loses gradients where the embeddings are frozen
        _checkpointing(encoder, "enable")({"use_reentrant": False})
    elif any(getattr(module, "gradient_checkpointing", False) for module in model.modules()):
        _checkpointing(encoder, "disable")()


def _checkpointing(encoder: Any, switch: str) -> Callable[..., None]:
    """A model's method under its name of today, or under the one that transformers had before and warns of."""
    names = (f"activation_checkpointing_{switch}", f"gradient_checkpointing_{switch}")
    method: Callable[..., None] = getattr(encoder, next(name for name in names if hasattr(encoder, name)))
    return method
