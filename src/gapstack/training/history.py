"""History of a training run: one record for each evaluation, and its log files."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gapstack.errors import MemberError
from gapstack.files import discard, write_text


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One evaluation of a run.

    ``phase`` and ``epoch`` count from 0, ``update`` within the phase. ``loss`` is the mean training loss since the
    previous evaluation, with label smoothing; ``validation`` the mean validation loss without it; ``rate`` the
    schedule's factor. Speed and seconds are ignored when records are compared.
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

    @property
    def seconds(self) -> float:
        """Duration of the run."""
        return self.evaluations[-1].seconds if self.evaluations else 0.0


class Log:
    """Writes ``history.jsonl`` in a folder, and TensorBoard curves; MemberError if TensorBoard is not installed."""

    def __init__(self, folder: Path, tensorboard: bool):
        self._path = folder / "history.jsonl"
        if self._path.is_dir():  # a logging problem must not abort training
            discard(self._path)
        self._writer: Any = None
        if tensorboard:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError as missing:
                raise MemberError(
                    "TensorBoard is not installed; run: pip install tensorboard, or leave it out"
                ) from missing
            self._writer = SummaryWriter(str(folder))

    def write(self, evaluations: list[Evaluation]) -> None:
        """Rewrite the log with ``evaluations``, so that a resumed run repeats no line."""
        write_text(self._path, "".join(json.dumps(asdict(line)) + "\n" for line in evaluations))
        if self._writer is not None and evaluations:
            last = evaluations[-1]
            for name in ("loss", "validation", "rate", "examples_per_second"):
                value = getattr(last, name)
                if value is not None:
                    self._writer.add_scalar(f"phase {last.phase}/{name}", value, last.update)

    def close(self) -> None:
        """Close TensorBoard's writer."""
        if self._writer is not None:
            self._writer.close()
