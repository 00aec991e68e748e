"""A phase in which the encoder stands still: it runs once over all rows, and only the head is trained.

What comes out is what the whole loop would give, since an encoder of which nothing learns runs without dropout;
hidden states are kept in float16. Those of an encoder as it was pre-trained are the same in every fold and for
every member, and are kept on disk (:mod:`gapstack.encoding.hidden_states`); those of one that has learned are its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from gapstack.encoding.encoders import Encoder
from gapstack.encoding.hidden_states import hidden_states
from gapstack.encoding.pieces import PieceView
from gapstack.files import fingerprint
from gapstack.progress import progress
from gapstack.training import Data, TrainingPlan
from gapstack.training.devices import compute_dtype, default_budget, processes
from gapstack.training.parameters import ENCODER
from gapstack.training.prediction import passes
from gapstack.training.weights import Weights
from gapstack.types import Rows

_ROWS = 512  # whose pieces are looked at together


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
    data : Data
        Rows as pieces.
    states : (pieces, D) float16
        Hidden states of all rows end to end, on the CPU: what :func:`stored` or :func:`encoded` gives.
    """

    def __init__(self, data: Data, states: Tensor):
        self._data, self._states = data, states
        self.sizes = data.sizes
        self._starts = np.cumsum(self.sizes) - self.sizes

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the rows and their hidden states."""
        states = hashlib.blake2b(self._states.numpy().data, digest_size=8).hexdigest()
        return fingerprint(self._data.fingerprint, states)

    def batch(self, rows: Rows, length: int | None = None) -> dict[str, Tensor]:
        """As the rows' own, with ``hidden`` (b, L, D) float32 in the place of ``ids``."""
        found = self._data.batch(rows, length)
        count, longest = found.pop("ids").shape
        hidden = torch.zeros(count, longest, self._states.shape[-1])
        for place, row in enumerate(rows):
            start, size = int(self._starts[row]), int(self.sizes[row])
            hidden[place, :size] = self._states[start : start + size]
        return {**found, "hidden": hidden}


def stored(data: Data, encoder: Encoder, layers: Sequence[int], precision: str = "auto") -> Tensor:
    """Give the hidden states of the encoder as it was pre-trained, for :class:`HiddenData`.

    They come from the cache, and what it lacks is computed in ``precision`` (see
    :class:`~gapstack.training.TrainingPlan`).
    """
    ids: list[Tensor] = []
    for start in range(0, len(data.sizes), _ROWS):
        batch = data.batch(np.arange(start, min(start + _ROWS, len(data.sizes))))
        ids.append(batch["ids"][batch["keep"]] if "keep" in batch else batch["ids"].flatten())
    pieces = torch.cat(ids).numpy()
    # where the mentions are is nothing to the encoder
    view = PieceView(
        pieces,
        chars=np.zeros((len(pieces), 2), dtype=np.int64),
        bounds=np.concatenate([[0], np.cumsum(data.sizes)]),
        mentions=np.zeros((len(data.sizes), 0, 2), dtype=np.int64),
    )
    dtype = compute_dtype(precision, processes().device)
    return torch.from_numpy(hidden_states(view, encoder, layers, dtype).values)


@torch.inference_mode()
def encoded(
    data: Data,
    hidden: Callable[[Tensor, Tensor | None], Tensor],
    network: nn.Module,
    precision: str = "auto",
) -> Tensor:
    """Run an encoder that has learned over all rows, for :class:`HiddenData`.

    ``hidden`` gives hidden states (b, L, D) for ``ids`` and ``keep``; ``network``, which it belongs to, goes to
    the device and is left in evaluation mode.
    """
    device = processes().device
    network.to(device).eval()
    weights = Weights(network, compute_dtype(precision, device))
    starts = np.cumsum(data.sizes) - data.sizes
    states: Tensor | None = None
    order = np.argsort(data.sizes, kind="stable")
    with progress("Encoding", len(order)) as ticker:
        for rows, inputs, _ in passes(data, order, device, default_budget(device)):
            found = hidden(inputs["ids"], inputs.get("keep")).to("cpu", torch.float16)
            if states is None:
                states = torch.empty(int(data.sizes.sum()), found.shape[-1], dtype=torch.float16)
            for place, row in enumerate(rows):
                start, size = int(starts[row]), int(data.sizes[row])
                states[start : start + size] = found[place, :size]
            ticker.advance(len(rows))
    weights.close()
    assert states is not None
    return states
