"""The feature block ``cues``: syntactic and discourse features, for the surface member.

Two tables define them, :data:`~gapstack.features.cue_name_features.CANDIDATE` for each name and
:data:`~gapstack.features.cue_row_features.SHARED` for the row. Rows whose mentions have no token in the parse
(there are none in GAP) are NaN.
"""

from __future__ import annotations

from math import nan

import numpy as np

from gapstack.corpus import Example
from gapstack.features.cue_name_features import CANDIDATE
from gapstack.features.cue_row_features import SHARED
from gapstack.features.parse_features import ParseFeatures
from gapstack.text.discourse import Discourse
from gapstack.text.grammar import Parse
from gapstack.types import Floats


def _values(example: Example, parse: Parse) -> tuple[Floats, Floats]:
    """Both tables of one row: (2, k) and (m,)."""
    discourse = Discourse(example, parse)
    if discourse.at < 0 or (discourse.two.heads < 0).any():
        return np.full((2, len(CANDIDATE)), nan), np.full(len(SHARED), nan)
    candidates = [[float(feature(name)) for _, feature in CANDIDATE.values()] for name in discourse.names]
    return np.array(candidates), np.array([float(feature(discourse)) for _, feature in SHARED.values()])


cue_features = ParseFeatures("cue", CANDIDATE, SHARED, _values)
"""See :class:`~gapstack.features.parse_features.ParseFeatures`."""
