"""Learning curves of a run's fine-tuned members, as the trainings of its folds logged them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import TypedDict

from gapstack.data.cells import read_json
from gapstack.errors import DataError
from gapstack.types import Floats

if TYPE_CHECKING:
    from gapstack.runs import RunFolder

_log = logging.getLogger(__name__)


class _Line(TypedDict):
    phase: int
    update: int
    loss: float
    validation: float | None


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Losses of one training at its evaluations: (k,) each.

    ``updates`` counts all phases; ``training`` is the mean loss since the previous evaluation; ``validation`` is NaN
    without validation rows.
    """

    name: str
    updates: Floats
    training: Floats
    validation: Floats


def learning_curves(
    folder: RunFolder, label: str, folds: Sequence[int] | None = None
) -> tuple[LearningCurve, ...]:
    """Read the stored curves of a member's folds; damaged ones are left out with a warning."""
    curves = []
    places = (
        folder.member(label).glob("fold-*") if folds is None else (folder.fold(label, one) for one in folds)
    )
    for fold in sorted(places):
        paths = sorted(fold.glob("training/**/history.jsonl"))
        for number, path in enumerate(paths, 1):
            name = fold.name.replace("-", " ") + (f", training {number}" if len(paths) > 1 else "")
            try:
                curves.append(_read_curve(path, name))
            except DataError as damage:
                _log.warning("a learning curve is left out: %s", damage)
    return tuple(curves)


def _read_curve(path: Path, name: str) -> LearningCurve:
    lines: list[dict[str, Any]] = [
        read_json(line, path, number, _Line) for number, line in enumerate(path.read_bytes().splitlines(), 1)
    ]
    if not lines:
        raise DataError(f"{path} is empty", expected="a line for each evaluation of a training")
    phases, updates = (np.array([line[key] for line in lines]) for key in ("phase", "update"))
    # a phase counts its own updates
    before = np.cumsum(np.where(np.diff(phases, prepend=phases[0]), np.roll(updates, 1), 0))
    losses = [np.array([line[key] for line in lines], dtype=np.float64) for key in ("loss", "validation")]
    return LearningCurve(name, (updates + before).astype(np.float64), *losses)
