"""Paragraphs of plain text.

A line of over 100 characters is a paragraph; shorter ones are wrapped text, whose paragraphs end at an empty line.
Blanks within a paragraph become single spaces.
"""

import re
from collections.abc import Iterator

PARAGRAPH_END = r"\r?\n[ \t\r]*\n"
"""Pattern of the end of a paragraph of wrapped text; the lines of a file from Windows end in ``\\r\\n``."""
WRAPPED = 100  # maximum number of characters of a line of wrapped text
_LONGEST = 20_000  # maximum number of characters of a paragraph that is parsed as a whole


def paragraphs(text: str) -> Iterator[str]:
    """Paragraphs of a text."""
    wrapped: list[str] = []
    for line in (" ".join(line.split()) for line in [*text.splitlines(), ""]):
        if line and len(line) <= WRAPPED:
            wrapped.append(line)
        else:
            yield from _pieces(" ".join(wrapped))
            yield from _pieces(line)
            wrapped = []


def _pieces(paragraph: str) -> Iterator[str]:
    """Split a paragraph that is too long to be parsed at once, at sentence ends if it has any."""
    while len(paragraph) > _LONGEST:
        ends = [match.end() for match in re.finditer(r"[.!?]['\")]* ", paragraph[:_LONGEST])]
        at = ends[-1] if ends else _LONGEST
        yield paragraph[:at].strip()
        paragraph = paragraph[at:]
    if paragraph.strip():
        yield paragraph.strip()
