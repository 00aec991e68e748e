"""Text replacements that shift an example's three spans with the text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from gapstack.corpus.example import Example, Span
from gapstack.errors import DataError


class Replacement(NamedTuple):
    """Replaces the characters from ``start`` up to ``end`` by ``text``; an insertion if they are equal."""

    start: int
    end: int
    text: str


def edit(example: Example, replacements: Iterable[Replacement | tuple[int, int, str]]) -> Example:
    """Replace parts of the text and shift the spans accordingly.

    A replacement may lie outside a span, inside it, or cover it exactly; the span then covers the new text. An
    insertion at a span's boundary stays outside it. Raises DataError if a replacement is outside the text, two overlap,
    one crosses a boundary of a span, or a span would become empty.

    Parameters
    ----------
    replacements : iterable of Replacement
        In any order, not overlapping. Insertions at one position keep their order and precede a replacement that
        begins there.

    Returns
    -------
    Example
        With the same id, url and label; ``example`` itself without replacements.
    """
    ordered = sorted((Replacement(*one) for one in replacements), key=lambda one: (one.start, one.end))
    if not ordered:
        return example
    _check(example, ordered)
    pieces: list[str] = []
    at = 0
    for one in ordered:
        pieces += [example.text[at : one.start], one.text]
        at = one.end
    text = "".join([*pieces, example.text[at:]])

    def shifted(name: str, span: Span) -> Span:
        # replacements before the span shift it, those within it change its length
        before = sum(_growth(one) for one in ordered if one.end <= span.start)
        within = sum(_growth(one) for one in ordered if span.start < one.end and one.start < span.end)
        new = Span(span.start + before, span.end + before + within)
        if new.start == new.end:
            raise DataError(
                f"example {example.id!r}: the replacements leave nothing of {name} {example.words(span)!r}",
                expected="words in the place of a mention",
            )
        return new

    return replace(
        example,
        text=text,
        pronoun=shifted("pronoun", example.pronoun),
        a=shifted("A", example.a),
        b=shifted("B", example.b),
    )


def fits(example: Example, start: int, end: int) -> bool:
    """Whether the characters from ``start`` to ``end`` may be replaced: they cross no boundary of a span."""
    return not any(_cuts(start, end, span) for span in (example.pronoun, example.a, example.b))


def _cuts(start: int, end: int, span: Span) -> bool:
    outside = end <= span.start or span.end <= start
    inside = span.start <= start and end <= span.end
    return not (outside or inside)


def _growth(one: Replacement) -> int:
    return len(one.text) - (one.end - one.start)


def _check(example: Example, ordered: list[Replacement]) -> None:
    for one in ordered:
        if not 0 <= one.start <= one.end <= len(example.text):
            raise DataError(
                f"example {example.id!r}: the replacement of characters {one.start} to {one.end} leaves the text",
                expected=f"0 <= start <= end <= {len(example.text)}",
            )
    for left, right in pairwise(ordered):
        if right.start < left.end:
            raise DataError(
                f"example {example.id!r}: the replacements of {left[:2]} and {right[:2]} overlap",
                expected="replacements that share no character",
            )
    for name, span in (("pronoun", example.pronoun), ("A", example.a), ("B", example.b)):
        for one in ordered:
            if _cuts(one.start, one.end, span):
                raise DataError(
                    f"example {example.id!r}: the replacement of {example.text[one.start : one.end]!r} at "
                    f"{one[:2]} cuts through {name} {example.words(span)!r} at {tuple(span)}",
                    expected="a replacement outside the span, inside it, or of exactly the span",
                    remedy="Split the replacement at the span's boundaries",
                )
