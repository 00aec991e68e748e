"""The frozen forward pass: which texts go through the encoder together, how far, and what is taken from it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import MENTIONS, PieceView
from gapstack.errors import MemberError
from gapstack.files import fingerprint
from gapstack.precision import fastest_dtype

GROUPS = (*MENTIONS, "a_anywhere", "b_anywhere")
"""Groups of pieces between which attention is kept, in the order of the last two axes of ``attention``."""
# Counts the ways in which this module has computed; another way is another cache.
_VERSION = 3
STEP = 16
"""Texts are padded to multiples of so many pieces."""
# Pieces in a block, padding included. Small enough on a CPU for a layer's inputs to stay in its caches
# (measured with benchmarks/frozen_features.py), and large enough for one and two threads to share the work out
# alike: with half of it they differ in bfloat16. A GPU wants many more.
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


class Block(NamedTuple):
    """Rows that go through a model together, and the length to which they are padded.

    ``rows`` (n,) holds the ``real`` rows and then, up to the number that blocks of this length have, some of them
    again.
    """

    rows: NDArray[np.int64]
    real: int
    length: int


def blocks(
    lengths: NDArray[np.int64],
    budget: int,
    limit: int | None = None,
    *,
    step: int = STEP,
    multiple: int = 1,
) -> Iterator[Block]:
    """Share positions 0..n-1 out to blocks whose shape is decided by the length of each row alone.

    A row's length is rounded up to a multiple of ``step``, yet not beyond ``limit``, and a block of that length
    has as many rows as ``budget`` pieces allow, rounded up to a ``multiple``. Which instructions compute a row, and so
    the last bits of what comes out, hangs on the shape of the tensors: so they are the same whatever rows it shares
    the block with.

    Short blocks come first, and rows of one length in the order given.
    """
    padded = -(-lengths // step) * step
    if limit is not None:
        padded = np.minimum(padded, limit)
    for length in np.unique(padded).tolist():
        rows = np.flatnonzero(padded == length)
        count = -(-max(1, budget // max(length, 1)) // multiple) * multiple
        for start in range(0, len(rows), count):
            own = rows[start : start + count]
            yield Block(np.resize(own, count), len(own), length)


def padded_ids(
    view: PieceView, rows: NDArray[np.int64], length: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Give piece ids (n, length) of rows, 0 where they are padded, and the mask (n, length), True on pieces."""
    keep = np.arange(length) < view.lengths[rows, None]
    ids = np.zeros(keep.shape, dtype=np.int64)
    ids[keep] = np.concatenate([view.ids[view.row(row)] for row in rows])
    return ids, keep


def forward(
    request: Request, view: PieceView, rows: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], list[torch.Tensor]]]:
    """Run the texts ``rows`` of a view through the frozen encoder, block by block, short texts first.

    Yields the rows of each block and, for each of ``request.names``, its tensor on the CPU in float16:
    vectors (pieces, hidden), an example's in the order pronoun, A, B or else of the text, or attention
    (batch, heads, 5, 5). What a row gets is a function of the row and the encoder, on one machine: neither the
    other rows nor what else is requested changes a bit of it.
    """
    encoder = request.encoder
    depth = max(request.layers + request.attention_layers)
    model, device = _frozen_model(encoder, depth, request.dtype)
    budget = CPU_BUDGET if device.type == "cpu" else GPU_BUDGET
    for block in blocks(view.lengths[rows], budget, encoder.max_pieces):
        chosen, real = rows[block.rows], block.real
        ids, keep = padded_ids(view, chosen, block.length)
        # (n, 3, length): pieces of each mention
        inside = _mention_masks(view.mentions[chosen], block.length)
        with torch.inference_mode(), _recording() as layers:
            output = model(
                input_ids=torch.from_numpy(ids).to(device),
                attention_mask=torch.from_numpy(keep.astype(np.int64)).to(device),
                output_hidden_states=True,
                output_attentions=bool(request.attention_layers) and not _is_readable(model),
            )
            wanted = (keep[:, None] if request.whole else inside)[:real]
            owners, _, places = (torch.from_numpy(axis).to(device) for axis in np.nonzero(wanted))
            found = [output.hidden_states[layer][owners, places] for layer in request.layers]
            if request.attention_layers:
                groups = _groups(ids, inside, _word_ids(encoder))[:real]
                own = zip(groups, view.lengths[chosen[:real]], strict=True)
                lookers = [_looker(row[:, :length], device) for row, length in own]
                chosen_layers = [layer - 1 for layer in request.attention_layers]
                if _is_readable(model):
                    found += _read(lookers, [layers[layer] for layer in chosen_layers])
                else:
                    found += _read_maps(lookers, [output.attentions[layer] for layer in chosen_layers])
            yield chosen[:real], [tensor.to(device="cpu", dtype=torch.float16) for tensor in found]


def encode(request: Request, view: PieceView, rows: NDArray[np.int64]) -> dict[str, NDArray[np.float16]]:
    """Give what :func:`forward` yields for ``rows``, end to end, by name; ``rows`` must be in order of length."""
    assert (np.diff(view.lengths[rows]) >= 0).all()
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
def _frozen_model(encoder: Encoder, depth: int, dtype: torch.dtype | None) -> tuple[Any, torch.device]:
    """The encoder up to layer ``depth``, on the fastest device and in the fastest precision there.

    Its attention gives the same output whether its weights are read or not: :func:`fused_and_readable`, or the
    eager one in families that have no fused kernel.
    """
    from transformers import AttentionInterface, AttentionMaskInterface

    device = _device()
    options: dict[str, Any] = {"dtype": dtype or computes_in()}
    if encoder.config.get("model_type") in _CUTTABLE:
        options["num_hidden_layers"] = max(depth, 1)
    model = encoder.fresh_model(**options).eval().requires_grad_(False).to(device)
    if model.config._attn_implementation == "sdpa":
        name = fused_and_readable.__name__
        AttentionInterface.register(name, fused_and_readable)
        AttentionMaskInterface.register(name, _mask_always)
        model.set_attn_implementation(name)
    return model, device


