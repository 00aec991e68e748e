"""Conversations: turns of named speakers, as one text with the names in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from gapstack.data.example import Span
from gapstack.data.paragraphs import PARAGRAPH_END

_CAPITALS = "".join(filter(str.isupper, map(chr, range(0x530))))
"""Capital letters of the Latin, Greek and Cyrillic alphabets."""
_TURN = re.compile(
    rf"""
    ^[ \t\u200e]*
    (?:\[?\d[\d:.,/ -]{{2,24}}(?:[ \u202f]?[AaPp]\.?[Mm]\.?)?\]?[ \t]+(?:-[ \t]+)?)?  # a time, as in exported chats
    (?P<speaker>[{_CAPITALS}][\w.'\u2019-]*(?:[ ][{_CAPITALS}(][\w.'\u2019)-]*){{0,3}})
    [ \t]*:[ \t]+(?=\S)
    """,
    re.MULTILINE | re.VERBOSE,
)
_SPEAKER_OF_PLAY = re.compile(
    rf"""
    (?:\A|{PARAGRAPH_END}|[.!?)\]\"'\u201d\u2019\u2014][ \t]*\r?\n)[ \t]*  # after a blank line or a whole sentence
    (?P<speaker>(?:(?:DR|MRS?|MS)\.[ ]|(?!(?:DR|MRS?|MS)\.[ ]))[{_CAPITALS}][{_CAPITALS}'\u2019 -]{{2,}})
    \.(?=[ \t]+\S|\r?\n[ \t]*\S)
    """,
    re.VERBOSE,
)
_NOT_SPEAKER_WORDS = """
note chapter chap part book volume letter act scene title subject from to cc date re summary abstract author source url
question answer warning
"""
_NOT_SPEAKERS = frozenset(_NOT_SPEAKER_WORDS.split())
_LEAST_SHARE = 0.6
"""Least share of the lines of a transcript that begin a turn."""


class Turn(NamedTuple):
    """One turn: the speaker's name, the span of that name, and the span of what is said."""

    speaker: str
    label: Span
    speech: Span


def conversation(turns: Iterable[tuple[str, str]]) -> tuple[str, tuple[Turn, ...]]:
    """Join turns (speaker, words) to one text with a paragraph ``Anna: Hello.`` each; returns it and the turns."""
    text, placed = "", list[Turn]()
    for speaker, words in turns:
        text += "\n\n" if text else ""
        label = Span(len(text), len(text) + len(speaker))
        text += f"{speaker}: "
        speech = Span(len(text), len(text) + len(words))
        text += words
        placed.append(Turn(speaker, label, speech))
    return text, tuple(placed)


def with_colons(text: str) -> str:
    """The text with the period after a speaker of a play (``HAMLET. Words, words.``) as the colon of a transcript."""
    return _SPEAKER_OF_PLAY.sub(
        lambda match: f"{match[0][:-1]}:" if _may_speak(match["speaker"]) else match[0], text
    )


def _may_speak(name: str) -> bool:
    """False for headings, such as ``Chapter One``."""
    return name.split(maxsplit=1)[0].lower() not in _NOT_SPEAKERS


def transcript_turns(text: str) -> tuple[Turn, ...]:
    """The turns of a plain transcript (lines such as ``Anna: Hello.``, or ``ANNA. Hello.``); none for any other text.

    A transcript has at least two speakers, and turns begin on most of its lines.
    """
    text = with_colons(text)
    starts = [match for match in _TURN.finditer(text) if _may_speak(match["speaker"])]
    lines = sum(bool(line.strip()) for line in text.splitlines())
    if len({match["speaker"] for match in starts}) < 2 or len(starts) < _LEAST_SHARE * lines:
        return ()
    ends = [*(match.start() for match in starts[1:]), len(text)]
    return tuple(
        Turn(match["speaker"], Span(*match.span("speaker")), Span(match.end(), _end(text, match.end(), end)))
        for match, end in zip(starts, ends, strict=True)
    )


def _end(text: str, start: int, end: int) -> int:
    """End of a turn without trailing white space."""
    return start + len(text[start:end].rstrip())
