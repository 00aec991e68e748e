"""Base class of debiasers of word vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod

from gapstack.corpus.word_lists import Lists
from gapstack.vectors.static_vectors import Vectors


class Debiaser(ABC):
    """Changes the vectors of a space. Constructor arguments are settings; their defaults are the paper's.

    ``name`` is its name on the command line.
    """

    name: str
    paper: str

    @abstractmethod
    def apply(self, space: Vectors, lists: Lists) -> Vectors:
        """Return the debiased space, with the same words.

        Raises DataError if the space lacks words that the method needs.
        """
