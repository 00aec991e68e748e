"""What every debiaser is."""

from __future__ import annotations

from abc import ABC, abstractmethod

from gapstack.corpus.word_lists import Lists
from gapstack.vectors.static_vectors import Vectors


class Debiaser(ABC):
    """Moves the words of a space; ``name`` is what the command line calls it.

    Settings are constructor arguments whose defaults are the paper's.
    """

    name: str
    paper: str

    @abstractmethod
    def apply(self, space: Vectors, lists: Lists) -> Vectors:
        """Give the same words at other places.

        Raises
        ------
        DataError
            If the space lacks the words that it works with.
        """
