"""Reliability diagram: accuracy by confidence, the curve behind the calibration error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapstack.scoring.metrics import ECE_BINS, answers, normalise
from gapstack.types import Floats, Labels


class Reliability(NamedTuple):
    """Mean confidence, share right (both 0 to 1; NaN in an empty bin) and rows of each bin: (bins,) each."""

    confidence: Floats
    accuracy: Floats
    rows: NDArray[np.int64]


def reliability(labels: Labels, probabilities: ArrayLike, *, bins: int = ECE_BINS) -> Reliability:
    """Sort rows into equal-width bins of the top answer's probability (DeGroot and Fienberg 1983).

    The bins are those of :func:`~gapstack.scoring.metrics.expected_calibration_error`, which is the mean
    distance between the two columns, weighted by rows.
    """
    normalised = normalise(probabilities)
    top = normalised.max(axis=1)
    place = np.clip(np.ceil(top * bins).astype(int) - 1, 0, bins - 1)
    rows = np.bincount(place, minlength=bins)
    sums = (np.bincount(place, each, minlength=bins) for each in (top, answers(normalised) == labels))
    confidence, accuracy = (
        np.divide(total, rows, out=np.full(bins, np.nan), where=rows > 0) for total in sums
    )
    return Reliability(confidence, accuracy, rows)
