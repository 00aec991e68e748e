"""Where a training stores its state: a checkpoint file, a log, and the identity that names their folder.

Members know no files: the caller names the folder, ``with checkpoint_context(folder): member.fit(corpus)``.
"""

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from gapstack.cache import array_digest
from gapstack.errors import DamageError, Place
from gapstack.files import atomic_path, discard, fingerprint, sweep, write_text
from gapstack.progress import console
from gapstack.records import source_digest, versions
from gapstack.training.data import Objective, RowData, cross_entropy
from gapstack.training.devices import Tensors, compute_dtype, processes, rng_states
from gapstack.training.plan import TrainingPlan

NAME, LOG = "checkpoint.safetensors", "history.jsonl"
_SHARE_OF_TIME = 0.02  # for writing checkpoints


current_context: ContextVar[tuple[Path, float] | None] = ContextVar("checkpoint_context", default=None)
"""Folder and seconds of the enclosing :func:`checkpoint_context` block, if any."""


@contextmanager
def checkpoint_context(folder: Path, *, seconds: float = 120.0) -> Iterator[None]:
    """Let every training within the block store checkpoints and a log in ``folder``.

    A training's subfolder is named by a hash of what decides its result. ``seconds`` is the minimum time between two
    checkpoints, 0 for one after each update; it is longer where writing one is slow.
    """
    token = current_context.set((Path(folder), seconds))
    try:
        yield
    finally:
        current_context.reset(token)


class Checkpoints:
    """The checkpoint in one folder, written at most every ``seconds``."""

    def __init__(self, folder: Path, seconds: float):
        self._path, self._seconds, self._last = folder / NAME, seconds, time.monotonic()

    def is_due(self) -> bool:
        """True once the minimum time has passed; longer after slow writes, which take 2% of the time at most."""
        return time.monotonic() - self._last >= self._seconds

    def save(self, record: dict[str, Any], tensors: Tensors) -> None:
        """Replace the checkpoint, atomically."""
        began = time.monotonic()
        stored = {key: tensor.detach().cpu().contiguous() for key, tensor in tensors.items()}
        text = json.dumps(record)
        with atomic_path(self._path) as temporary:
            save_file(stored, temporary, {"record": text, "digest": _digest(text, stored)})
        self._last = time.monotonic()
        if self._seconds:
            self._seconds = max(self._seconds, (self._last - began) / _SHARE_OF_TIME)

    def load(self) -> tuple[dict[str, Any], Tensors] | None:
        """Record and tensors (on the CPU); None without a checkpoint or if it is damaged, which deletes it."""
        sweep(self._path.parent)
        if not os.path.lexists(self._path):
            return None
        try:
            with safe_open(self._path, framework="pt") as file:
                metadata = file.metadata() or {}
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - not a mapping
            if metadata["digest"] != _digest(metadata["record"], tensors):
                raise DamageError("does not match its digest", place=Place(self._path))
            return json.loads(metadata["record"]), tensors
        except (SafetensorError, OSError, ValueError, KeyError) as problem:
            note = f"{self._path} is damaged ({problem}): this training starts again"
            console.print(note, style="dim", markup=False, soft_wrap=True)
            discard(self._path)
            return None


def _digest(record: str, tensors: Tensors) -> str:
    return fingerprint(record, array_digest({name: as_bytes(tensor) for name, tensor in tensors.items()}))


def identity(
    model: nn.Module,
    data: RowData,
    plans: Sequence[TrainingPlan],
    validation: RowData | None = None,
    objective: Objective = cross_entropy,
) -> str:
    """Hash of what decides a training: plans, data, weights, modules and their source, loss, versions, processes."""
    tensors = dict(model.state_dict())
    if any(plan.draws_on_running_rng for plan in plans):
        tensors |= rng_states()
    kinds = sorted({type(part) for part in model.modules()}, key=lambda kind: kind.__qualname__)
    state = processes()
    return fingerprint(
        [(plan.as_dict(), str(compute_dtype(plan.precision, state.device, model))) for plan in plans],
        [data.fingerprint, validation.fingerprint if validation else None],
        objective.__qualname__,
        array_digest({name: as_bytes(tensor.cpu()) for name, tensor in tensors.items()}),
        [(name, type(part).__qualname__, _attributes(part)) for name, part in model.named_modules()],
        [source_digest(kind, "gapstack") for kind in kinds],
        versions(),
        state.num_processes,
    )


def as_bytes(tensor: Tensor) -> NDArray[Any]:
    """A tensor as numpy's array, bfloat16 as whole numbers."""
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def _attributes(part: nn.Module) -> dict[str, str]:
    """Plain attributes of a module, such as its dropout rate, except the folder that it was loaded from."""
    return {
        name: repr(value)
        for name, value in sorted(vars(part).items())
        if name not in {"training", "name_or_path"}
        and all(
            isinstance(v, (bool, int, float, str)) for v in (value if isinstance(value, tuple) else (value,))
        )
    }


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One evaluation, in ``phase`` and ``epoch`` (from 0), after ``update`` of the phase.

    ``loss`` is the mean training loss since the previous one, with label smoothing; ``validation`` the mean validation
    loss without it; ``rate`` the schedule's factor.
    """

    phase: int
    epoch: int
    update: int
    loss: float
    validation: float | None
    rate: float
    examples_per_second: float = field(compare=False)
    seconds: float = field(compare=False)


@dataclass(frozen=True)
class History:
    """All evaluations of a run, and for each phase the update of its best weights (None without early stopping)."""

    evaluations: tuple[Evaluation, ...]
    best_updates: tuple[int | None, ...]


def write_log(path: Path, evaluations: Sequence[Evaluation]) -> None:
    """Rewrite a log with ``evaluations``, so that a resumed run repeats no line."""
    if path.is_dir():  # a logging problem must not abort training
        discard(path)
    write_text(path, "".join(json.dumps(asdict(line)) + "\n" for line in evaluations))
