"""Base class of measures of gender bias in word vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from gapstack.audit.suite import Measure
from gapstack.corpus.word_lists import Lists
from gapstack.vectors.static_vectors import Vectors
from gapstack.vectors.word_gender import Coverage


class EmbeddingMeasure(ABC):
    """A measure of a word-vector space and of its debiased versions.

    The constructor looks up the measure's words in the original space, and computes there what the paper takes from
    the space before debiasing (the most biased words, the gender direction).

    Attributes are ``title``, ``paper``, ``measures`` (columns), ``coverage`` of the word lists, and a ``note`` for
    readers of the figures.

    Raises
    ------
    DataError
        If the vocabulary covers too little of the word lists.
    """

    title: str
    paper: str
    measures: tuple[Measure, ...]
    coverage: tuple[Coverage, ...] = ()
    note: str = ""

    @abstractmethod
    def __init__(self, original: Vectors, lists: Lists, seed: int = 0): ...

    @abstractmethod
    def measure(self, space: Vectors) -> Mapping[str, float]:
        """Compute the figures, by measure key, of a space with the original's vocabulary."""
