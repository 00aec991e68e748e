"""The frozen forward pass: which texts go through the encoder together, how far, and what is taken from it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import MENTIONS, PieceView
from gapstack.errors import MemberError

GROUPS = (*MENTIONS, "a_anywhere", "b_anywhere")
"""Groups of pieces between which attention is kept, in the order of the last two axes of ``attention``."""
# Pieces in a batch, padding included. Small enough on a CPU for a layer's inputs to stay in its caches
# (measured with benchmarks/frozen_features.py); a GPU wants many more.
CPU_BUDGET, GPU_BUDGET = 1024, 32768
# Families whose k-th hidden state does not depend on there being a layer k + 1. Others end in a final norm
# that would move to the last layer left, so for them no layer is left out.
_CUTTABLE = {"bert", "roberta", "xlm-roberta", "camembert", "electra"}


@dataclass(frozen=True, slots=True)
class Request:
    """Layers wanted of an encoder, and the cache's names for them.

    With ``whole``, vectors are of all pieces and not of those of the mentions alone. ``dtype`` is what to compute
    in; None: bfloat16 where the device multiplies it in hardware, else float32.
    """

    encoder: Encoder
    layers: tuple[int, ...]
    attention_layers: tuple[int, ...] = ()
    whole: bool = False
    dtype: torch.dtype | None = None

    def __post_init__(self) -> None:
        depth = self.encoder.num_layers
        wrong = [layer for layer in self.layers if not 0 <= layer <= depth]
        wrong += [layer for layer in self.attention_layers if not 1 <= layer <= depth]
        if wrong or not self.layers + self.attention_layers:
            raise MemberError(
                f"encoder {self.encoder.name} has layers 0 to {depth}, and attention in layers 1 to {depth}; "
                f"asked for {wrong or 'none'}"
            )

    @property
    def vector_names(self) -> list[str]:
        """Names of the vectors, layers as asked for."""
        return [f"vectors.{layer}" for layer in self.layers]

    @property
    def attention_names(self) -> list[str]:
        """Names of the attention, layers as asked for."""
        return [f"attention.{layer}" for layer in self.attention_layers]

    @property
    def names(self) -> list[str]:
        """Names of all tensors, vectors before attention."""
        return self.vector_names + self.attention_names

    def only(self, names: Collection[str]) -> Request:
        """Ask for those of the tensors alone that are in ``names``."""
        return replace(
            self,
            layers=tuple(layer for layer in self.layers if f"vectors.{layer}" in names),
            attention_layers=tuple(layer for layer in self.attention_layers if f"attention.{layer}" in names),
        )


def batches(lengths: NDArray[np.int64], budget: int) -> Iterator[NDArray[np.int64]]:
    """Split positions 0..n-1 into runs whose padded size, count times longest, stays within ``budget``.

    A text longer than the budget is a batch of its own. Wants ``lengths`` sorted to waste little.
    """
    start, longest = 0, 0
    for end, length in enumerate(lengths):
        longest = max(longest, int(length))
        if end > start and longest * (end + 1 - start) > budget:
            yield np.arange(start, end)
            start, longest = end, int(length)
    if start < len(lengths):
        yield np.arange(start, len(lengths))


def forward(
    request: Request, view: PieceView, rows: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], list[torch.Tensor]]]:
    """Run the texts ``rows`` of a view through the frozen encoder, batch by batch, in the order given.

    Yields the rows of each batch and, for each of ``request.names``, its tensor on the CPU in float16:
    vectors (pieces, hidden), an example's in the order pronoun, A, B or else of the text, or attention
    (batch, heads, 5, 5).
    """
    encoder = request.encoder
    depth = max(request.layers + request.attention_layers)
    model, device = _frozen_model(encoder, depth, bool(request.attention_layers), request.dtype)
    budget = CPU_BUDGET if device.type == "cpu" else GPU_BUDGET
    lengths = view.lengths
    for batch in batches(lengths[rows], budget):
        chosen = rows[batch]
        longest = int(lengths[chosen].max())
        keep = np.arange(longest) < lengths[chosen, None]
        ids = np.zeros((len(chosen), longest), dtype=np.int64)
        ids[keep] = np.concatenate([view.ids[view.row(row)] for row in chosen])
        with torch.inference_mode():
            output = model(
                input_ids=torch.from_numpy(ids).to(device),
                # without a mask attention takes its fastest path
                attention_mask=None if keep.all() else torch.from_numpy(keep.astype(np.int64)).to(device),
                output_hidden_states=True,
                output_attentions=bool(request.attention_layers),
            )
            # (batch, 3, longest): pieces of each mention
            inside = _mention_masks(view.mentions[chosen], longest)
            wanted = keep[:, None] if request.whole else inside
            owners, _, places = (torch.from_numpy(axis).to(device) for axis in np.nonzero(wanted))
            found = [output.hidden_states[layer][owners, places] for layer in request.layers]
            if request.attention_layers:
                # (batch, 1, 5, longest)
                groups = (
                    torch.from_numpy(_groups(ids, inside, _word_ids(encoder))).to(device)[:, None].float()
                )
                mean = groups / groups.sum(-1, keepdim=True)
                for layer in request.attention_layers:
                    # (batch, heads, longest, longest) -> (batch, heads, 5, 5)
                    found.append(mean @ output.attentions[layer - 1].float() @ groups.transpose(-1, -2))
            yield chosen, [tensor.to(device="cpu", dtype=torch.float16) for tensor in found]


def encode(request: Request, view: PieceView, rows: NDArray[np.int64]) -> dict[str, NDArray[np.float16]]:
    """Give what :func:`forward` yields for ``rows``, end to end, by name."""
    found = [tensors for _, tensors in forward(request, view, rows)]
    return {
        name: torch.cat(parts).numpy()
        for name, parts in zip(request.names, zip(*found, strict=True), strict=True)
    }


def _mention_masks(mentions: NDArray[np.int64], longest: int) -> NDArray[np.bool_]:
    """Ranges (batch, 3, 2) as masks (batch, 3, longest)."""
    at = np.arange(longest)
    return (at >= mentions[..., :1]) & (at < mentions[..., 1:])


def _groups(
    ids: NDArray[np.int64], inside: NDArray[np.bool_], word_ids: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Masks (batch, 5, longest) of the groups: the mentions, and all occurrences of each name's pieces."""
    # (batch, longest, longest): pieces with the same letters or digits; equal punctuation means nothing
    same = (ids[:, :, None] == ids[:, None, :]) & word_ids[ids][:, :, None]
    names = inside[:, 1:]
    anywhere = (same[:, None] & names[:, :, None, :]).any(-1) | names
    return np.concatenate([inside, anywhere], axis=1)


