"""Passes of an encoder that is trained, compiled for some lengths: a GPU then starts an update as one graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from gapstack.training.devices import Tensors
from gapstack.training.parameters import ENCODER

BUCKET = 64
"""Compiled lengths are multiples of this: eight up to 512 pieces, as many variants as torch compiles of a function."""


class CompiledPasses:
    """An encoder's training passes, compiled by ``torch.compile``; on a GPU it records CUDA graphs."""

    def __init__(self, model: nn.Module, longest: int):
        # what was compiled for another model counts towards the number of variants
        torch.compiler.reset()
        self._encoder: Any = getattr(model, ENCODER)
        self._compiled = torch.compile(self._encoder.forward, mode="reduce-overhead", dynamic=False)
        self._longest = longest

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the encoder compiled within the block."""
        self._encoder.forward = self._compiled
        try:
            yield
        finally:
            del self._encoder.forward

    def in_bucket(self, inputs: Tensors) -> Tensors:
        """Pad pieces ``ids`` (b, L) to the next compiled length, with a mask ``keep``, which is added if missing."""
        ids = inputs["ids"]
        keep = inputs.get("keep", torch.ones_like(ids, dtype=torch.bool))
        length = ids.shape[1]
        # an encoder may have no positions after the longest text
        room = max(0, min(-(-length // BUCKET) * BUCKET, self._longest) - length)
        return {**inputs, "ids": functional.pad(ids, (0, room)), "keep": functional.pad(keep, (0, room))}
