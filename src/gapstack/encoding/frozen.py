"""Forward passes over many texts, within a device's memory, and those of a frozen encoder: vectors and attention."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gapstack.cache import ranges
from gapstack.encoding.encoders import Encoder, is_causal
from gapstack.encoding.pieces import PieceView, batches, padded_ids
from gapstack.errors import MemberError
from gapstack.processes import fastest_dtype
from gapstack.types import Floats32, Ints

_log = logging.getLogger(__name__)

Loaded = TypeVar("Loaded")
# Pieces in one pass, padding included: on a CPU, few enough for a layer's activations to stay in its caches.
CPU_BUDGET = 1024
_LEAST, _MOST = 512, 131_072  # limits of the pieces in one pass on an accelerator
_LONGEST = 512  # pieces of a text whose attention is read
# Bytes of a piece, in values of one layer's width: those of a layer while it computes, and of each that is kept.
_COMPUTED, _KEPT = 24, 1


class PieceLimit:
    """The most pieces in one pass, half as many each time that memory runs out."""

    def __init__(self, pieces: int, remedy: str = "max_pieces"):
        self.pieces, self._remedy = pieces, remedy

    def halve(self, longest: int, used: int | None = None) -> None:
        """Halve the limit, or ``used``; MemberError if one row of ``longest`` pieces was too much already."""
        before = self.pieces if used is None else min(used, self.pieces)
        if before <= longest:
            raise MemberError(
                f"out of memory with one row of {longest:,} pieces; set {self._remedy}, or use a smaller encoder"
            )
        self.pieces = max(longest, before // 2)
        if torch.accelerator.is_available():
            torch.accelerator.empty_cache()
        _log.warning(
            f"out of memory with {before:,} pieces in a pass; continuing with {self.pieces:,} "
            "(set token_budget to start with it)"
        )


def forward_budget(device: torch.device, config: Any, attention_layers: int = 0) -> int:
    """Pieces in a forward pass of a model with this configuration, by the memory that is free on ``device``."""
    if device.type == "cpu":
        return CPU_BUDGET
    width, layers = config.hidden_size, config.num_hidden_layers
    values = width * (_COMPUTED + _KEPT * layers)
    if attention_layers:  # maps of all layers, a row for each piece, twice while their softmax is computed
        values += layers * config.num_attention_heads * _LONGEST * 2
    free = 8 * 2**30  # default where the accelerator does not report free memory
    if device.type == "cuda":
        unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        free = torch.cuda.mem_get_info(device)[0] + unused
    return int(np.clip(free * 0.8 / (4 * values), _LEAST, _MOST))


def on_device(tensors: Mapping[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    """Copy a batch to ``device``, without waiting for the copy."""
    if device.type == "cuda":
        tensors = {name: tensor.pin_memory() for name, tensor in tensors.items()}
    return {name: tensor.to(device, non_blocking=True) for name, tensor in tensors.items()}


def in_passes(
    lengths: Ints,
    limit: PieceLimit,
    load: Callable[[Ints], Loaded],
    compute: Callable[[Ints, Loaded], Any],
) -> Iterator[tuple[Ints, Any]]:
    """Compute rows with sorted ``lengths`` in passes of at most ``limit`` pieces; yields positions and results.

    While a device computes a pass, the next one is loaded. If memory runs out, a pass is repeated in smaller ones.
    """

    def part_from(start: int) -> Ints:
        return start + next(batches(lengths[start:], limit.pieces), np.empty(0, dtype=np.int64))

    rows, loaded = part_from(0), None
    while len(rows):
        try:
            result = compute(rows, load(rows) if loaded is None else loaded)
        except torch.OutOfMemoryError:
            result = None
        if result is None:  # outside the handler, since the error keeps the tensors alive
            loaded = None
            limit.halve(int(lengths[rows[-1]]), int(lengths[rows[-1]]) * len(rows))
            rows = part_from(int(rows[0]))
            continue
        done, rows = rows, part_from(int(rows[-1]) + 1)
        loaded = load(rows) if len(rows) else None
        yield done, result.cpu() if isinstance(result, Tensor) else [tensor.cpu() for tensor in result]


@dataclass(frozen=True, slots=True)
class States:
    """Output of a model for b texts of at most L pieces."""

    last: Tensor
    """Hidden states of the last layer, (b, L, H)."""
    hidden: tuple[Tensor, ...] = ()
    """Those of all layers, the embeddings first."""
    attention: tuple[Tensor, ...] = ()
    """Attention of all layers, each (b, heads, L, L)."""


def read_states(
    model: nn.Module,
    ids: Tensor,
    keep: Tensor | None = None,
    *,
    hidden: bool = False,
    attention: bool = False,
) -> States:
    """Run pieces ``ids`` (b, L) with mask ``keep``, True on pieces and None without padding, through a model.

    In a causal model a piece does not see what follows it, so a name after the pronoun would not count. Such a model
    reads each text twice, and the states of the second copy are used, whose pieces see the whole text (Springer et al.
    2024, *Repetition Improves Language Model Embeddings*).
    """
    config: Any = model.config
    length = ids.shape[1]
    inputs: dict[str, Any] = {"input_ids": ids, "attention_mask": None if keep is None else keep.long()}
    twice = _Twice.of(ids, keep) if is_causal(config) else None
    if twice:
        inputs = {"input_ids": twice.ids, "attention_mask": twice.keep.long(), "use_cache": False}
    inputs |= {"output_hidden_states": True} if hidden else {}
    inputs |= {"output_attentions": True} if attention else {}
    output = model(**inputs)
    last: Tensor = output.last_hidden_state
    states: tuple[Tensor, ...] = tuple(output.hidden_states) if hidden else ()
    maps: tuple[Tensor, ...] = tuple(output.attentions or ()) if attention else ()
    if twice:
        last, states = twice.second(last), tuple(map(twice.second, states))
        maps = tuple(map(twice.maps, maps))
    layers = config.num_hidden_layers
    if hidden and (len(states) != layers + 1 or any(layer.shape[1] != length for layer in states)):
        raise MemberError(
            f"a {config.model_type} model does not return a state of each piece from each layer; "
            "choose another encoder"
        )
    if attention and (len(maps) != layers or any(layer.shape[2:] != (length, length) for layer in maps)):
        raise MemberError(
            f"a {config.model_type} model does not return its attention as maps of all pieces; "
            "choose another encoder, or a member that reads no attention"
        )
    return States(last, states, maps)


@dataclass(frozen=True, slots=True)
class _Twice:
    """Pieces (b, 2L) of texts that are read twice, without padding in between; a sliding window would count it."""

    ids: Tensor
    keep: Tensor
    places: Tensor
    """Places (b, L) of the second copies' pieces; any for padding."""

    @classmethod
    def of(cls, ids: Tensor, keep: Tensor | None) -> _Twice:
        """Repeat pieces (b, L), of which ``keep`` has those of the text first."""
        length = ids.shape[1]
        sizes = torch.full_like(ids[:, :1], length) if keep is None else keep.long().sum(1, keepdim=True)
        at = torch.arange(2 * length, device=ids.device)[None]
        return cls(
            ids.gather(1, torch.where(at < sizes, at, (at - sizes).clamp(0, length - 1))),
            at < 2 * sizes,
            (sizes + at[:, :length]).clamp_max(2 * length - 1),
        )

    def second(self, states: Tensor) -> Tensor:
        """States (b, L, H) of the second copies."""
        return states.gather(1, self.places[..., None].expand(-1, -1, states.shape[2]))

    def maps(self, attention: Tensor) -> Tensor:
        """Attention (b, heads, L, L) from the second copies to both copies of a piece."""
        heads, length = attention.shape[1], self.places.shape[1]
        rows = self.places[:, None, :, None].expand(-1, heads, -1, 2 * length)
        seen = attention.gather(2, rows)
        columns = self.places[:, None, None].expand(-1, heads, length, -1)
        return seen[..., :length] + seen.gather(3, columns)


