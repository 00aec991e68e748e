"""The names that compete to be a pronoun's antecedent, and which of them stand for A or B."""

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
    """A and B are given, and only they compete."""
    SNIPPET_CONTEXT = "snippet-context"
    """Every PERSON name of the snippet competes; an answer counts for a name when one is part of the other."""


@dataclass(frozen=True)
class Scene:
    """One example as the structural cues see it: k names around a pronoun.

    Attributes
    ----------
    example : Example
    parse : Parse
    pronoun : int
        Token of the pronoun, -1 if the parse has none there.
    spans : tuple of Span
        Where each name stands.
    heads : (k,) int32
        Head token of each name, -1 if it has none.
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
    """Set the scene of one example: its candidates under ``setting``, found in its parse."""
    pronoun = parse.head_of(parse.tokens_in(example.pronoun))
    if setting is Setting.GOLD_TWO_MENTION:
        spans: tuple[Span, ...] = (example.a, example.b)
        hits = np.eye(2, dtype=bool)
    else:
        spans = person_spans(example, parse)
        hits = np.array(
            [[_counts(example.words(s), name) for name in (example.a_text, example.b_text)] for s in spans],
            dtype=bool,
        ).reshape(-1, 2)
    heads = np.array([parse.head_of(parse.tokens_in(span)) for span in spans], dtype=np.int32)
    return Scene(example, parse, pronoun, spans, heads, hits, barriers(parse, pronoun, heads))


def person_spans(example: Example, parse: Parse) -> tuple[Span, ...]:
    """Where the parse has PERSON names, the pronoun's own place aside."""
    spans = [Span(int(parse.spans[first, 0]), int(parse.spans[last - 1, 1])) for first, last in parse.persons]
    return tuple(span for span in spans if not span.overlaps(example.pronoun))


def _counts(candidate: str, name: str) -> bool:
    return candidate in name or name in candidate
