"""Candidate names of an example, and which of them match A or B."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Example, Span
from gapstack.text.binding import barriers
from gapstack.text.grammar import Parse


class Candidates(StrEnum):
    """The names that compete."""

    GOLD_TWO_MENTION = "gold-two-mention"
    """A and B."""
    DETECTED = "detected"
    """All PERSON names of the snippet; one counts as A or B when either is part of the other."""


class Context(StrEnum):
    """What may be read."""

    SNIPPET = "snippet-context"
    """The snippet alone."""
    PAGE = "page-context"
    """The snippet and the title of its page."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One of the four task settings of Webster et al. 2018, section 4."""

    candidates: Candidates = Candidates.GOLD_TWO_MENTION
    context: Context = Context.PAGE

    @property
    def names(self) -> str:
        """The candidates in the paper's words."""
        return "detected candidates" if self.candidates is Candidates.DETECTED else str(self.candidates)

    def __str__(self) -> str:
        return f"{self.names}, {self.context}"


DEFAULT = Setting()
"""The shared task's: A and B compete, and the page is known."""


@dataclass(frozen=True)
class Scene:
    """Input of the structural cues: the pronoun and k candidate names of one example.

    Attributes
    ----------
    example : Example
    parse : Parse
    pronoun : int
        Token of the pronoun, -1 if the parse has none.
    spans : tuple of Span
        Characters of each name.
    heads : (k,) int32
        Head token of each name, -1 if the parse has none.
    hits : (k, 2) bool
        Whether choosing the name counts as choosing A, and B.
    barriers : (k,) int8
        :class:`~gapstack.text.binding.Barrier` flags of each name.
    """

    example: Example
    parse: Parse
    pronoun: int
    spans: tuple[Span, ...]
    heads: NDArray[np.int32]
    hits: NDArray[np.bool_]
    barriers: NDArray[np.int8]


def scene(example: Example, parse: Parse, candidates: Candidates) -> Scene:
    """Collect the names of one example that compete."""
    pronoun = parse.head_of(parse.tokens_in(example.pronoun))
    if candidates is Candidates.GOLD_TWO_MENTION:
        spans: tuple[Span, ...] = (example.a, example.b)
        hits = np.eye(2, dtype=bool)
    else:
        spans = person_spans(example, parse)
        hits = np.array(
            [[_matches(example.words(s), name) for name in (example.a_text, example.b_text)] for s in spans],
            dtype=bool,
        ).reshape(-1, 2)
    heads = np.array([parse.head_of(parse.tokens_in(span)) for span in spans], dtype=np.int32)
    return Scene(example, parse, pronoun, spans, heads, hits, barriers(parse, pronoun, heads))


def person_spans(example: Example, parse: Parse) -> tuple[Span, ...]:
    """Spans of the parse's PERSON entities, except one that overlaps the pronoun."""
    spans = [parse.characters(range(first, last)) for first, last in parse.persons.tolist()]
    return tuple(span for span in spans if not span.overlaps(example.pronoun))


def _matches(candidate: str, name: str) -> bool:
    return candidate in name or name in candidate
