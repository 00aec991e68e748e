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

from gapstack.data import Gender
from gapstack.errors import DataError
from gapstack.types import Bools, Floats, Ints, Strings


def balancing_weights(genders: Strings, attributes: Mapping[str, Ints], eligible: Bools) -> Floats:
    """Weights (n,), 0 outside of ``eligible`` and 1 on average within.

    For each value of each of ``attributes``, (n,) each, both genders weigh the same. Raises DataError if there are no
    such weights, as where the genders share no value of an attribute.
    """
    from scipy.optimize import linprog  # slow to import
    from scipy.sparse import coo_matrix

    rows = np.flatnonzero(eligible & np.isin(genders, [Gender.MASCULINE.value, Gender.FEMININE.value]))
    is_feminine = genders[rows] == Gender.FEMININE.value
    keys = np.column_stack([is_feminine, *(values[rows] for values in attributes.values())]).astype(np.int64)
    if len(np.unique(is_feminine)) < 2:
        raise DataError("there are no rows of both genders to weigh", expected="some of each")
    cells, place, sizes = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    feminine, count = cells[:, 0] == 1, len(cells)
    # variables of the program: the weights of the cells, then a maximum for each pair of cells of a gender
    sides = (np.flatnonzero(feminine), np.flatnonzero(~feminine))
    pairs = np.array([p for side in sides for p in combinations(side, 2)], dtype=np.int64).reshape(-1, 2)
    # within a cell all pairs have the cell's weight for their maximum
    cost = np.concatenate([sizes * (sizes - 1) / 2, sizes[pairs[:, 0]] * sizes[pairs[:, 1]]])
    # w_c - max <= 0 and w_d - max <= 0 for each pair
    row = np.arange(2 * len(pairs))
    columns = np.concatenate([pairs.T.ravel(), count + np.tile(np.arange(len(pairs)), 2)])
    above = coo_matrix(
        (np.repeat([1.0, -1.0], len(row)), (np.tile(row, 2), columns)), shape=(len(row), len(cost))
    )
    signed = np.where(feminine, sizes, -sizes)
    equal = [sizes, signed]
    for column in cells[:, 1:].T:
        equal += [np.where(column == value, signed, 0) for value in np.unique(column)]
    solved = linprog(  # type: ignore[call-overload]  # the stubs know no sparse matrices
        cost / max(cost.max(), 1.0),
        A_ub=above.tocsr(),
        b_ub=np.zeros(len(row)),
        A_eq=np.pad(equal, ((0, 0), (0, len(pairs)))),
        b_eq=np.array([len(rows), *np.zeros(len(equal) - 1)]),
        bounds=(0, None),
        method="highs-ipm",  # ten times as fast here as the simplex, to the same corner
    )
    if not solved.success:
        raise DataError(
            f"no weights make the genders alike ({solved.message})",
            expected="genders that share some value of every attribute",
        )
    weights = np.zeros(len(genders))
    weights[rows] = np.clip(solved.x[:count], 0, None)[place.ravel()]
    return weights
