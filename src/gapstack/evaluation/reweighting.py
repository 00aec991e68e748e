"""Weights that balance feminine and masculine rows by what makes a row hard.

GAP's feminine and masculine rows differ in the number of names and the rank of the right one by distance, so that
systems that know nothing of gender score differently on the two. The remedy of Kocijan, Camburu and Lukasiewicz (2020,
"The Gap on GAP") is a linear program: non-negative weights with the same sum for both genders, overall and for each
value of each attribute, that are otherwise as equal as possible, which means the smallest sum of max(w_i, w_j) over
all pairs of a gender. Rows that agree in gender and attributes can have equal weights without loss, since the
objective is convex, so it is enough to weigh some hundred such cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gapstack.data import Gender
from gapstack.errors import DataError
from gapstack.types import Bools, Floats

_SIDES = (Gender.MASCULINE, Gender.FEMININE)


def balancing_weights(
    genders: NDArray[np.str_], attributes: Mapping[str, NDArray[np.int64]], eligible: Bools
) -> Floats:
    """Weights (n,), 0 outside of ``eligible`` and 1 on average within.

    For each value of each of ``attributes``, (n,) each, both genders weigh the same. Raises DataError if there are no
    such weights, as where the genders share no value of an attribute.
    """
    rows = np.flatnonzero(eligible & np.isin(genders, [side.value for side in _SIDES]))
    keys = np.column_stack(
        [genders[rows] == Gender.FEMININE.value, *(values[rows] for values in attributes.values())]
    ).astype(np.int64)
    cells, place, sizes = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    feminine = cells[:, 0] == 1
    if not len(rows) or feminine.all() or not feminine.any():
        raise DataError("there are no rows of both genders to weigh", expected="some of each")
    weights = np.zeros(len(genders))
    weights[rows] = _cell_weights(cells, sizes, feminine, len(rows))[place.ravel()]
    return weights


def _cell_weights(cells: NDArray[np.int64], sizes: NDArray[np.int64], feminine: Bools, total: int) -> Floats:
    """Solve the program for the cells: their weights come first among the variables, then a maximum per pair."""
    from scipy.optimize import linprog  # slow to import, and most of scoring needs none of it
    from scipy.sparse import coo_matrix

    count = len(cells)
    pairs = np.array(
        [pair for side in (feminine, ~feminine) for pair in combinations(np.flatnonzero(side), 2)],
        dtype=np.int64,
    ).reshape(-1, 2)
    # within a cell all pairs have the cell's weight for their maximum
    cost = np.concatenate([sizes * (sizes - 1) / 2, sizes[pairs[:, 0]] * sizes[pairs[:, 1]]])
    # w_c - max <= 0 and w_d - max <= 0 for each pair
    row = np.arange(2 * len(pairs))
    above = coo_matrix(
        (
            np.concatenate([np.ones(len(row)), -np.ones(len(row))]),
            (
                np.concatenate([row, row]),
                np.concatenate([pairs.T.ravel(), count + np.tile(np.arange(len(pairs)), 2)]),
            ),
        ),
        shape=(len(row), count + len(pairs)),
    )
    signed = np.where(feminine, sizes, -sizes)
    equal = [sizes, signed]
    for column in cells[:, 1:].T:
        equal += [np.where(column == value, signed, 0) for value in np.unique(column)]
    equalities = np.zeros((len(equal), count + len(pairs)))
    equalities[:, :count] = equal
    solved = linprog(  # type: ignore[call-overload]  # the stubs know no sparse matrices
        cost / max(cost.max(), 1.0),
        A_ub=above.tocsr(),
        b_ub=np.zeros(len(row)),
        A_eq=equalities,
        b_eq=np.array([total, *np.zeros(len(equal) - 1)]),
        bounds=(0, None),
        method="highs-ipm",  # ten times as fast here as the simplex, to the same corner
    )
    if not solved.success:
        raise DataError(
            f"no weights make the genders alike ({solved.message})",
            expected="genders that share some value of every attribute",
        )
    return np.clip(solved.x[:count], 0, None)