@lru_cache(maxsize=2)
def _word_ids(encoder: Encoder) -> NDArray[np.bool_]:
    """Mask over the vocabulary: True for pieces with a letter or digit, special pieces apart."""
    tokens = encoder.tokenizer.convert_ids_to_tokens(range(len(encoder.tokenizer)))
    # a vocabulary may have holes, which are None
    mask = np.array([any(map(str.isalnum, token or "")) for token in tokens])
    mask[encoder.tokenizer.all_special_ids] = False
    return mask


@lru_cache(maxsize=2)
def _frozen_model(
    encoder: Encoder, depth: int, with_attention: bool, dtype: torch.dtype | None
) -> tuple[Any, torch.device]:
    """The encoder up to layer ``depth``, on the fastest device and in the fastest precision there."""
    device = _device()
    options: dict[str, Any] = {
        "dtype": dtype or computes_in(),
        # only the eager implementation can show its weights
        "attn_implementation": "eager" if with_attention else "sdpa",
    }
    if encoder.config.get("model_type") in _CUTTABLE:
        options["num_hidden_layers"] = max(depth, 1)
    return encoder.fresh_model(**options).eval().requires_grad_(False).to(device), device


def _device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def computes_in() -> torch.dtype:
    """Give the quickest precision that an encoder can do with: bfloat16 where the device has it in hardware."""
    quick = _device().type == "cuda" or _cpu_has_bfloat16()
    return torch.bfloat16 if quick else torch.float32


def _cpu_has_bfloat16() -> bool:
    """Whether the CPU multiplies bfloat16 in hardware; emulated, it would be slower than float32."""
    return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
