"""The forward pass of a frozen encoder: vectors of chosen pieces, and attention between groups of pieces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gapstack.cache import ranges
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import PieceView, batches, padded_ids
from gapstack.errors import MemberError
from gapstack.processes import fastest_dtype
from gapstack.types import Floats32, Ints

# Changes with every change of what is computed, and names the folders of the cache.
_VERSION = 5
# Pieces in a batch, padding included: on a CPU, few enough for a layer's inputs to stay in its caches.
CPU_BUDGET, GPU_BUDGET = 1024, 32768
# Families whose k-th hidden state does not depend on the layers above. Others end in a final norm, which would move
# to the last remaining layer.
_CUTTABLE = {"bert", "roberta", "xlm-roberta", "camembert", "electra"}

GroupWeights = Callable[[int], tuple[Floats32, Floats32]]
"""Maps a row of a view, of T pieces, to the weights of the groups that attend (g, T) and are attended to (k, T)."""


@dataclass(frozen=True, slots=True)
class Request:
    """Layers of an encoder to read, and the precision to compute in; MemberError if a layer does not exist."""

    encoder: Encoder
    layers: tuple[int, ...]
    attention_layers: tuple[int, ...] = ()
    dtype: torch.dtype | None = None

    def __post_init__(self) -> None:
        depth = self.encoder.num_layers
        wrong = [layer for layer in self.layers if not 0 <= layer <= depth]
        wrong += [layer for layer in self.attention_layers if not 1 <= layer <= depth]
        if wrong or not self.layers + self.attention_layers:
            raise MemberError(
                f"encoder {self.encoder.name} has layers 0 to {depth}, and attention in layers 1 to {depth}; "
                f"requested: {wrong or 'none'}"
            )

    @property
    def stored_dtype(self) -> torch.dtype:
        """Precision to store in: float16 for half precision, else float32, whose last bits rounding would amplify."""
        return torch.float32 if (self.dtype or computes_in()) == torch.float32 else torch.float16

    @property
    def names(self) -> list[str]:
        """Name of each layer's vectors in the cache, then of each layer's attention."""
        vectors = [f"vectors.{layer}" for layer in self.layers]
        return vectors + [f"attention.{layer}" for layer in self.attention_layers]

    def only(self, names: Collection[str]) -> Request:
        """The same request without layers whose names are not in ``names``."""
        return replace(
            self,
            layers=tuple(layer for layer in self.layers if f"vectors.{layer}" in names),
            attention_layers=tuple(layer for layer in self.attention_layers if f"attention.{layer}" in names),
        )


def forward(
    request: Request,
    view: PieceView,
    rows: Ints,
    spans: NDArray[np.int64] | None = None,
    groups: GroupWeights | None = None,
) -> Iterator[tuple[Ints, list[torch.Tensor], list[torch.Tensor]]]:
    """Run texts through the frozen encoder, batch by batch.

    ``rows`` (n,) of the view are sorted by length; ``spans`` (len(view), m, 2) are ranges of pieces whose vectors to
    return, ``groups`` those between which to return attention. Yields the rows of a batch; a tensor (pieces, hidden)
    for each layer, the spans of all rows concatenated; and for each row a float32 tensor (attention layers, heads, g,
    k). All on the CPU.
    """
    device = _device()
    model = _frozen_model(
        request.encoder, max(request.layers + request.attention_layers), request.dtype or computes_in()
    )
    for part in batches(view.lengths[rows], CPU_BUDGET if device.type == "cpu" else GPU_BUDGET):
        chosen = rows[part]
        ids, keep = padded_ids(view, chosen)
        with torch.inference_mode():
            output = model(
                input_ids=torch.from_numpy(ids).to(device),
                attention_mask=None if keep.all() else torch.from_numpy(keep.astype(np.int64)).to(device),
                output_hidden_states=True,
                output_attentions=bool(request.attention_layers),
            )
            vectors: list[torch.Tensor] = []
            if spans is not None:
                starts, sizes = spans[chosen, :, 0], np.diff(spans[chosen])[..., 0]
                owners = torch.from_numpy(np.repeat(np.arange(len(chosen)), sizes.sum(axis=1))).to(device)
                places = torch.from_numpy(ranges(starts.ravel(), sizes.ravel())).to(device)
                vectors = [output.hidden_states[layer][owners, places].cpu() for layer in request.layers]
            attention: list[torch.Tensor] = []
            if groups is not None and request.attention_layers:
                for place, row in enumerate(chosen.tolist()):
                    looking, seen = (torch.from_numpy(weights).to(device) for weights in groups(row))
                    size = looking.shape[1]
                    layers = [
                        output.attentions[n - 1][place, :, :size, :size] for n in request.attention_layers
                    ]
                    maps = torch.stack(layers).float()  # (layers, heads, T, T)
                    attention.append((looking @ maps @ seen.T).cpu())
            yield chosen, vectors, attention


@lru_cache(maxsize=2)
def _frozen_model(encoder: Encoder, depth: int, dtype: torch.dtype) -> Any:
    """The encoder up to layer ``depth`` on the fastest device; eager attention, since others hide its weights."""
    options: dict[str, Any] = {"dtype": dtype, "attn_implementation": "eager"}
    if encoder.config.get("model_type") in _CUTTABLE:
        options["num_hidden_layers"] = max(depth, 1)
    return encoder.fresh_model(**options).eval().requires_grad_(False).to(_device())


def computed_by(encoder: Encoder, dtype: torch.dtype | None = None) -> str:
    """Name of a cache folder: the encoder, the precision and the version of this module."""
    return f"{encoder.fingerprint}-{str(dtype or computes_in()).removeprefix('torch.')}-{_VERSION}"


def computes_in() -> torch.dtype:
    """Precision in which frozen encoders compute by default."""
    return fastest_dtype(_device())


def _device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