# Changes with every change of what is computed, and names the folders of the cache.
_VERSION = 5
# Families whose k-th hidden state does not depend on the layers above. Others end in a final norm, which would move
# to the last remaining layer.
_CUTTABLE = {"bert", "roberta", "xlm-roberta", "camembert", "electra"}
_FLOAT32_ONLY = {"deberta", "xlnet"}  # these mix float32 tables with their inputs

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
        if self.attention_layers and hasattr(self.encoder.config, "attention_window"):
            raise MemberError(
                f"encoder {self.encoder.name} ({self.encoder.config.model_type}) has local attention, not a map of all "
                "pieces; its vectors can be read, its attention cannot"
            )

    def stored(self, values: torch.Tensor) -> NDArray[np.floating]:
        """Values as they are stored: float32 as computed, whose last bits rounding would amplify; others in float16."""
        if dtype_for(self.encoder.config, self.dtype or computes_in()) == torch.float32:
            return values.float().numpy()
        return in_half(values).numpy()

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
    """Run texts through the frozen encoder, batch by batch; neighbours that differ in their spans alone run once.

    ``rows`` (n,) of the view are sorted by length; ``spans`` (len(view), m, 2) are ranges of pieces whose vectors to
    return, ``groups`` those between which to return attention. Yields the rows of a batch; a tensor (pieces, hidden)
    for each layer, the spans of all rows concatenated; and for each row a float32 tensor (attention layers, heads, g,
    k). All on the CPU.
    """
    device = _device()
    maps = len(request.attention_layers) if groups else 0
    model = load_frozen(request)
    # the pairs of names of a text are many rows
    new = [n for n, row in enumerate(rows) if n == 0 or not view.have_same_pieces(row, rows[n - 1])]
    texts, bounds = rows[new], np.array([*new, len(rows)])

    def load(part: Ints) -> dict[str, torch.Tensor]:
        ids, keep = padded_ids(view, texts[part])
        return on_device({"ids": torch.from_numpy(ids), "keep": torch.from_numpy(keep)}, device)

    def rows_of(part: Ints) -> Ints:
        return rows[bounds[part[0]] : bounds[part[-1] + 1]]

    @torch.inference_mode()
    def compute(part: Ints, loaded: dict[str, torch.Tensor]) -> list[torch.Tensor]:
        chosen, found = rows_of(part), list[torch.Tensor]()
        # the place in the batch of each row's text, (rows,)
        at = np.repeat(np.arange(len(part)), np.diff(bounds)[part])
        is_padded = view.lengths[chosen].min() < loaded["ids"].shape[1]
        keep = loaded["keep"] if is_padded else None
        output = read_states(model, loaded["ids"], keep, hidden=True, attention=bool(maps))
        if spans is not None:
            starts, sizes = spans[chosen, :, 0], np.diff(spans[chosen])[..., 0]
            owners = torch.from_numpy(np.repeat(at, sizes.sum(axis=1))).to(device)
            places = torch.from_numpy(ranges(starts.ravel(), sizes.ravel())).to(device)
            found += [output.hidden[layer][owners, places] for layer in request.layers]
        if groups is not None and maps:
            for place, row in zip(at, chosen.tolist(), strict=True):
                looking, seen = (torch.from_numpy(weights).to(device) for weights in groups(row))
                size = looking.shape[1]
                layers = [output.attention[n - 1][place, :, :size, :size] for n in request.attention_layers]
                found.append(looking @ torch.stack(layers).float() @ seen.T)  # (layers, heads, g, k)
        return found

    limit = PieceLimit(forward_budget(device, model.config, maps))
    vectors = 0 if spans is None else len(request.layers)
    for part, found in in_passes(view.lengths[texts], limit, load, compute):
        yield rows_of(part), found[:vectors], found[vectors:]


