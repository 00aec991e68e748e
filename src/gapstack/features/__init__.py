"""Hand-made features in blocks, over text and parses, for trees and heads: columns of each candidate and of the row.

Both candidates have the same columns, so exchanging A and B exchanges the candidates' columns and changes nothing else.
To add a block, write a module with a function ``Corpus -> Features`` (:class:`ParseFeatures` if it needs parses), and
add its line to ``BLOCKS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from gapstack.cache import Memory, row_key
from gapstack.data import Corpus, Example, Gender
from gapstack.language.grammar import Parse
from gapstack.language.parses import PARSER, parser_key, parses
from gapstack.registry import Entry, Registry
from gapstack.settings import OneOf, Reads
from gapstack.types import Floats

BLOCKS: Registry[Callable[[Corpus], Features]] = Registry(
    "feature block",
    {
        "surface": Entry(
            "gapstack.features.surface_features:surface_features", "words and names as they stand"
        ),
        "cues": Entry("gapstack.features.cue_features:cue_features", "parse, discourse and binding"),
        "fill_the_gap": Entry(
            "gapstack.features.published:fill_the_gap_features", "the pronoun's place, filled"
        ),
        "positions": Entry("gapstack.features.published:position_features", "where the mentions are"),
        "gender": Entry("gapstack.features:gender_features", "the pronoun is feminine"),
    },
)
"""Functions that compute a block, by name."""
BlockName = Annotated[str, OneOf(BLOCKS)]


def _parser_of(blocks: Sequence[str]) -> str:
    return PARSER.digest(None) if any(map(needs_parses, blocks)) else ""


BLOCKS_READ = Reads(_parser_of, recorded_as="parser", by_content=False)
BlockNames = Annotated[Sequence[BlockName], BLOCKS_READ]
"""A setting for :func:`features`."""

Values = tuple[Floats, Floats]  # features of one row: (2, k) of the candidates and (m,) of the row


@dataclass(frozen=True)
class Features:
    """Features of n rows."""

    candidate_names: tuple[str, ...]
    shared_names: tuple[str, ...]
    candidates: Floats
    """Features of each candidate, A first, (n, 2, k)."""
    shared: Floats
    """Features of the row, invariant to exchanging A and B, (n, m)."""

    def __len__(self) -> int:
        return len(self.shared)

    @classmethod
    def of_rows(cls, candidate: Iterable[str], shared: Iterable[str], values: Sequence[Values]) -> Features:
        """Stack the values of n rows, 0 or more."""
        candidate, shared = tuple(candidate), tuple(shared)
        return cls(
            candidate,
            shared,
            np.array([c for c, _ in values], dtype=np.float64).reshape(len(values), 2, len(candidate)),
            np.array([s for _, s in values], dtype=np.float64).reshape(len(values), len(shared)),
        )

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Features:
        """Features of some rows, by indices or a mask."""
        return Features(self.candidate_names, self.shared_names, self.candidates[rows], self.shared[rows])

    def swapped(self) -> Features:
        """Features with A and B exchanged."""
        return Features(self.candidate_names, self.shared_names, self.candidates[:, ::-1], self.shared)


def features(corpus: Corpus, blocks: Sequence[str] = ("surface",)) -> Features:
    """Compute blocks and concatenate their columns in order; UnknownNameError if a block does not exist."""
    empty = Features((), (), np.empty((len(corpus), 2, 0)), np.empty((len(corpus), 0)))
    parts = [empty, *(BLOCKS[name](corpus) for name in blocks)]
    return Features(
        candidate_names=tuple(name for part in parts for name in part.candidate_names),
        shared_names=tuple(name for part in parts for name in part.shared_names),
        candidates=np.concatenate([part.candidates for part in parts], axis=2),
        shared=np.concatenate([part.shared for part in parts], axis=1),
    )


def needs_parses(block: str) -> bool:
    """True if a block needs parses; UnknownNameError if it does not exist."""
    return bool(getattr(BLOCKS[block], "needs_parses", False))


_CACHE_SIZE = 20_000  # rows of a block: about 8 MB for a short one, 30 MB for the longest


class ParseFeatures:
    """A feature block computed from a row and its parse, in batches and cached."""

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
        """Compute the features of every row; DataNotFoundError if a text has no stored parse and no parser is found."""
        pipeline = parser_key(parser)
        keys = [row_key(example, pipeline) for example in corpus]

        def compute(rows: list[int]) -> Iterator[Values]:
            for row, parse in zip(rows, parses([corpus[row].text for row in rows], parser), strict=True):
                yield self._values(corpus[row], parse)

        return Features.of_rows(self._candidate, self._shared, self._cache.fetch(keys, compute))


_FEMININE = {Gender.FEMININE: 1.0, Gender.MASCULINE: 0.0}


def gender_features(corpus: Corpus) -> Features:
    """The block ``gender``: 1 for a feminine pronoun, 0 for a masculine one, 0.5 for others (Abzaliev 2019)."""
    shared = np.array([[_FEMININE.get(example.gender, 0.5)] for example in corpus]).reshape(-1, 1)
    return Features((), ("gender_feminine",), np.empty((len(corpus), 2, 0)), shared)
