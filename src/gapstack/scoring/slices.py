"""Scores on parts of the data, and the gap between the genders on each, with intervals.

A dimension (distance, say) gives every row one value ("near"); the rows with that value are a slice. Pages are
resampled over all rows, so a slice's number of rows varies from replicate to replicate as it would in new data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Gender
from gapstack.errors import MismatchError
from gapstack.scoring.gap import f1_percent
from gapstack.scoring.intervals import COUNTS, HIT, LOSS
from gapstack.scoring.resampling import REPLICATES, Pages, resamples
from gapstack.types import Floats

SLICE_SCORES = ("logloss", "accuracy", "f1_overall", "f1_masculine", "f1_feminine", "f1_gap", "logloss_gap")
"""What a slice has: the gaps are feminine minus masculine, so a negative F1 gap is against feminine pronouns."""

# What a row adds for a member, each for all rows, masculine ones and feminine ones: loss, hit, tp, fp, fn.
_PARTS, _SUMS = 3, 5
_BLOCK = 500  # replicates at a time


@dataclass(frozen=True, eq=False)
class Slice:
    """One part of the data.

    Attributes
    ----------
    dimension, value : str
        What it is a part by, and which.
    rows, masculine, feminine : int
        How many rows it has, and of either gender.
    scores : dict of str to (m, 3) float64
        Value, low and high of each of :data:`SLICE_SCORES` by member; NaN where there is no value.
    """

    dimension: str
    value: str
    rows: int
    masculine: int
    feminine: int
    scores: dict[str, Floats]


def slice_scores(
    groups: NDArray[np.str_],
    genders: NDArray[np.str_],
    members: Mapping[str, Floats],
    dimensions: Mapping[str, NDArray[np.str_]],
    *,
    order: Mapping[str, tuple[str, ...]] | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
    level: float = 0.95,
) -> list[Slice]:
    """Score every member on every slice.

    Raises MismatchError if a dimension has not one value for each row.

    Parameters
    ----------
    groups, genders : (n,) arrays
        Of the corpus.
    members : mapping of name to (n, columns) array
        From :func:`~gapstack.scoring.contributions`.
    dimensions : mapping of name to (n,) array of str
        Value of each row; an empty one leaves the row out.
    order : mapping of dimension to its values, optional
        In what order values come; alphabetical for a dimension that it does not name.
    replicates, seed, level
        Of the intervals.
    """
    pages = Pages.of(groups)
    parts = np.stack(
        [np.ones(len(groups)), *(genders == g.value for g in (Gender.MASCULINE, Gender.FEMININE))]
    )
    table = np.stack(list(members.values()), axis=1)
    sums = np.concatenate([table[..., [LOSS, HIT]], table[..., COUNTS["overall"]]], axis=-1)
    # (n, parts * (1 + members * sums)): how many rows, then what each adds
    rows = np.concatenate([np.ones((len(groups), 1)), sums.reshape(len(groups), -1)], axis=1)
    added = (parts.T[:, :, None] * rows[:, None]).reshape(len(groups), -1)

    parts_of_data: list[tuple[str, str, NDArray[np.int64], Floats]] = []
    for name, values in dimensions.items():
        if values.shape != groups.shape:
            raise MismatchError(f"dimension {name!r} has {values.shape} values for {len(groups)} rows")
        present = [value for value in np.unique(values).tolist() if value]
        first = [value for value in (order or {}).get(name, ()) if value in present]
        for value in [*first, *(value for value in present if value not in first)]:
            here = np.flatnonzero(values == value)
            touched, place = np.unique(pages.place[here], return_inverse=True)
            by_page = Pages(place, len(touched)).sums(added[here])
            parts_of_data.append((name, value, touched, by_page))
    # all draws fit into memory, as counts, where the scores of all slices do not; single precision is plenty for sums
    # of a few thousand rows, and twice as fast
    draws = np.concatenate([b.astype(np.uint16) for b in resamples(pages.count, replicates, seed)])
    result: list[Slice] = []
    for name, value, touched, by_page in parts_of_data:
        whole, single = by_page.sum(axis=0, keepdims=True), by_page.astype(np.float32)
        blocks = [
            _scores((draws[start : start + _BLOCK, touched].astype(np.float32) @ single).astype(np.float64))
            for start in range(0, replicates, _BLOCK)
        ]
        points = _scores(whole)
        n, masculine, feminine = (int(count) for count in whole.reshape(_PARTS, -1)[:, 0])
        scores = {
            key: _with_interval(points[key][0], np.concatenate([block[key] for block in blocks]), level)
            for key in SLICE_SCORES
        }
        result.append(Slice(name, value, n, masculine, feminine, scores))
    return result


def _scores(totals: Floats) -> dict[str, Floats]:
    """Scores, (replicates, members) each, of (replicates, parts * (1 + members * sums)) totals."""
    by_part = totals.reshape(len(totals), _PARTS, -1)
    rows = by_part[:, :, :1]
    sums = by_part[:, :, 1:].reshape(len(totals), _PARTS, -1, _SUMS)
    n = np.where(rows > 0, rows, np.nan)
    losses, hits = sums[..., 0] / n, sums[..., 1] / n
    f1 = f1_percent(sums[..., 2], sums[..., 3], sums[..., 4])
    # without a name that is right there is nothing to find, and no F1
    f1 = np.where(sums[..., 2] + sums[..., 4] > 0, f1, np.nan)
    return {
        "logloss": losses[:, 0],
        "accuracy": hits[:, 0],
        "f1_overall": f1[:, 0],
        "f1_masculine": f1[:, 1],
        "f1_feminine": f1[:, 2],
        "f1_gap": f1[:, 2] - f1[:, 1],
        "logloss_gap": losses[:, 2] - losses[:, 1],
    }


def _with_interval(points: Floats, samples: Floats, level: float) -> Floats:
    """(m, 3) value, low, high; replicates without a value are left out."""
    ends = np.full((2, len(points)), np.nan)
    if np.isnan(samples).any():
        some = ~np.isnan(samples).all(axis=0)
        ends[:, some] = np.nanquantile(samples[:, some], [(1 - level) / 2, (1 + level) / 2], axis=0)
    else:
        ends = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return np.stack([points, *ends], axis=1)
