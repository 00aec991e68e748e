"""How a name meets the pronoun, and how a network that could tell A from B is kept from it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

_EXCHANGED = {"mentions": [0, 2, 1], "names": [1, 0]}
"""For inputs that have one: the order of their second axis when A and B are exchanged."""


def cross(name: Tensor, pronoun: Tensor) -> Tensor:
    """Give [name; pronoun; name * pronoun; pronoun - name] (..., 4 D) from (..., D) and (..., D), which broadcast.

    The interactions of Yang et al. 2019 (after Mou et al. 2016, who read two sentences so).
    """
    name, pronoun = torch.broadcast_tensors(name, pronoun)
    return torch.cat([name, pronoun, name * pronoun, pronoun - name], dim=-1)


class SwapEquivariant(nn.Module):
    """The mean of what a network says of a row and of the row with A and B exchanged.

    So exchanging them exchanges their columns exactly, and every row teaches in both orders. Both go through the
    network as one batch, so batch normalisation cannot tell them apart either.

    Parameters
    ----------
    network : torch.nn.Module
        Gives logits (b, 3) from inputs by name: ``mentions`` (b, 3, ...) are of pronoun, A and B, ``names``
        (b, 2, ...) of A and B; of any other input exchanging changes nothing.
    """

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network

    def forward(self, **inputs: Tensor) -> Tensor:
        """Give logits (b, 3)."""
        both = {name: torch.cat([value, _exchange(name, value)]) for name, value in inputs.items()}
        first, second = self.network(**both).chunk(2)
        mean: Tensor = (first + second[:, [1, 0, 2]]) / 2
        return mean


def _exchange(name: str, value: Tensor) -> Tensor:
    order: Any = _EXCHANGED.get(name)
    return value if order is None else value[:, order]
