"""Checkpoints of trainings: one safetensors file with a JSON record and a digest in its header, and where it goes.

Members know no files, so the caller of ``fit`` names the folder:

    with checkpoint_context(folder):
        member.fit(corpus)
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from gapstack.errors import DamageError, Place
from gapstack.files import atomic_path, discard, sweep
from gapstack.progress import console

Tensors = dict[str, torch.Tensor]
NAME = "checkpoint.safetensors"
_FORMAT = "2"


@dataclass(frozen=True)
class CheckpointContext:
    """A folder for checkpoints and logs.

    Parameters
    ----------
    folder : Path
        Each training has a subfolder named by a hash of everything that decides its result: only the same run
        resumes from it, and a finished run is not repeated. The caller removes the folder.
    checkpoint_seconds : float
        Minimum time between two checkpoints; 0 for one after each update.
    tensorboard : bool
        Also write TensorBoard event files.
    """

    folder: Path
    checkpoint_seconds: float = 120.0
    tensorboard: bool = False

    def subfolder(self, identity: str) -> CheckpointContext:
        """The same settings for the training named ``identity``."""
        return replace(self, folder=self.folder / identity)


_current: ContextVar[CheckpointContext | None] = ContextVar("checkpoint_context", default=None)


@contextmanager
def checkpoint_context(
    folder: Path, *, checkpoint_seconds: float = 120.0, tensorboard: bool = False
) -> Iterator[None]:
    """Let every training within the block use ``folder`` (see :class:`CheckpointContext`)."""
    token = _current.set(CheckpointContext(Path(folder), checkpoint_seconds, tensorboard))
    try:
        yield
    finally:
        _current.reset(token)


def current_context() -> CheckpointContext | None:
    """Context of the enclosing block, if any."""
    return _current.get()


class Checkpoints:
    """The checkpoint in one folder, written at most every ``seconds``."""

    def __init__(self, folder: Path, seconds: float):
        self._path = folder / NAME
        self._seconds = seconds
        self._last = time.monotonic()

    def is_due(self) -> bool:
        """True once the minimum time has passed."""
        return time.monotonic() - self._last >= self._seconds

    def save(self, record: dict[str, Any], tensors: Tensors) -> None:
        """Replace the checkpoint, atomically."""
        stored = {key: tensor.detach().cpu().contiguous() for key, tensor in tensors.items()}
        text = json.dumps(record)
        metadata = {"format": _FORMAT, "record": text, "digest": _digest(text, stored)}
        with atomic_path(self._path) as temporary:
            save_file(stored, temporary, metadata)
        self._last = time.monotonic()

    def load(self) -> tuple[dict[str, Any], Tensors] | None:
        """Record and tensors (on the CPU); None without a checkpoint or if it is damaged, which deletes it."""
        sweep(self._path.parent)
        if not os.path.lexists(self._path):
            return None
        try:
            with safe_open(self._path, framework="pt") as file:
                metadata = file.metadata() or {}
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - no mapping
            if metadata.get("format") != _FORMAT or metadata["digest"] != _digest(
                metadata["record"], tensors
            ):
                raise DamageError("does not match its digest", place=Place(self._path))
            return json.loads(metadata["record"]), tensors
        except (SafetensorError, OSError, ValueError, KeyError) as problem:
            note = f"{self._path} is damaged ({problem}): this training starts again"
            console.print(note, style="dim", markup=False, soft_wrap=True)
            discard(self._path)
            return None


def _digest(record: str, tensors: Tensors) -> str:
    """SHA-256 of a record and of every tensor's name, type, shape and bytes."""
    found = hashlib.sha256(record.encode())
    for name, tensor in sorted(tensors.items()):
        found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        found.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()
