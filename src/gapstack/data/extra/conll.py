"""Documents with coreference in CoNLL columns: LitBank and GUM, whose columns differ.

The last column opens and closes mentions: ``(3``, ``3)``, ``(3)``. GUM writes ``person-3-Lord_Byron`` for 3.
"""

import io
import re
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from gapstack.data.cells import decode
from gapstack.data.example import Span
from gapstack.data.sources import file_of
from gapstack.errors import DataError, Place, located
from gapstack.files import read_bytes

_BRACKETS = re.compile(r"\(([^()|]+)\)|\(([^()|]+)|([^()|]+)\)|\|")
_MARKER = re.compile(r"# ?(begin|end) document")
_ENDS = {".", "!", "?", "..."}
_NO_SPACE_BEFORE = re.compile(
    r"[,.;:!?)\]}%/\u201d\u2019-]|\.\.\.|''|['\u2019](?:s|re|ve|ll|d|m|S)|n['\u2019]t", re.IGNORECASE
)
_NO_SPACE_AFTER = re.compile(r"[(\[{$\u00a3#/\u201c\u2018-]|``")


class GoldMention(NamedTuple):
    """Tokens ``start`` up to ``end`` of a document, their cluster, and GUM's kind of entity ("" elsewhere)."""

    start: int
    end: int
    cluster: str
    kind: str = ""

    def characters(self, places: Mapping[int, Span]) -> Span:
        """Span of the mention in a text, given the spans of its tokens (:meth:`ConllDocument.text_of`)."""
        return Span(places[self.start].start, places[self.end - 1].end)


@dataclass
class ConllDocument:
    """Tokens, sentences (token ranges that cover them) and mentions, nested ones included, in order of start."""

    name: str
    tokens: list[str] = field(default_factory=list)
    sentences: list[range] = field(default_factory=list)
    mentions: list[GoldMention] = field(default_factory=list)

    def text_of(self, tokens: range) -> tuple[str, dict[int, Span]]:
        """Text of a range of tokens, spaced as in English and without lone ``_``, and the span of each token in it."""
        text = ""
        places: dict[int, Span] = {}
        glued = True
        # the first double quote closes a quotation if it follows the end of a clause
        first = next((i for i in tokens if self.tokens[i] == '"'), tokens.start)
        quoted = first > tokens.start and self.tokens[first - 1] in _ENDS | {","}
        for i in tokens:
            token = self.tokens[i] if self.tokens[i] != "_" else ""
            closes = token == '"' and quoted
            if token and not (glued or closes or _NO_SPACE_BEFORE.fullmatch(token)):
                text += " "
            places[i] = Span(len(text), len(text) + len(token))
            text += token
            if token:
                glued = _NO_SPACE_AFTER.fullmatch(token) is not None or (token == '"' and not quoted)
            quoted ^= token == '"'
        return text, places


CORPORA = {
    "litbank": ("litbank_coref_conll.tar.xz", "coref/conll/", 13, 3),
    "gum": ("gum_open_genres_coref_conll.tar.xz", "coref/gum/", 3, 1),
}
"""Corpora by name: archive, folder in it, number of columns, and index of the token's column."""


def read_corpus(name: str) -> Iterator[ConllDocument]:
    """Read the documents of one of :data:`CORPORA`; DataError for a damaged archive, DataNotFoundError without."""
    archive, folder, columns, token = CORPORA[name]
    path = file_of("corpora", archive)
    with located(Place(path), "the corpus's archive"):
        try:
            with tarfile.open(fileobj=io.BytesIO(read_bytes(path)), mode="r:") as packed:
                files = sorted((entry.name.removeprefix("./"), entry) for entry in packed if entry.isreg())
                blobs = {file: packed.extractfile(entry).read() for file, entry in files}  # type: ignore[union-attr]
        except tarfile.TarError as problem:
            raise ValueError(f"cannot be unpacked ({problem})") from None
    for file, blob in blobs.items():
        if file.startswith(folder) and file.endswith(".conll"):
            yield from parse(decode(blob, path / file), path / file, columns, token)


def parse(text: str, path: Path, columns: int, token: int) -> Iterator[ConllDocument]:
    """Parse documents with ``columns`` per line: ``token`` is the index of the token's, the last has the mentions.

    Raises DataError, with the line, for a line or a mention that breaks the format.
    """
    document: ConllDocument | None = None
    opened: dict[str, list[int]] = {}
    breaks: list[int] = []
    number = 0
    try:
        for number, line in enumerate(text.split("\n"), start=1):  # noqa: B007 (errors name it)
            marker = _MARKER.match(line)
            if marker and (marker[1] == "begin") != (document is None):
                raise ValueError(
                    f"a document {marker[1]}s {'in another' if document else 'that did not begin'}"
                )
            if document is None:
                if marker:
                    title = re.sub(r"[()]|;.*", "", line[marker.end() :]).strip()
                    document, opened, breaks = ConllDocument(title or path.stem), {}, []
                elif line.strip():
                    raise ValueError(f"the line {line[:40]!r} is outside a document")
            elif marker:
                if unclosed := [cluster for cluster, starts in opened.items() if starts]:
                    raise ValueError(f"the document ends with {unclosed} open")
                yield _with_sentences(document, breaks)
                document = None
            elif not line.strip():
                breaks.append(len(document.tokens))
            else:
                cells = line.split("\t")
                if len(cells) != columns or not cells[token]:
                    raise ValueError(f"the line has {len(cells)} columns")
                _bracket(document, opened, cells[-1])
                document.tokens.append(cells[token])
        if document is not None:
            raise ValueError(f"document {document.name} has no end")
    except ValueError as problem:
        expected = f"{columns} columns, each mention (3, 3) or (3) opened and closed, #end document"
        raise DataError(str(problem), place=Place(path, number), expected=expected) from None


def _bracket(document: ConllDocument, opened: dict[str, list[int]], cell: str) -> None:
    """Open and close the mentions in the last column of the next token; ValueError if that is impossible."""
    here, at = len(document.tokens), len(cell) if cell in {"_", "-"} else 0
    while match := _BRACKETS.match(cell, at):
        at = match.end()
        whole, opens, closes = match.groups()
        if opens:
            opened.setdefault(opens, []).append(here)
        elif name := whole or closes:
            if closes and not opened.get(name):
                raise ValueError(f"{name!r} is closed and was not open")
            start = here if whole else opened[name].pop()
            kind, cluster = name.split("-")[:2] if "-" in name else ("", name)
            document.mentions.append(GoldMention(start, here + 1, cluster, kind))
    if at != len(cell):
        raise ValueError(f"cannot read {cell!r}")


def _with_sentences(document: ConllDocument, breaks: list[int]) -> ConllDocument:
    if not any(0 < at < len(document.tokens) for at in breaks):
        breaks = [i + 1 for i, token in enumerate(document.tokens) if token in _ENDS]
    bounds = sorted({0, *breaks, len(document.tokens)})
    document.sentences = [range(a, b) for a, b in pairwise(bounds)]
    document.mentions.sort(key=lambda mention: (mention.start, -mention.end))
    return document
