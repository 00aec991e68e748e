"""Array types by element, and by what the package's arrays hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]
Bools = NDArray[np.bool_]
Strings = NDArray[np.str_]
Matrix = NDArray[Any]  # (rows, dimensions) of any floating type
Probabilities = Floats
"""(n, 3): columns A, B, NEITHER; rows sum to 1; in the order of the examples given."""
BasePredictions = Floats  # (n, m, 3): probabilities of m members
Labels = Ints  # (n,): 0 A, 1 B, 2 NEITHER
Rows = Ints  # (k,): positions of rows
