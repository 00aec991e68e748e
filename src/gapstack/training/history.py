"""What a training run did: one record for each evaluation, kept, logged and shown."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gapstack.errors import MemberError
from gapstack.files import discard, write_text


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The state of a run after some updates of a phase.

    Attributes
    ----------
    phase, epoch, update : int
        Phase and epoch it was in, from 0, and updates of the phase so far.
    loss : float
        Mean training loss since the evaluation before, label smoothing included.
    validation : float or None
        Mean loss of the validation rows, without smoothing; None if there are none.
    rate : float
        Factor on the learning rates.
    examples_per_second, seconds : float
        Speed of training since the evaluation before, and the run's time so far, evaluations included. They are
        measurements: two records that differ only here are equal.
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
    """All evaluations of a run, and for each phase that stopped early the update it went back to."""

    evaluations: tuple[Evaluation, ...]
    best_updates: tuple[int | None, ...]

    @property
    def seconds(self) -> float:
        """What the run took."""
        return self.evaluations[-1].seconds if self.evaluations else 0.0


class Log:
    """A JSON line for each evaluation, and TensorBoard's curves if asked for.

    Parameters
    ----------
    folder : Path
        Gets ``history.jsonl``.
    tensorboard : bool

    Raises
    ------
    MemberError
        If TensorBoard is asked for and not installed.
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
        """Make the log say exactly this; after a resumption it holds no line twice."""
        write_text(self._path, "".join(json.dumps(asdict(line)) + "\n" for line in evaluations))
        if self._writer is not None and evaluations:
            last = evaluations[-1]
            for name in ("loss", "validation", "rate", "examples_per_second"):
                value = getattr(last, name)
                if value is not None:
                    self._writer.add_scalar(f"phase {last.phase}/{name}", value, last.update)

    def close(self) -> None:
        """Let TensorBoard's writer go."""
        if self._writer is not None:
            self._writer.close()
