"""Scores on parts of the data, and the gap between the genders on each, with intervals.

A dimension (distance, say) gives every row one value ("near"); the rows with that value are a slice. Pages are
resampled over all rows, so a slice's number of rows varies from replicate to replicate as it would in new data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gapstack.data import Gender
from gapstack.errors import MismatchError
from gapstack.evaluation.bootstrap import metric_columns
from gapstack.evaluation.gap import f1_percent
from gapstack.evaluation.resampling import REPLICATES, Pages, percentiles, resamples
from gapstack.types import Floats, Matrix

SLICE_SCORES = ("logloss", "accuracy", "f1_overall", "f1_masculine", "f1_feminine", "f1_gap", "logloss_gap")
"""Scores of a slice; the gaps are feminine minus masculine, so a negative F1 gap is against feminine pronouns."""

_GENDERS = (Gender.MASCULINE, Gender.FEMININE)
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
    groups: NDArray[np.str_],
    genders: NDArray[np.str_],
    members: Mapping[str, Floats],
    dimensions: Mapping[str, NDArray[np.str_]],
    *,
    order: Mapping[str, tuple[str, ...]] | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> list[Slice]:
    """Score every member on every slice.

    Raises MismatchError if a dimension does not have one value for each row.

    Parameters
    ----------
    groups, genders : (n,) arrays
        Of the corpus.
    members : mapping of name to (n, columns) array
        From :func:`~gapstack.evaluation.contributions`.
    dimensions : mapping of name to (n,) array of str
        Value of each row; an empty one leaves the row out.
    order : mapping of dimension to its values, optional
        Order of the values; others follow alphabetically.
    replicates, seed : int
    """
    pages = Pages.of(groups)
    table = np.stack(list(members.values()), axis=1)
    sums = np.concatenate(
        [table[..., metric_columns(name)] for name in ("logloss", "accuracy", "f1_overall")], -1
    )
    # number of rows, then contributions of each member; for all rows, masculine and feminine ones: (n, columns)
    rows = np.concatenate([np.ones((len(groups), 1)), sums.reshape(len(groups), -1)], axis=1)
    parts = np.stack([np.ones(len(groups)), *(genders == gender.value for gender in _GENDERS)], axis=1)
    added = (parts[:, :, None] * rows[:, None]).reshape(len(groups), -1)
    # all draws fit into memory as counts; single precision is plenty for sums of a few thousand rows
    draws = np.concatenate([block.astype(np.uint16) for block in resamples(pages.count, replicates, seed)])
    result: list[Slice] = []
    for name, values in dimensions.items():
        if values.shape != groups.shape:
            raise MismatchError(f"dimension {name!r} has {values.shape} values for {len(groups)} rows")
        ordered = dict.fromkeys([*(order or {}).get(name, ()), *np.unique(values).tolist()])
        for value in (value for value in ordered if value and value in values):
            here = np.flatnonzero(values == value)
            touched, place = np.unique(pages.place[here], return_inverse=True)
            by_page = Pages(place, len(touched)).sums(added[here])
            single = by_page.astype(np.float32)
            samples = np.concatenate(
                [
                    _scores(draws[start : start + _BLOCK, touched].astype(np.float32) @ single)
                    for start in range(0, replicates, _BLOCK)
                ]
            )
            whole = by_page.sum(axis=0, keepdims=True)
            n, masculine, feminine = (int(count) for count in whole.reshape(len(parts[0]), -1)[:, 0])
            # (3, m, scores)
            interval = percentiles(samples) if pages.count > 1 else np.full((2, *samples.shape[1:]), np.nan)
            ends = np.concatenate([_scores(whole), interval])
            scores = {key: ends[..., number].T for number, key in enumerate(SLICE_SCORES)}
            result.append(Slice(name, value, n, masculine, feminine, scores))
    return result


def _scores(totals: Matrix) -> Floats:
    """Scores (replicates, members, scores) from sums (replicates, parts * (1 + members * 5))."""
    by_part = totals.astype(np.float64).reshape(len(totals), 1 + len(_GENDERS), -1)
    rows = by_part[:, :, :1]
    sums = by_part[:, :, 1:].reshape(*by_part.shape[:2], -1, 5)
    n = np.where(rows > 0, rows, np.nan)
    losses, hits = sums[..., 0] / n, sums[..., 1] / n
    # without a name that is right there is nothing to find, and no F1
    f1 = f1_percent(sums[..., 2], sums[..., 3], sums[..., 4])
    f1 = np.where(sums[..., 2] + sums[..., 4] > 0, f1, np.nan)
    gaps = f1[:, 2] - f1[:, 1], losses[:, 2] - losses[:, 1]
    return np.stack([losses[:, 0], hits[:, 0], f1[:, 0], f1[:, 1], f1[:, 2], *gaps], axis=-1)
