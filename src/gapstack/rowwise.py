"""Answers that no bit of which hangs on the other rows of a call.

Which instructions multiply a row, and so its last bits, depends on the shape of the whole table: libraries of linear
algebra treat the last few rows of a table, and tables of few rows, in their own way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROWS = 256


def rowwise(function: Callable[..., NDArray[Any]], *tables: NDArray[Any] | None) -> NDArray[Any]:
    """Apply a function of tables to 256 rows at a time; the last rows are repeated until they are as many.

    Parameters
    ----------
    function : callable
        Of arrays with one row for each example to an array with one row for each example.
    *tables : arrays (n, ...) or None
        What it is given; None stays None.

    Returns
    -------
    (n, ...) array
    """
    count = len(next(table for table in tables if table is not None))
    answers = []
    for start in range(0, max(count, 1), _ROWS):
        rows = np.arange(start, min(start + _ROWS, count))
        filled = np.resize(rows, _ROWS) if count else rows
        given = [None if table is None else table[filled] for table in tables]
        answers.append(function(*given)[: len(rows)])
    return np.concatenate(answers)
