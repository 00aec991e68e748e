"""The feature block ``cues``: what syntax and discourse say about each name, for the surface member.

The questions are in two tables, :data:`~gapstack.features.cue_name_features.CANDIDATE` for each name and
:data:`~gapstack.features.cue_row_features.SHARED` for the row. A row that the parse has no token for (there is no
such row in GAP) is NaN throughout.
"""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Example
from gapstack.features.cue_name_features import CANDIDATE
from gapstack.features.cue_row_features import SHARED
from gapstack.features.parse_features import ParseFeatures
from gapstack.text.discourse import Discourse
from gapstack.text.grammar import Parse

Floats = NDArray[np.float64]


def _values(example: Example, parse: Parse) -> tuple[Floats, Floats]:
    """Both tables of one row: (2, k) and (m,)."""
    discourse = Discourse(example, parse)
    if discourse.at < 0 or (discourse.two.heads < 0).any():
        return np.full((2, len(CANDIDATE)), nan), np.full(len(SHARED), nan)
    candidates = [[float(ask(name)) for _, ask in CANDIDATE.values()] for name in discourse.names]
    return np.array(candidates), np.array([float(ask(discourse)) for _, ask in SHARED.values()])


cue_features = ParseFeatures("cue", CANDIDATE, SHARED, _values)
"""What syntax and discourse say; see :class:`~gapstack.features.parse_features.ParseFeatures`."""
