"""How much a member computes: operations, learned parameters and memory, estimated before anything is loaded."""

from __future__ import annotations

from dataclasses import dataclass

CPU_BATCH = 1024
"""Pieces in one forward pass on a CPU."""


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Rows that a fold's fit learns from and predicts, all rows of a run, and their mean length in word pieces."""

    fitted: float
    predicted: float
    all: float
    pieces: float


@dataclass(frozen=True, slots=True)
class Work:
    """An estimate: multiplications and additions once for all folds (``shared``) and in each (``fold``).

    ``learned`` is the number of parameters that one fold's fit learns, ``models`` of how many networks, ``memory`` in
    bytes.
    """

    shared: float = 0.0
    fold: float = 0.0
    learned: int = 0
    models: int = 1
    memory: float = 0.0

    def and_then(self, other: Work) -> Work:
        """One after the other."""
        return Work(
            self.shared + other.shared,
            self.fold + other.fold,
            self.learned + other.learned,
            max(self.models, other.models),
            max(self.memory, other.memory),
        )
