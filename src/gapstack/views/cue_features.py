"""The feature block ``cues``: what syntax and discourse say about each name, for the surface member.

The questions are in two tables, :data:`~gapstack.views.cue_name_features.CANDIDATE` for each name and
:data:`~gapstack.views.cue_row_features.SHARED` for the row. A row that the parse has no token for (there is no
such row in GAP) is NaN throughout.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus, Example
from gapstack.views.cue_name_features import CANDIDATE
from gapstack.views.cue_row_features import SHARED
from gapstack.views.discourse import Discourse
from gapstack.views.features import Features
from gapstack.views.grammar import Parse
from gapstack.views.memory import Memory, row_key
from gapstack.views.parses import parser_key, parses

Floats = NDArray[np.float64]


def _values(example: Example, parse: Parse) -> tuple[Floats, Floats]:
    """Both tables of one row: (2, k) and (m,)."""
    discourse = Discourse(example, parse)
    if discourse.at < 0 or (discourse.two.heads < 0).any():
        return np.full((2, len(CANDIDATE)), nan), np.full(len(SHARED), nan)
    candidates = [[float(ask(name)) for _, ask in CANDIDATE.values()] for name in discourse.names]
    return np.array(candidates), np.array([float(ask(discourse)) for _, ask in SHARED.values()])


_kept: Memory[tuple[Floats, Floats]] = Memory(100_000)  # about 150 MB


def cue_features(corpus: Corpus, parser: str | Path | None = None) -> Features:
    """Compute both tables for every row; rows seen before are remembered.

    Raises
    ------
    DataNotFoundError
        If a text has no stored parse and there is no parser.
    """
    pipeline = parser_key(parser)
    pipeline = parser_key(parser)
    asked = [row_key(example, pipeline) for example in corpus]

    def compute(rows: list[int]) -> Iterator[tuple[Floats, Floats]]:
        for row, parse in zip(rows, parses([corpus[row].text for row in rows], parser), strict=True):
            yield _values(corpus[row], parse)

    found = _kept.fetch(asked, compute)
    return Features(
        tuple(f"cue_{name}" for name in CANDIDATE),
        tuple(f"cue_{name}" for name in SHARED),
        np.array([c for c, _ in found]).reshape(len(corpus), 2, len(CANDIDATE)),
        np.array([s for _, s in found]).reshape(len(corpus), len(SHARED)),
    )
