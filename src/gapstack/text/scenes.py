"""Candidate names of an example, and which of them match A or B."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Example, Span
from gapstack.text.binding import barriers
from gapstack.text.grammar import Parse


class Setting(StrEnum):
    """The two tasks of Webster et al. 2018, section 4."""

    GOLD_TWO_MENTION = "gold-two-mention"
    """The candidates are A and B."""
    SNIPPET_CONTEXT = "snippet-context"
    """The candidates are all PERSON names of the snippet; one matches A or B when either is part of the other."""


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


def scene(example: Example, parse: Parse, setting: Setting) -> Scene:
    """Collect the candidates of one example under ``setting``."""
    pronoun = parse.head_of(parse.tokens_in(example.pronoun))
    if setting is Setting.GOLD_TWO_MENTION:
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
    spans = [Span(int(parse.spans[first, 0]), int(parse.spans[last - 1, 1])) for first, last in parse.persons]
    return tuple(span for span in spans if not span.overlaps(example.pronoun))


def _matches(candidate: str, name: str) -> bool:
    return candidate in name or name in candidate
