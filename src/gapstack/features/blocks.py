"""Hand-made features in blocks: what each candidate has on its own, and what the row shares.

A block gives every candidate the same columns, so exchanging A and B exchanges the candidates' columns and
changes nothing else. To add a block: write a module with a function ``Corpus -> Features`` and add its line to
``BLOCKS``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus
from gapstack.errors import MemberError
from gapstack.registry import Entry, Registry

BLOCKS: Registry[Callable[[Corpus], Features]] = Registry(
    "feature block",
    {
        "surface": Entry("gapstack.features.surface:surface_features", "words and names as they stand"),
        "cues": Entry("gapstack.features.cue_features:cue_features", "parse, discourse and binding"),
        "fill_the_gap": Entry(
            "gapstack.features.fill_the_gap:fill_the_gap_features", "the pronoun's place, filled"
        ),
        "positions": Entry("gapstack.features.positions:position_features", "where the mentions are"),
        "gender": Entry("gapstack.features.gender:gender_features", "the pronoun is feminine"),
    },
)
"""By name: functions that compute them."""


@dataclass(frozen=True)
class Features:
    """Features of n rows.

    Attributes
    ----------
    candidate_names, shared_names : tuple of str
        Names of the k columns that each candidate has and of the m columns of the row.
    candidates : float64 (n, 2, k)
        Candidate features, A first.
    shared : float64 (n, m)
        Features that exchanging A and B leaves alone.
    """

    candidate_names: tuple[str, ...]
    shared_names: tuple[str, ...]
    candidates: NDArray[np.float64]
    shared: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.shared)

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Features:
        """The features of some rows, by their numbers or a mask."""
        return Features(self.candidate_names, self.shared_names, self.candidates[rows], self.shared[rows])

    def swapped(self) -> Features:
        """The features of the same rows with A and B exchanged."""
        return Features(self.candidate_names, self.shared_names, self.candidates[:, ::-1], self.shared)


def features(corpus: Corpus, blocks: Sequence[str] = ("surface",)) -> Features:
    """Compute the named blocks, side by side in the order given.

    Raises
    ------
    MemberError
        If there is no such block, or no name is given.
    """
    if not blocks:
        raise MemberError(f"no feature block is named; there are: {', '.join(BLOCKS)}")
    parts = [BLOCKS[name](corpus) for name in blocks]
    return Features(
        candidate_names=tuple(name for part in parts for name in part.candidate_names),
        shared_names=tuple(name for part in parts for name in part.shared_names),
        candidates=np.concatenate([part.candidates for part in parts], axis=2),
        shared=np.concatenate([part.shared for part in parts], axis=1),
    )


def needs_parses(block: str) -> bool:
    """Whether a block is made from parses; UnknownNameError if there is no such block."""
    return bool(getattr(BLOCKS[block], "needs_parses", False))
