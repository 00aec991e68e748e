"""Device, precision and attention implementation of a training, chosen by measurement.

Measured on MiniLM with frozen embeddings, 8 texts of 120 pieces, one thread of a CPU with AVX-512 bfloat16
instructions; examples a second of forward and backward passes together:

======================  =====  ============  ===================  ===================
precision               plain  fused (SDPA)  plain, with dropout  fused, with dropout
======================  =====  ============  ===================  ===================
float32                 10.9   11.7          not measured         not measured
autocast to bfloat16    34.4   22.9          27.8                 21.7
weights in bfloat16     34.8   22.7          29.5                 23.7
======================  =====  ============  ===================  ===================

So on a CPU, training uses plain attention and bfloat16 weights with float32 master copies for the updates: as fast
as autocast, without a cast in each pass, and the same on all devices.

Two thirds of the time then go to matrix products, at seven eighths of the processor's bfloat16 peak. Cheaper
dropout (:mod:`gapstack.training.dropout`) gave 8% on one thread and 14% on two. Not adopted: ``torch.compile`` of
the encoder (dynamic lengths), 26 to 27 examples a CPU second instead of 29 to 30, after a minute of compiling, where
a fold of ProBERT trains in a minute and a half; and, within noise, attention with its softmax in float32 or with
the queries scaled instead of the scores, attention as two batched products over contiguous heads (three times as
quick by itself), and budgets of 1,536 and 2,048 pieces.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from gapstack.encoding.encoders import Encoder
from gapstack.precision import fastest_dtype
from gapstack.training.dropout import quicken_dropout

if TYPE_CHECKING:
    from accelerate import PartialState

# Pieces in one forward pass: on a CPU, few enough for a layer's activations to stay in the caches; on a GPU, as many
# for each GiB as a card of 24 GiB trains BERT-large with.
CPU_BUDGET, GPU_BUDGET = 1024, 512
# Names of the dropout rate on attention probabilities in the model families' configurations
_ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout", "attn_pdrop")


@cache
def processes() -> PartialState:
    """Give Accelerate's state: device, rank and number of processes."""
    from accelerate import PartialState  # slow to import

    # without a GPU it takes several processes for so many trainings, unless it is told that they share the CPU
    return PartialState(cpu=started_together() > 1 and not torch.cuda.is_available())


def started_together() -> int:
    """Number of processes that ``torchrun`` or ``accelerate launch`` started with this one, 1 without them."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def compute_dtype(precision: str, device: torch.device) -> torch.dtype:
    """Give the encoder's data type under a plan's ``precision``."""
    if precision == "auto":
        return fastest_dtype(device)
    return torch.bfloat16 if precision == "bf16" else torch.float32


def default_budget(device: torch.device) -> int:
    """Give the number of pieces in one pass where a plan sets no ``token_budget``.

    A GPU's goes by the memory that it has, not by what is free: passes of other shapes have other last digits, which
    must not depend on who else is there.
    """
    if device.type != "cuda":
        return CPU_BUDGET
    return GPU_BUDGET * max(1, round(torch.cuda.get_device_properties(device).total_memory / 2**30))


def trainable_encoder(encoder: Encoder, *, attention_dropout: bool = False) -> nn.Module:
    """Load a copy of the encoder for fine-tuning, with the attention and dropout that are fastest on this device.

    Parameters
    ----------
    encoder : Encoder
    attention_dropout : bool
        Keep its configuration's dropout on attention probabilities (see :class:`TrainingPlan`).
    """
    options: dict[str, Any] = {"dtype": torch.float32}
    on_cpu = processes().device.type == "cpu"
    if on_cpu:
        options["attn_implementation"] = "eager"
    if not attention_dropout:
        options |= {key: 0.0 for key in _ATTENTION_DROPOUT if key in encoder.config}
    model: nn.Module = encoder.fresh_model(**options)
    if on_cpu:
        quicken_dropout(model)
    return model


@contextmanager
def seeded(*seeds: int) -> Iterator[None]:
    """Seed torch's generators within the block (without seeds: go on with them), and restore their state after it."""
    devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices):
        if seeds:
            reseed(*seeds)
        yield


def rng_states() -> dict[str, torch.Tensor]:
    """Give the states of torch's generators by device."""
    has_cuda = torch.cuda.is_available()
    return {"cpu": torch.get_rng_state(), **({"cuda": torch.cuda.get_rng_state()} if has_cuda else {})}


def restore_rng(states: Mapping[str, torch.Tensor]) -> None:
    """Inverse of :func:`rng_states`."""
    for device, state in states.items():
        (torch.cuda if device == "cuda" else torch).set_rng_state(state)


def reseed(*seeds: int) -> None:
    """Seed torch's generators on all devices."""
    torch.manual_seed(int(np.random.SeedSequence(seeds).generate_state(1, np.uint64)[0] >> np.uint64(1)))