def in_half(values: torch.Tensor) -> torch.Tensor:
    """Values in float16, or in float32 if any is beyond its range (Gemma, T5, some Qwen); MemberError for infinity."""
    half = values.half()
    if half.isfinite().all():
        return half
    if not values.isfinite().all():
        raise MemberError("the encoder returned values that are not finite; use precision float32")
    return values.float()


def load_frozen(request: Request) -> Any:
    """The encoder, as deep as a request reads it, on the fastest device."""
    # on a CPU one model serves both: its eager attention, which alone returns maps, is the fastest there
    eager = bool(request.attention_layers) or _device().type == "cpu"
    dtype = dtype_for(request.encoder.config, request.dtype or computes_in())
    vectors, maps = max(request.layers, default=0), max(request.attention_layers, default=0)
    return _frozen_model(request.encoder, max(vectors, maps), dtype, eager=eager, maps_last=maps > vectors)


@lru_cache(maxsize=2)
def _frozen_model(encoder: Encoder, depth: int, dtype: torch.dtype, *, eager: bool, maps_last: bool) -> Any:
    """The encoder up to layer ``depth``, of which nothing but the attention is read if ``maps_last``."""
    options: dict[str, Any] = {"dtype": dtype} | ({"attn_implementation": "eager"} if eager else {})
    is_cuttable = encoder.config.model_type in _CUTTABLE
    if is_cuttable:
        options["num_hidden_layers"] = max(depth, 1)
    model = encoder.fresh_model(**options).eval().requires_grad_(False)
    if is_cuttable and maps_last:  # what follows the attention is three quarters of a layer's products
        last = model.encoder.layer[-1]
        last.attention.output, last.intermediate, last.output = _First(), nn.Identity(), _First()
    return model.to(_device())


class _First(nn.Module):
    """The first of its inputs."""

    def forward(self, first: Tensor, *_: Tensor) -> Tensor:
        return first


def computed_by(encoder: Encoder, dtype: torch.dtype | None = None) -> str:
    """Name of a cache folder: the encoder, the precision and the version of this module."""
    precision = str(dtype_for(encoder.config, dtype or computes_in())).removeprefix("torch.")
    return f"{encoder.fingerprint}-{precision}-{_VERSION}"


def dtype_for(config: Any, dtype: torch.dtype) -> torch.dtype:
    """``dtype``, or float32 for a model that computes in nothing else."""
    return torch.float32 if getattr(config, "model_type", None) in _FLOAT32_ONLY else dtype


def computes_in() -> torch.dtype:
    """Precision in which frozen encoders compute by default."""
    return fastest_dtype(_device())


def _device() -> torch.device:
    return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
