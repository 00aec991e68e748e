"""Feature blocks that need a parse: rows are parsed in batches, and cached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from gapstack.corpus import Corpus, Example
from gapstack.features.blocks import Features
from gapstack.text.grammar import Parse
from gapstack.text.memory import Memory, row_key
from gapstack.text.parses import parser_key, parses
from gapstack.types import Floats

Values = tuple[Floats, Floats]
"""Features of one row: (2, k) of A and B, and (m,) of the row."""
_CACHE_SIZE = 100_000  # rows of a block: about 40 MB for a short one, 150 MB for the longest


class ParseFeatures:
    """A block of features, computed from a row and its parse.

    Parameters
    ----------
    prefix : str
        Prefix of all feature names, unique to the block.
    candidate, shared : iterable of str
        Names of the k features of each name and of the m features of the row.
    values : callable
        Computes :data:`Values` of one row.
    """

    needs_parses = True

    def __init__(
        self,
        prefix: str,
        candidate: Iterable[str],
        shared: Iterable[str],
        values: Callable[[Example, Parse], Values],
    ):
        self._candidate = tuple(f"{prefix}_{name}" for name in candidate)
        self._shared = tuple(f"{prefix}_{name}" for name in shared)
        self._values = values
        self._cache: Memory[Values] = Memory(_CACHE_SIZE)

    def __call__(self, corpus: Corpus, parser: str | Path | None = None) -> Features:
        """Compute the features of every row (cached).

        Raises
        ------
        DataNotFoundError
            If a text has no stored parse and there is no parser.
        """
        pipeline = parser_key(parser)
        keys = [row_key(example, pipeline) for example in corpus]

        def compute(rows: list[int]) -> Iterator[Values]:
            for row, parse in zip(rows, parses([corpus[row].text for row in rows], parser), strict=True):
                yield self._values(corpus[row], parse)

        values = self._cache.fetch(keys, compute)
        return Features(
            self._candidate,
            self._shared,
            np.array([c for c, _ in values]).reshape(len(corpus), 2, len(self._candidate)),
            np.array([s for _, s in values]).reshape(len(corpus), len(self._shared)),
        )