def _mask_always(*arguments: Any, **options: Any) -> Any:
    """Mask for fused attention, even where it hides nothing: without one another kernel runs."""
    from transformers.masking_utils import sdpa_mask

    return sdpa_mask(*arguments, **options | {"allow_is_bidirectional_skip": False})


@dataclass(frozen=True, slots=True)
class _Looker:
    """What is read of a row's attention: at ``pieces`` (l,), from ``mean`` (5, l), to ``groups`` (T, 5)."""

    pieces: torch.Tensor
    mean: torch.Tensor
    groups: torch.Tensor


class _Layer(NamedTuple):
    """What decides a layer's attention: query and key (n, heads, T, d), their scale, and the mask, True: seen."""

    query: torch.Tensor
    key: torch.Tensor
    scale: float
    mask: torch.Tensor


_recorded: ContextVar[list[_Layer] | None] = ContextVar("recorded", default=None)


@contextmanager
def _recording() -> Iterator[list[_Layer]]:
    """Keep what decides the attention of each layer, in order; transformers has no other way to read it."""
    layers: list[_Layer] = []
    token = _recorded.set(layers)
    try:
        yield layers
    finally:
        _recorded.reset(token)


def _looker(groups: NDArray[np.bool_], device: torch.device) -> _Looker:
    """How a row's groups (5, T) are read."""
    pieces = np.flatnonzero(groups.any(axis=0))
    shares = groups[:, pieces] / groups.sum(axis=1, keepdims=True)
    return _Looker(
        torch.from_numpy(pieces).to(device),
        torch.from_numpy(shares.astype(np.float32)).to(device),
        torch.from_numpy(groups.T.astype(np.float32)).to(device),
    )


def _between(looker: _Looker, weights: torch.Tensor) -> torch.Tensor:
    """Attention (..., 5, 5) between groups, of that (..., l, T) from pieces to pieces."""
    return looker.mean @ weights @ looker.groups


def _read(lookers: Sequence[_Looker], layers: Sequence[_Layer]) -> Iterator[torch.Tensor]:
    """Attention (n, heads, 5, 5) of each layer, computed row by row in shapes of the row's own."""
    lengths = torch.tensor([len(looker.groups) for looker in lookers], device=layers[0].mask.device)
    padding = torch.arange(layers[0].mask.shape[-1], device=lengths.device) >= lengths[:, None]
    # most encoders hide the padding alone, which a row's own shapes leave out
    hiding = [
        at
        for at, layer in enumerate(layers)
        if not (layer.mask[: len(lookers)] | padding[:, None, None]).all()
    ]
    rows = []
    for row, looker in enumerate(lookers):
        length = len(looker.groups)
        query = torch.stack([layer.query[row, :, looker.pieces] for layer in layers]).float()
        key = torch.stack([layer.key[row, :, :length] for layer in layers]).float()
        # (layers, heads, l, T)
        scores = query @ key.transpose(-1, -2) * layers[0].scale
        for at in hiding:
            seen = layers[at].mask[row, :, :, :length].expand(-1, layers[at].query.shape[2], -1)
            scores[at].masked_fill_(~seen[:, looker.pieces], -torch.inf)
        rows.append(_between(looker, scores.softmax(dim=-1)))
    return iter(torch.stack(rows, dim=1))


def _read_maps(lookers: Sequence[_Looker], maps: Sequence[torch.Tensor]) -> Iterator[torch.Tensor]:
    """The same of attention maps (n, heads, T, T) themselves."""
    for full in maps:
        own = [
            _between(looker, row[:, looker.pieces, : len(looker.groups)].float())
            for looker, row in zip(lookers, full, strict=False)
        ]
        yield torch.stack(own)


def _is_readable(model: Any) -> bool:
    return bool(model.config._attn_implementation == fused_and_readable.__name__)


def fused_and_readable(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """Fused attention; while :func:`_recording`, what decides its weights is kept.

    transformers has either the fused kernel or an eager one that shows its weights. Their outputs differ in the last
    bits, so that vectors would hang on whether attention was requested with them. Here the output is the fused
    kernel's in any case, and the few weights that are read are computed a second time.
    """
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    layers = _recorded.get()
    if layers is not None:
        scale = options.get("scaling") or query.shape[-1] ** -0.5
        layers.append(_Layer(query, key, scale, attention_mask))
    output, _ = sdpa_attention_forward(module, query, key, value, attention_mask, **options)
    return output, None


def computed_by(encoder: Encoder, dtype: torch.dtype | None = None) -> str:
    """Name of a cache folder: the encoder and all else that decides the last bits of what comes out of it."""
    device = _device()
    machine = (
        torch.cuda.get_device_name() if device.type == "cuda" else torch.backends.cpu.get_cpu_capability()
    )
    way = (_VERSION, STEP, CPU_BUDGET, GPU_BUDGET, torch.__version__, version("transformers"), machine)
    return (
        f"{encoder.fingerprint}-{str(dtype or computes_in()).removeprefix('torch.')}-{fingerprint(*way)[:8]}"
    )


def _device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def computes_in() -> torch.dtype:
    """Give the precision in which frozen encoders compute by default."""
    return fastest_dtype(_device())
