"""Checkpoints: one safetensors file, whole or absent, whose header carries the run's record as JSON and a digest.

A new one is written beside the old one and takes its place, so there are never more than two on the disk. A damaged
one is thrown away with a word: the training begins anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
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


def write_tensors(path: Path, record: dict[str, Any], tensors: Tensors) -> None:
    """Write tensors with a JSON-able record and a digest of both, atomically."""
    here = {key: tensor.detach().cpu().contiguous() for key, tensor in tensors.items()}
    text = json.dumps(record)
    metadata = {"format": _FORMAT, "record": text, "digest": _digest(text, here)}
    with atomic_path(path) as temporary:
        save_file(here, temporary, metadata)


def read_tensors(path: Path, loss: str) -> tuple[dict[str, Any], Tensors] | None:
    """Give record and tensors (on the CPU) that :func:`write_tensors` wrote, or None if there are none.

    A damaged file is thrown away; ``loss`` says on the screen what that means.
    """
    if not os.path.lexists(path):
        return None
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - no mapping
        if metadata.get("format") != _FORMAT or metadata["digest"] != _digest(metadata["record"], tensors):
            raise DamageError("changed since it was written, or of an earlier version", place=Place(path))
        return json.loads(metadata["record"]), tensors
    except (SafetensorError, OSError, ValueError, KeyError) as problem:
        console.print(f"{path} is damaged ({problem}): {loss}", style="dim", markup=False, soft_wrap=True)
        discard(path)
        return None


def _digest(record: str, tensors: Tensors) -> str:
    """SHA-256 of a record and of every tensor's name, type, shape and bytes."""
    found = hashlib.sha256(record.encode())
    for name, tensor in sorted(tensors.items()):
        found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        found.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()


class Checkpoints:
    """The checkpoint in one folder.

    Parameters
    ----------
    folder : Path
    seconds : float
        Minimum time between two checkpoints.
    """

    def __init__(self, folder: Path, seconds: float):
        self._path = folder / NAME
        self._seconds = seconds
        self._last = time.monotonic()

    def load(self) -> tuple[dict[str, Any], Tensors] | None:
        """Give record and tensors (on the CPU), or None if there is no sound checkpoint."""
        sweep(self._path.parent)
        return read_tensors(self._path, "this training begins anew")

    def is_due(self) -> bool:
        """Whether the minimum time has passed."""
        return time.monotonic() - self._last >= self._seconds

    def save(self, record: dict[str, Any], tensors: Tensors) -> None:
        """Put this in the place of what was there."""
        write_tensors(self._path, record, tensors)
        self._last = time.monotonic()
