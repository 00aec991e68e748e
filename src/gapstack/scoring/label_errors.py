"""Likely label errors, by predictions of models that were not trained on the labels (confident learning)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapstack.errors import DataError
from gapstack.scoring.metrics import normalise
from gapstack.types import Floats, Labels


def label_quality(labels: Labels, probabilities: ArrayLike) -> Floats:
    """Quality of each label, (n,) from 0 to 1: cleanlab's self-confidence, the probability of the label.

    Northcutt, Jiang and Chuang 2021. The probabilities must be from models that were not trained on these labels.
    """
    from cleanlab.rank import get_label_quality_scores  # brings scikit-learn along: a second that few need

    quality: Floats = get_label_quality_scores(labels, normalise(probabilities), method="self_confidence")
    return quality


def likely_errors(labels: Labels, probabilities: ArrayLike) -> NDArray[np.int64]:
    """Rows off the diagonal of the confident joint, the least trusted first.

    A row counts where another class is given more than that class's rows are given on average (Northcutt et al.
    2021, section 3.1), and would win without its label.
    """
    from cleanlab.filter import find_label_issues

    rows: NDArray[np.int64] = find_label_issues(
        labels,
        normalise(probabilities),
        filter_by="confident_learning",
        return_indices_ranked_by="self_confidence",
        n_jobs=1,
    )
    return rows


def precision_at(k: int, ranked: Sequence[str], wrong: Collection[str]) -> float:
    """Share of the first ``k`` ids (of all, where there are fewer) that are known to be wrong, 0 to 1.

    Raises DataError if nothing is ranked.
    """
    first = list(ranked)[:k]
    if not first or k < 1:
        raise DataError("there is nothing to take a share of", expected="some ids, and a k of 1 or more")
    return float(np.mean([name in wrong for name in first]))
