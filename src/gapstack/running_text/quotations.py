"""Quotations of a text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from gapstack.data import Span
from gapstack.data.paragraphs import PARAGRAPH_END

_MARK = re.compile(rf"[\"\u201c\u201d]|``|''|{PARAGRAPH_END}")
_LONGEST = 3000  # characters; a longer one has lost its end


def quotations(text: str) -> list[Span]:
    """Quotations in double quotation marks, in order; each ends at the latest with its paragraph."""
    found: list[Span] = []
    start = -1
    for match in _MARK.finditer(text):
        mark = match[0]
        if mark.isspace():
            if start >= 0:
                found.append(Span(start, match.start()))
            start = -1
        elif start < 0:
            if mark not in ("\u201d", "''"):
                start = match.end()
        elif mark in ("\u201c", "``"):
            found.append(Span(start, match.start()))
            start = match.end()
        else:
            found.append(Span(start, match.start()))
            start = -1
    return [span for span in found if span.end - span.start <= _LONGEST]


def quotation_of(quotes: Sequence[Span], span: Span) -> int:
    """Number of the quotation that a span begins in, or -1; ``quotes`` are in order."""
    number = bisect_right(quotes, span.start, key=lambda quote: quote.start) - 1
    return number if number >= 0 and span.start < quotes[number].end else -1
