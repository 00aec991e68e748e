"""Checkpoints: one safetensors file, written atomically, with the run's record as JSON in its header."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from gapstack.errors import DataError, Place
from gapstack.files import atomic_path

Tensors = dict[str, torch.Tensor]
NAME = "checkpoint.safetensors"
_FORMAT = "1"


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
        """Load record and tensors (on the CPU), or None if there is no checkpoint.

        Raises
        ------
        DataError
            If the file is damaged.
        """
        for temporary in self._path.parent.glob(f".{Path(NAME).stem}-*"):
            temporary.unlink(missing_ok=True)  # of a writer that was killed
        if not self._path.is_file():
            return None
        try:
            with safe_open(self._path, framework="pt") as file:
                metadata = file.metadata() or {}
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - no mapping
            if metadata.get("format") != _FORMAT:
                raise ValueError(f"format {metadata.get('format')}, not {_FORMAT}")
            return json.loads(metadata["record"]), tensors
        except (SafetensorError, ValueError, KeyError) as problem:
            raise DataError(
                f"is no checkpoint ({problem})",
                place=Place(self._path),
                remedy="Delete it to train from the start",
            ) from problem

    def is_due(self) -> bool:
        """Whether the minimum time has passed."""
        return time.monotonic() - self._last >= self._seconds

    def save(self, record: dict[str, Any], tensors: Tensors) -> None:
        """Replace the checkpoint."""
        with atomic_path(self._path) as temporary:
            metadata = {"format": _FORMAT, "record": json.dumps(record)}
            save_file({key: tensor.contiguous() for key, tensor in tensors.items()}, temporary, metadata)
        self._last = time.monotonic()
