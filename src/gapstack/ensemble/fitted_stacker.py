"""A stacker with its calibrator: members' base predictions of every fold in, one (n, 3) out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus
from gapstack.ensemble.calibration import Calibrator
from gapstack.ensemble.catalogue import create_calibrator, create_stacker
from gapstack.ensemble.nested import NestedStack, fit_nested
from gapstack.ensemble.stacker import EVIDENCE, Stacker
from gapstack.features.blocks import features
from gapstack.members.member import Probabilities, State
from gapstack.types import BasePredictions

_OF_CALIBRATOR = "calibrator."


class FittedStacker:
    """A stacker and the calibrator of its probabilities.

    Parameters
    ----------
    stacker : Stacker
    calibrator : Calibrator
    """

    def __init__(self, stacker: Stacker, calibrator: Calibrator):
        self.stacker, self.calibrator = stacker, calibrator

    @classmethod
    def fit(
        cls,
        kinds: Mapping[str, Stacker],
        calibrators: Sequence[str],
        base_predictions: BasePredictions,
        rows: Corpus,
        assignment: NDArray[np.int64],
    ) -> tuple[Self, NestedStack]:
        """Choose among stackers, and fit, on members' out-of-fold predictions (n, m, 3) of labelled rows."""
        reads = any(kind.READS_EVIDENCE for kind in kinds.values())
        nested = fit_nested(
            dict(kinds),
            base_predictions,
            rows.labels,
            assignment,
            calibrators=calibrators,
            evidence=features(rows, EVIDENCE) if reads else None,
            pages=rows.groups,
            genders=rows.genders,
        )
        return cls(nested.stacker, nested.calibrator), nested

    def predict_proba(self, by_fold: Sequence[BasePredictions], rows: Corpus) -> Probabilities:
        """Give (n, 3): the mean over folds of the calibrated stack of each fold's predictions (n, m, 3)."""
        evidence = features(rows, EVIDENCE) if self.stacker.READS_EVIDENCE else None
        if not self.stacker.LEARNS:  # one mean over members and folds, as of logits
            by_fold = [np.concatenate(by_fold, axis=1)]
        stacked = [
            self.calibrator.apply(self.stacker.predict_proba(one, evidence), rows.genders) for one in by_fold
        ]
        mean: Probabilities = np.mean(stacked, axis=0)
        return mean

    def state(self) -> State:
        """Give what was learned."""
        state = self.stacker.state()
        calibrator = {f"{_OF_CALIBRATOR}{k}": v for k, v in self.calibrator.state().arrays.items()}
        return State(state.arrays | calibrator, state.texts, state.values)

    @classmethod
    def restored(cls, stacker: str, settings: Mapping[str, Any], calibrator: str, state: State) -> Self:
        """Make one of the names of its two steps, the stacker's settings, and what :meth:`state` gave."""
        self = cls(create_stacker(stacker, **settings), create_calibrator(calibrator))
        own = {k: v for k, v in state.arrays.items() if not k.startswith(_OF_CALIBRATOR)}
        self.stacker.restore(State(own, state.texts, state.values))
        self.calibrator.restore(
            State({k.removeprefix(_OF_CALIBRATOR): v for k, v in state.arrays.items() if k not in own})
        )
        return self
