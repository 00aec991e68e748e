"""A phase in which the encoder stands still: it runs once over all rows, and only the head is trained.

What comes out is what the whole loop would give, since an encoder of which nothing learns runs without dropout;
hidden states are kept in float16.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from gapstack.files import fingerprint
from gapstack.progress import progress
from gapstack.training import Data, TrainingPlan
from gapstack.training.data import Rows
from gapstack.training.devices import compute_dtype, processes
from gapstack.training.parameters import ENCODER
from gapstack.training.prediction import passes
from gapstack.training.weights import Weights


def needs_no_encoder(plan: TrainingPlan) -> bool:
    """Whether a plan freezes the whole encoder by its name."""
    return ENCODER in plan.frozen


class HeadAlone(nn.Module):
    """A head that is given hidden states."""

    def __init__(self, head: nn.Module):
        super().__init__()
        self.head = head

    def forward(self, hidden: Tensor, **inputs: Tensor) -> Tensor:
        """Give logits (b, classes)."""
        logits: Tensor = self.head(hidden, **inputs)
        return logits


class HiddenData:
    """Rows whose hidden states are at hand.

    Parameters
    ----------
    hidden : callable
        From ``ids`` and ``keep`` to hidden states (b, L, D).
    network : torch.nn.Module
        What ``hidden`` belongs to; goes to the device and is left in evaluation mode.
    data : Data
        Rows as pieces.
    precision : str
        Of the encoder; see :class:`~gapstack.training.TrainingPlan`.
    """

    def __init__(
        self,
        hidden: Callable[[Tensor, Tensor | None], Tensor],
        network: nn.Module,
        data: Data,
        precision: str = "auto",
    ):
        self._data, self._precision = data, precision
        self.sizes = data.sizes
        ends = np.cumsum(self.sizes)
        self._starts = ends - self.sizes
        self._states = self._run(hidden, network)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the rows and their hidden states."""
        states = hashlib.blake2b(self._states.numpy().data, digest_size=8).hexdigest()
        return fingerprint(self._data.fingerprint, states)

    def batch(self, rows: Rows) -> dict[str, Tensor]:
        """As the rows' own, with ``hidden`` (b, L, D) float32 in the place of ``ids``."""
        found = self._data.batch(rows)
        count, longest = found.pop("ids").shape
        hidden = torch.zeros(count, longest, self._states.shape[-1])
        for place, row in enumerate(rows):
            start, size = int(self._starts[row]), int(self.sizes[row])
            hidden[place, :size] = self._states[start : start + size]
        return {**found, "hidden": hidden}

    @torch.inference_mode()
    def _run(self, hidden: Callable[[Tensor, Tensor | None], Tensor], network: nn.Module) -> Tensor:
        """Hidden states of all rows end to end, (pieces, D) float16 on the CPU."""
        device = processes().device
        network.to(device).eval()
        weights = Weights(network, compute_dtype(self._precision, device))
        states: Tensor | None = None
        order = np.argsort(self.sizes, kind="stable")
        with progress("Encoding", len(order)) as ticker:
            for rows, inputs, _ in passes(self._data, order, device, None):
                found = hidden(inputs["ids"], inputs.get("keep")).to("cpu", torch.float16)
                if states is None:
                    states = torch.empty(int(self.sizes.sum()), found.shape[-1], dtype=torch.float16)
                for place, row in enumerate(rows):
                    start, size = int(self._starts[row]), int(self.sizes[row])
                    states[start : start + size] = found[place, :size]
                ticker.advance(len(rows))
        weights.close()
        assert states is not None
        return states
