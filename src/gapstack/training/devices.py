"""Device, precision, dropout and random numbers of a training."""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from gapstack.encoding.encoders import Encoder
from gapstack.encoding.frozen import CPU_BUDGET, dtype_for
from gapstack.errors import MemberError
from gapstack.processes import fastest_dtype
from gapstack.registry import import_extra
from gapstack.training.plan import TrainingPlan, adapter_rank

if TYPE_CHECKING:
    from accelerate import PartialState

Tensors = dict[str, Tensor]
# Pieces in one pass of training for each GiB of a GPU, as a card of 24 GiB needs for BERT-large
GPU_BUDGET = 512
# Names of the dropout rate on attention probabilities in the model families' configurations
_ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout", "attn_pdrop")


@cache
def processes() -> PartialState:
    """Accelerate's state: device, rank and number of processes."""
    from accelerate import PartialState  # slow to import

    for sharding in ("FSDP", "DEEPSPEED"):
        if os.environ.get(f"ACCELERATE_USE_{sharding}", "false").lower() == "true":
            raise MemberError(
                f"every process trains a whole encoder, so {sharding} cannot be used; for an encoder that does not "
                "fit into one GPU set checkpointing = true or lora = 16"
            )
    # without a GPU it takes several processes for separate trainings, unless cpu=True
    state = PartialState(cpu=started_together() > 1 and not torch.cuda.is_available())
    if state.backend == "gloo":
        # a thread of Gloo that frees a tensor while Python shuts down aborts the process (pytorch/pytorch#179291)
        atexit.register(time.sleep, 0.2)
    if state.device.type == "cuda":
        # cuDNN's attention builds a plan for every new shape, which takes longer than the pass itself
        torch.backends.cuda.enable_cudnn_sdp(False)
    return state


def started_together() -> int:
    """Number of processes that ``torchrun`` or ``accelerate launch`` started with this one, 1 without them."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def compute_dtype(precision: str, device: torch.device, model: Any = None) -> torch.dtype:
    """Data type of a model's encoder, or of an :class:`Encoder` itself, under a plan's ``precision``."""
    encoder = getattr(model, "encoder", model)
    fixed = {"bf16": torch.bfloat16, "fp16": torch.float16, "tf32": torch.float32, "float32": torch.float32}
    return dtype_for(getattr(encoder, "config", None), fixed.get(precision) or fastest_dtype(device))


@contextmanager
def tf32_under(precision: str) -> Iterator[None]:
    """Let CUDA multiply float32 in TensorFloat-32 within the block if a plan's ``precision`` is ``tf32``."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def training_budget(device: torch.device) -> int:
    """Pieces in a pass of training where a plan sets no ``token_budget``; by total memory, not what is free."""
    if device.type != "cuda":
        return CPU_BUDGET
    return GPU_BUDGET * max(1, round(torch.cuda.get_device_properties(device).total_memory / 2**30))


def trainable_encoder(encoder: Encoder, plan: TrainingPlan, lora: int | None = None) -> nn.Module:
    """Load a copy of the encoder for fine-tuning, with adapters of rank ``lora`` (None: by its size)."""
    rank = adapter_rank(encoder.size.parameters, lora)
    device = processes().device
    options: dict[str, Any] = {"dtype": compute_dtype("auto", device, encoder) if rank else torch.float32}
    if not plan.attention_dropout:
        options |= {key: 0.0 for key in _ATTENTION_DROPOUT if hasattr(encoder.config, key)}
    if plan.attention != "auto" or device.type == "cpu":
        options["attn_implementation"] = "eager" if plan.attention == "auto" else plan.attention
    model: nn.Module = encoder.fresh_model(**options)
    if rank:
        peft = import_extra("peft", "lora")
        adapters = peft.LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear")
        model = peft.inject_adapter_in_model(adapters, model)
    if device.type == "cpu":
        quicken_dropout(model)
    return model


def quick_dropout(values: Tensor, rate: float, training: bool = True) -> Tensor:
    """Dropout with cheaper random numbers on the CPU; the rate is rounded to 1/65,536."""
    if not training or rate in {0, 1} or values.device.type != "cpu":
        return functional.dropout(values, rate, training)
    count = values.numel()
    draws = torch.empty(-(-count // 4), dtype=torch.int64).random_(-(2**63), None).view(torch.int16)
    # 16 random bits are a number from -2^15 up; staying in int16 keeps the comparison vectorised
    keep = draws[:count].view(values.shape).ge_(round(rate * 2**16) - 2**15)
    return values * keep.to(values.dtype).mul_(1 / (1 - rate))


class QuickDropout(nn.Dropout):
    """:class:`torch.nn.Dropout` with :func:`quick_dropout`."""

    def forward(self, input: Tensor) -> Tensor:
        """See :func:`quick_dropout`."""
        return quick_dropout(input, self.p, self.training)


def quicken_dropout(model: nn.Module) -> None:
    """Replace every :class:`torch.nn.Dropout` in ``model`` by a :class:`QuickDropout` of the same rate."""
    for parent in list(model.modules()):
        for name, child in parent.named_children():
            if type(child) is nn.Dropout:
                setattr(parent, name, QuickDropout(child.p))


@contextmanager
def seeded(*seeds: int) -> Iterator[None]:
    """Seed torch's generators within the block (without seeds, leave them) and restore their state after it."""
    devices = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices):
        if seeds:
            reseed(*seeds)
        yield


def reseed(*seeds: int) -> None:
    """Seed torch's generators on all devices."""
    torch.manual_seed(int(np.random.SeedSequence(seeds).generate_state(1, np.uint64)[0] >> np.uint64(1)))


def rng_states() -> Tensors:
    """States of torch's generators by device."""
    on_cuda = {"cuda": torch.cuda.get_rng_state()} if torch.cuda.is_available() else {}
    return {"cpu": torch.get_rng_state()} | on_cuda


def restore_rng(states: Tensors) -> None:
    """Inverse of :func:`rng_states`."""
    for device, state in states.items():
        (torch.cuda if device == "cuda" else torch).set_rng_state(state)
