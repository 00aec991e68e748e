"""One example: a snippet with a pronoun and two names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from gapstack.corpus.pronouns import Gender, gender_of


class Label(IntEnum):
    """The answer; its value is its column in every probability array."""

    A = 0
    B = 1
    NEITHER = 2


class Span(NamedTuple):
    """Half-open range of characters in the original text."""

    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        """Whether the two ranges share a character."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Example:
    """One GAP row (Webster et al. 2018, section 3).

    ``label`` is None for unlabelled rows, ``url`` where the page is unknown. Readers check that the spans lie in the
    text and do not overlap; this class does not.
    """

    id: str
    text: str
    pronoun: Span
    a: Span
    b: Span
    url: str | None = None
    label: Label | None = None

    def words(self, span: Span) -> str:
        """Text of ``span``."""
        return self.text[span.start : span.end]

    @property
    def pronoun_text(self) -> str:
        """Text of the pronoun."""
        return self.words(self.pronoun)

    @property
    def a_text(self) -> str:
        """Text of A."""
        return self.words(self.a)

    @property
    def b_text(self) -> str:
        """Text of B."""
        return self.words(self.b)

    @property
    def gender(self) -> Gender:
        """Grammatical gender of the pronoun."""
        return gender_of(self.pronoun_text)
