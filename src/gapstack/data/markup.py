"""Plain text of HTML, Markdown and Project Gutenberg's books, with maps to the characters of the original."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from html.parser import HTMLParser
from itertools import accumulate

from gapstack.data.example import Span


@dataclass(frozen=True)
class Piece:
    """Text that stands for a range of the original: the same characters, or others (``&amp;``, a line break)."""

    text: str
    origin: Span

    @property
    def is_verbatim(self) -> bool:
        """True if the characters are those of the original; a character reference is longer than its text."""
        return len(self.text) == self.origin.end - self.origin.start


@dataclass(frozen=True)
class Extract:
    """A text extracted from an original."""

    pieces: tuple[Piece, ...]

    @cached_property
    def text(self) -> str:
        """The extracted text."""
        return "".join(piece.text for piece in self.pieces)

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(piece.text) for piece in self.pieces[:-1]), initial=0))

    def origin(self, span: Span) -> Span:
        """The range of the original that a non-empty span of the text comes from."""
        return Span(self._of_character(span.start).start, self._of_character(span.end - 1).end)

    def _of_character(self, at: int) -> Span:
        number = bisect_right(self._starts, at) - 1
        piece = self.pieces[number]
        if not piece.is_verbatim:
            return piece.origin
        start = piece.origin.start + at - self._starts[number]
        return Span(start, start + 1)

    def then(self, inner: Extract) -> Extract:
        """Compose two extractions: ``inner`` is of this one's text, and the result is of this one's original."""
        return Extract(tuple(_composed(self, inner)))


def _composed(outer: Extract, inner: Extract) -> Iterator[Piece]:
    for piece in inner.pieces:
        if not piece.is_verbatim:
            yield Piece(piece.text, outer.origin(piece.origin))
            continue
        at = piece.origin.start
        while at < piece.origin.end:
            number = bisect_right(outer._starts, at) - 1
            source, start = outer.pieces[number], outer._starts[number]
            stop = min(piece.origin.end, start + len(source.text))
            origin = source.origin
            if source.is_verbatim:
                origin = Span(origin.start + at - start, origin.start + stop - start)
            yield Piece(outer.text[at:stop], origin)
            at = stop


def extract_html(source: str) -> Extract:
    """The visible text of an HTML page; blocks are paragraphs."""
    reader = _HtmlText(source)
    reader.feed(source)
    reader.close()
    return Extract(tuple(reader.pieces))


_INLINE_TAGS = """
a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q s samp small span strong sub sup time tt u
var wbr
"""


class _HtmlText(HTMLParser):
    # a page may leave out the tags of its head, of which only the title is text
    _HIDDEN = frozenset({"script", "style", "title", "noscript", "template", "svg", "math", "select", "nav"})
    _INLINE = frozenset(_INLINE_TAGS.split())

    def __init__(self, source: str):
        super().__init__(convert_charrefs=False)
        self.pieces: list[Piece] = []
        self._hidden, self._source = 0, source
        self._lines = [0, *(match.end() for match in re.finditer("\n", source))]

    @property
    def _at(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._HIDDEN:
            self._hidden += 1
        self._break(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._HIDDEN and self._hidden:
            self._hidden -= 1
        self._break(tag)

    def handle_data(self, data: str) -> None:
        follows_break = not self.pieces or _is_break(self.pieces[-1])
        words = data.lstrip() if follows_break else data
        self._put(words, len(words), len(data) - len(words))

    def handle_entityref(self, name: str) -> None:
        self._reference(f"&{name}")

    def handle_charref(self, name: str) -> None:
        self._reference(f"&#{name}")

    def _reference(self, written: str) -> None:
        after = self._at + len(written)
        written += ";" if self._source[after : after + 1] == ";" else ""
        self._put(unescape(written), len(written))

    def _break(self, tag: str) -> None:
        """End a line or a paragraph; white space around it and further breaks are one with it."""
        if tag in self._INLINE or self._hidden or not self.pieces:
            return
        ends = 1 if tag == "br" else 2
        if self.pieces[-1].text.isspace():
            last = self.pieces.pop()
            ends += len(last.text) if _is_break(last) else 0
        self._put("\n" * min(ends, 2), 0)

    def _put(self, text: str, length: int, skipped: int = 0) -> None:
        if not self._hidden and text:
            start = self._at + skipped
            self.pieces.append(Piece(text, Span(start, start + length)))


def _is_break(piece: Piece) -> bool:
    """True for a line break that a tag made."""
    return piece.origin.start == piece.origin.end


_MARKDOWN = re.compile(
    r"""
      \A---\r?\n.*?\n---\r?\n                              # front matter
    | ^(?P<fence>```|~~~).*?^(?P=fence)[^\n]*$           # fenced code
    | ^[ ]{0,3}\[\^[^\]\n]+\]:[ ]* | \[\^[^\]\s]+\]      # marks of footnotes
    | ^[ ]{0,3}\[[^\]\n]+\]:[ \t]*\S+(?:[ \t]+(?:"[^"\n]*"|'[^'\n]*'|\([^)\n]*\)))?[ \t\r]*$  # definitions of links
    | ^[ ]{0,3}(?:\#{1,6}[ ]+|>[ ]?|(?:[-*+]|\d+[.)])[ ]+)+  # marks of headings, quotations and lists
    | ^[ ]{0,3}(?:={3,}|-{3,}|\*{3,}|_{3,})[ \r]*$       # lines
    | !\[[^\]\n]*\]\([^)\n]*\)                           # pictures
    | \[(?P<link>[^\]\n]+)\](?:\([^)\n]*\)|\[[^\]\n]*\]) # links, of which the words stay
    | <!--.*?--> | </?[A-Za-z][^>\n]*>                   # HTML
    | (?P<marks>\*{1,3}|~~|`+|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w))  # emphasis and code
    | \\(?=[\\`*_{}\[\]()\#+.!>~-])                      # escapes
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


def extract_markdown(source: str) -> Extract:
    """The text of a Markdown page without its marks, code blocks and pictures."""
    pieces: list[Piece] = []
    at = 0
    for match in _MARKDOWN.finditer(source):
        pieces.append(_verbatim(source, at, match.start()))
        if match["link"]:
            pieces.append(_verbatim(source, *match.span("link")))
        at = match.end()
    pieces.append(_verbatim(source, at, len(source)))
    return Extract(tuple(piece for piece in pieces if piece.text))


_LICENCE = re.compile(
    r"""
      ^\s*\*\*\*[ ]?(?:(?P<start>START)|END)[ ]OF[ ](?:THE|THIS)[ ]PROJECT[ ]GUTENBERG[ ]EBOOK[^\n]*\*\*\*[^\n]*$
    | ^\*END\*?[ ]?(?P<small_print>THE[ ]SMALL[ ]PRINT!)[^\n]*\*END\*[ \t\r]*$  # books before 2004
    | ^End[ ]of[ ](?:the[ ]|this[ ])?Project[ ]Gutenberg(?:'s)?[ ]E-?text[^\n]*$
    """,
    re.MULTILINE | re.IGNORECASE | re.VERBOSE,
)
_CONTENTS = re.compile(
    r"^[ \t_]*(?:table of )?contents[ \t_.:]*$\s*\n"  # the heading
    r"(?:(?=[^\n]{1,80}\n)[ \t]*\S[^\n]*\n(?:[ \t]*\n)?)+?"  # entries, with at most one empty line between
    r"(?=[ \t]*\n[ \t]*\n|\Z)",
    re.M | re.I,
)
_FIRST = 20_000
"""Characters at the beginning of a book that are searched for a table of contents."""


def extract_book(source: str) -> Extract | None:
    """A book of Project Gutenberg without its licence and table of contents; None for any other text."""
    marks = list(_LICENCE.finditer(source))
    begins = [mark for mark in marks if mark["start"] or mark["small_print"]]
    if not begins:
        return None
    start = begins[-1].end()
    end = next((mark.start() for mark in marks if mark.start() > start), len(source))
    kept = [(start, end)]
    text = source.replace("\r\n", " \n")  # the same offsets
    if contents := _CONTENTS.search(text, start, min(end, start + _FIRST)):
        kept = [(start, contents.start()), (contents.end(), end)]
    return Extract(tuple(_verbatim(source, *span) for span in kept if source[slice(*span)].strip()))


def _verbatim(source: str, start: int, end: int) -> Piece:
    return Piece(source[start:end], Span(start, end))
