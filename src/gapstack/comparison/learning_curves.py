"""Learning curves of a run's fine-tuned members, as the trainings of its folds logged them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gapstack.types import Floats

if TYPE_CHECKING:
    from gapstack.runs.folder import RunFolder

_log = logging.getLogger(__name__)


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
            except (ValueError, KeyError) as damage:
                _log.warning("a learning curve is left out: %s: %s", path, damage)
    return tuple(curves)


def _read_curve(path: Path, name: str) -> LearningCurve:
    import pandas as pd  # slow to import

    lines = pd.read_json(path, lines=True, precise_float=True)
    lines = lines[["phase", "update", "loss", "validation"]].astype(np.float64)
    # a phase counts its own updates
    before = lines["update"].shift().where(lines["phase"].diff() > 0, 0.0).cumsum()
    columns = (lines["update"] + before, lines["loss"], lines["validation"])
    return LearningCurve(name, *(column.to_numpy() for column in columns))
