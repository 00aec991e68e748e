"""What every measure of a space is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from gapstack.audit.suite import Measure
from gapstack.corpus.word_lists import Lists
from gapstack.vectors.static_vectors import Vectors
from gapstack.vectors.word_gender import Coverage


class Yardstick(ABC):
    """A measure, made ready for the vocabulary of one space; it then takes that space and debiased ones.

    Making one looks up its words in the space as it was given, which also decides what the most biased words and the
    direction of gender are where the paper takes these from the space before debiasing.

    Attributes are its ``title``, its ``paper``, its ``measures`` (columns), its ``coverage``, and a ``note`` for
    whoever reads the figures.

    Raises
    ------
    DataError
        If the vocabulary covers too little; says how much.
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
        """Figures by the measures' keys, for a space with the words of the original."""
