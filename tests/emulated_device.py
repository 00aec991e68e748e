"""An emulated accelerator: tensors of a device ``accel``, computed on the CPU, which refuse what real devices refuse.

    python -m tests.emulated_device [MEMBER ...]

fits every member with an encoder on it, with gradient checkpointing where an encoder is trained, predicts, saves, loads
and predicts again. It prints a line of JSON for each: the largest difference of both predictions, or the problem.

What it proves: no operation mixes tensors of the device with tensors of the CPU (0-dimensional ones apart, as on real
devices), none is in float64, which MPS lacks, and no tensor of the device is handed to numpy. What it does not prove:
that kernels of a real device exist and agree, speed, memory, or precision in bfloat16.

Torch's PrivateUse1 is registered for the rest of the process, so a test runs this in a process of its own.
"""

from __future__ import annotations

import json
import sys
import tempfile
import traceback
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend

from gapstack.encoding.encoders import quiet
from gapstack.files import scratch_cache
from gapstack.members import create, saved
from gapstack.members.fine_tuned import FineTuned
from gapstack.members.masked_lm import MaskedLM
from gapstack.members.member import Member
from gapstack.runs.encoder_check import members_with_encoder
from gapstack.training import devices
from tests.encoding.architectures import ARCHITECTURES, build, create_on, rows
from tests.fixtures_language_models import build_language_model

NAME, PROMPTED = "accel", "prompted"
REGISTERED: list[Any] = []  # registrations live as long as these
MIXING = {"aten::copy_", "aten::_to_copy"}  # from one device to the other


class Accelerator(_DummyBackendModule):
    """``torch.accel``, as far as torch and transformers ask for it."""

    get_amp_supported_dtype = staticmethod(lambda: [torch.float16, torch.bfloat16])

    def get_rng_state(self, device: Any = None) -> torch.Tensor:
        return torch.get_rng_state()

    def set_rng_state(self, state: torch.Tensor, device: Any = None) -> None:
        torch.set_rng_state(state)


class MixedDevicesError(RuntimeError):
    """An operation that a real device would refuse."""


class DeviceTensor(torch.Tensor):
    """A tensor of the device; its values are a tensor of the CPU."""

    values: torch.Tensor

    @staticmethod
    def __new__(cls, values: torch.Tensor) -> DeviceTensor:
        if values.dtype == torch.float64:
            raise MixedDevicesError("the device has no float64")
        tensor = torch.Tensor._make_wrapper_subclass(
            cls, values.size(), strides=values.stride(), storage_offset=values.storage_offset(),
            dtype=values.dtype, device=f"{NAME}:0",
        )  # fmt: skip
        tensor.values = values
        return tensor

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function == torch.Tensor.data.__set__:
            args[0].values = args[1].values
        if function == torch.Tensor.tolist:
            return args[0].cpu().tolist()
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **kwargs or {})

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return compute(operation, args, kwargs or {})


def compute(operation: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Compute an operation on the CPU, and put its result where its inputs are."""
    name = operation._schema.name
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    if name not in MIXING:
        strangers = [one for one in tensors if not isinstance(one, DeviceTensor) and one.dim()]
        if strangers:
            raise MixedDevicesError(f"{name} of {NAME} and cpu, {[tuple(one.shape) for one in tensors]}")
    to_device = kwargs.get("device") is None or torch.device(kwargs["device"]).type == NAME
    if name == "aten::copy_" and not isinstance(args[0], DeviceTensor):
        to_device = False
    inner, named = tree_map(lambda one: one.values if isinstance(one, DeviceTensor) else one, (args, kwargs))
    if "device" in named:
        named["device"] = "cpu"
    found = operation(*inner, **named)
    owners = {id(one.values): one for one in tensors if isinstance(one, DeviceTensor)}

    def placed(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or not to_device:
            return value
        if id(value) in owners:  # in place
            return owners[id(value)]
        return DeviceTensor(value)

    return args[0] if name == "aten::copy_" else tree_map(placed, found)


def _empty(operation: str, *args: Any, **kwargs: Any) -> DeviceTensor:
    return DeviceTensor(
        getattr(torch.ops.aten, operation)(*args, **kwargs | {"device": "cpu", "pin_memory": None})
    )


def _copy_from(source: torch.Tensor, target: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    own = [one.values if isinstance(one, DeviceTensor) else one for one in (source, target)]
    own[1].copy_(own[0])
    return target


def register() -> None:
    """Make ``accel`` the accelerator of this process."""
    _setup_privateuseone_for_python_backend(NAME, backend_module=Accelerator())
    library = torch.library.Library("aten", "IMPL")
    for operation in ("empty.memory_format", "empty_strided"):
        library.impl(operation, partial(_empty, operation.partition(".")[0]), "PrivateUse1")
    library.impl("_copy_from", _copy_from, "PrivateUse1")  # of torch.tensor
    REGISTERED.append(library)
    torch.inference_mode = torch.no_grad  # wrappers have no version counter in inference mode
    devices.processes().device = torch.device(NAME, 0)


def member_on(name: str, encoder: Path, decoder: Path) -> Member:
    """The member on a tiny encoder, or on a tiny decoder; with checkpointing where it trains one."""
    if name == PROMPTED:
        return create(PROMPTED, model=str(decoder), calibration_rows=10)
    member = create_on(name, encoder)
    if isinstance(member, FineTuned | MaskedLM):
        member.set_params(training={**(member.training or {}), "checkpointing": True})
    return member


def trial(name: str, encoder: Path, decoder: Path) -> float:
    """Fit, predict, save, load and predict on the device; the largest difference of probabilities."""
    train, held = rows()
    with scratch_cache(), tempfile.TemporaryDirectory() as place:
        member = member_on(name, encoder, decoder)
        answers = member.fit(train).predict_proba(held)
        saved.save(member, name, Path(place) / "member")
        loaded = saved.load(Path(place) / "member").predict_proba(held)
    return float(np.abs(loaded - answers).max())


def main(names: list[str]) -> None:
    register()
    with tempfile.TemporaryDirectory() as place, quiet():
        encoder = build(ARCHITECTURES["SpanBERT"], Path(place) / "encoder")
        decoder = build_language_model(Path(place) / "decoder", "qwen3", rows()[0].texts)
        for name in names or [*members_with_encoder(), PROMPTED]:
            try:
                record: dict[str, Any] = {"difference": trial(name, encoder, decoder)}
            except Exception:
                record = {"problem": traceback.format_exc()}
            print(json.dumps({"member": name, **record}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
