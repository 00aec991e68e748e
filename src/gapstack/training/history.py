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

    Attributes
    ----------
    phase, epoch, update : int
        Phase and epoch, from 0, and the number of updates of the phase so far.
    loss : float
        Mean training loss since the previous evaluation, with label smoothing.
    validation : float or None
        Mean validation loss, without label smoothing; None without validation rows.
    rate : float
        The schedule's factor on the learning rates.
    examples_per_second, seconds : float
        Training speed since the previous evaluation, and the run's time so far, evaluations included. Both are
        ignored when records are compared.
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
    """Writes one JSON line for each evaluation and, optionally, TensorBoard curves.

    Parameters
    ----------
    folder : Path
        Gets ``history.jsonl``.
    tensorboard : bool

    Raises
    ------
    MemberError
        If ``tensorboard`` is set and TensorBoard is not installed.
    """

    def __init__(self, folder: Path, tensorboard: bool):
        self._path = folder / "history.jsonl"
        if self._path.is_dir():  # nothing that only tells of a training may stop it
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
