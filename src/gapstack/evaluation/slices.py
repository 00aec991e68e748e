"""Scores on parts of the data, and the gap between the genders on each, with intervals.

A dimension (distance, say) gives every row one value ("near"); the rows with that value are a slice. Pages are
resampled over all rows, so a slice's number of rows varies from replicate to replicate as it would in new data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gapstack.data import Gender
from gapstack.evaluation.metrics import f1_percent
from gapstack.evaluation.resampling import (
    REPLICATES,
    Groups,
    Pages,
    metric_columns,
    page_sums,
    percentiles,
    resamples,
)
from gapstack.types import Floats, Matrix, Strings

SLICE_SCORES = ("logloss", "accuracy", "f1_overall", "f1_masculine", "f1_feminine", "f1_gap", "logloss_gap")
"""Scores of a slice; the gaps are feminine minus masculine, so a negative F1 gap is against feminine pronouns."""

_BLOCK = 500  # replicates at a time


@dataclass(frozen=True, eq=False)
class Slice:
    """One part of the data: rows with this value of a dimension, and how many of them are of either gender.

    ``scores`` holds value, low and high, (m, 3), of each of :data:`SLICE_SCORES` by member; NaN without a value.
    """

    dimension: str
    value: str
    rows: int
    masculine: int
    feminine: int
    scores: dict[str, Floats]


def slice_scores(
    groups: Groups,
    genders: Strings,
    members: Mapping[str, Floats],
    dimensions: Mapping[str, Strings],
    *,
    order: Mapping[str, tuple[str, ...]] | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> list[Slice]:
    """Score every member on every slice.

    ``groups`` and ``genders`` (n,) are of the corpus, ``members`` from :func:`~gapstack.evaluation.contributions`,
    ``dimensions`` have the value of each row, (n,); an empty one leaves the row out. ``order`` lists values in their
    order by dimension; others follow alphabetically.
    """
    pages = Pages(groups)
    table = np.stack(list(members.values()), axis=1)
    sums = np.concatenate([table[..., metric_columns(name)] for name in SLICE_SCORES[:3]], -1)
    # number of rows, then contributions of each member; of all rows, masculine and feminine ones: (n, 3, columns)
    rows = np.concatenate([np.ones((len(groups), 1)), sums.reshape(len(groups), -1)], axis=1)
    sides = [genders == gender.value for gender in (Gender.MASCULINE, Gender.FEMININE)]
    parts = np.stack([np.ones(len(groups)), *sides], axis=1)[:, :, None] * rows[:, None]
    # all draws fit into memory as counts; single precision is plenty for sums of a few thousand rows
    draws = np.concatenate([block.astype(np.uint16) for block in resamples(pages.count, replicates, seed)])
    result: list[Slice] = []
    for name, values in dimensions.items():
        ordered = dict.fromkeys([*(order or {}).get(name, ()), *np.unique(values).tolist()])
        for value in (value for value in ordered if value and value in values):
            here = np.flatnonzero(values == value)
            touched, place = np.unique(pages.place[here], return_inverse=True)
            by_page = page_sums(place, parts[here].reshape(len(here), -1))
            single = by_page.astype(np.float32)
            blocks = [
                _scores(draws[start : start + _BLOCK, touched].astype(np.float32) @ single)
                for start in range(0, replicates, _BLOCK)
            ]
            whole = by_page.sum(axis=0, keepdims=True)
            points = _scores(whole)
            ends = (
                percentiles(np.concatenate(blocks))
                if pages.count > 1
                else np.full((2, *points.shape[1:]), np.nan)
            )
            # (m, 3, scores)
            intervals = np.concatenate([points, ends]).swapaxes(0, 1)
            scores = {key: intervals[..., number] for number, key in enumerate(SLICE_SCORES)}
            n, masculine, feminine = (int(count) for count in whole.reshape(3, -1)[:, 0])
            result.append(Slice(name, value, n, masculine, feminine, scores))
    return result


def _scores(totals: Matrix) -> Floats:
    """Scores (replicates, members, scores) from sums (replicates, 3 * (1 + members * 5))."""
    by_part = totals.astype(np.float64).reshape(len(totals), 3, -1)
    rows, sums = by_part[:, :, :1], by_part[:, :, 1:].reshape(len(totals), 3, -1, 5)
    n = np.where(rows > 0, rows, np.nan)
    losses, hits = sums[..., 0] / n, sums[..., 1] / n
    # without a name that is right there is nothing to find, and no F1
    f1 = f1_percent(sums[..., 2], sums[..., 3], sums[..., 4])
    f1 = np.where(sums[..., 2] + sums[..., 4] > 0, f1, np.nan)
    gaps = f1[:, 2] - f1[:, 1], losses[:, 2] - losses[:, 1]
    return np.stack([losses[:, 0], hits[:, 0], f1[:, 0], f1[:, 1], f1[:, 2], *gaps], axis=-1)
