"""Forward passes over many texts: how many pieces go into one, and what happens when memory runs out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from gapstack.encoding.pieces import batches
from gapstack.errors import MemberError
from gapstack.types import Ints

_log = logging.getLogger(__name__)

Loaded = TypeVar("Loaded")
# Pieces in one pass, padding included: on a CPU, few enough for a layer's activations to stay in its caches.
CPU_BUDGET = 1024
_LEAST, _MOST = 512, 131_072  # on an accelerator
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
    return int(np.clip(free_memory(device) * 0.8 / (4 * values), _LEAST, _MOST))


def free_memory(device: torch.device) -> int:
    """Free bytes of an accelerator, with what torch holds and does not use; 8 GiB where it does not say."""
    if device.type != "cuda":
        return 8 * 2**30
    free, _ = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)


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

    part, loaded = part_from(0), None
    while len(part):
        try:
            result = compute(part, load(part) if loaded is None else loaded)
        except torch.OutOfMemoryError:
            result = None
        if result is None:  # outside the handler, since the error keeps the tensors alive
            loaded = None
            limit.halve(int(lengths[part[-1]]), int(lengths[part[-1]]) * len(part))
            part = part_from(int(part[0]))
            continue
        done, part = part, part_from(int(part[-1]) + 1)
        loaded = load(part) if len(part) else None
        yield done, result.cpu() if isinstance(result, Tensor) else [tensor.cpu() for tensor in result]
