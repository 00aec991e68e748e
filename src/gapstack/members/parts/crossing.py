"""Interactions of name and pronoun, and equivariance to swapping A and B."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

_SWAPPED = {"mentions": [0, 2, 1], "names": [1, 0]}
"""By input: the order of its second axis when A and B are swapped."""


def cross(name: Tensor, pronoun: Tensor) -> Tensor:
    """Give [name; pronoun; name * pronoun; pronoun - name] (..., 4 D) from (..., D) and (..., D), which broadcast.

    The interactions of Yang et al. 2019 (after Mou et al. 2016, who read two sentences so).
    """
    name, pronoun = torch.broadcast_tensors(name, pronoun)
    return torch.cat([name, pronoun, name * pronoun, pronoun - name], dim=-1)


class SwapEquivariant(nn.Module):
    """A network averaged over both orders of A and B, so that swapping them swaps their columns exactly.

    Both orders go through the network as one batch, which batch normalisation treats alike.

    Parameters
    ----------
    network : torch.nn.Module
        Gives logits (b, 3) from inputs by name: ``mentions`` (b, 3, ...) are of pronoun, A and B, ``names`` (b, 2, ...)
        of A and B; other inputs do not depend on the order.
    """

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network

    def forward(self, **inputs: Tensor) -> Tensor:
        """Give logits (b, 3)."""
        both = {name: torch.cat([value, _swap(name, value)]) for name, value in inputs.items()}
        first, second = self.network(**both).chunk(2)
        mean: Tensor = (first + second[:, [1, 0, 2]]) / 2
        return mean


def _swap(name: str, value: Tensor) -> Tensor:
    order: Any = _SWAPPED.get(name)
    return value if order is None else value[:, order]
