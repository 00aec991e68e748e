"""Pages of running text, read one at a time: plain text, JSON lines, and documents with gold coreference.

=========== ===================================================================================================
plain text  one page a file. A line of over 100 characters is a paragraph; shorter ones are wrapped text, whose
            paragraphs end at an empty line
JSON lines  one page a line: ``text`` with lines as above; ``id``, ``url`` and ``title`` may be there
=========== ===================================================================================================

Plain, ``.gz`` and ``.xz``; JSON lines by their suffix ``.jsonl``. Blanks within a paragraph become single spaces, so
that its text fits into a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gapstack.corpus import strict_json
from gapstack.corpus.cells import iter_lines
from gapstack.corpus.example import Label, Span
from gapstack.corpus.extra.conll import Document, read_corpus
from gapstack.corpus.extra.mined import Source
from gapstack.corpus.pronouns import Gender
from gapstack.errors import DataError, Place
from gapstack.files import open_bytes

WRAPPED = 100
"""Characters of the longest line that is taken for wrapped text."""
_LONGEST = 20_000  # of a paragraph that is parsed in one piece
_SHAPE = {"text": str, "id?": str | int | None, "url?": str | None, "title?": str | None}
_PACKED = (".gz", ".xz")


@dataclass(frozen=True)
class Gold:
    """Gold coreference of a page's text.

    Attributes
    ----------
    mentions : tuple of (Span, str)
        Characters of each mention and its cluster.
    genders : mapping of str to Gender
        Of clusters whose pronouns and titles tell it.
    """

    mentions: tuple[tuple[Span, str], ...]
    genders: Mapping[str, Gender]

    @staticmethod
    def label(pronoun: str, a: str, b: str) -> Label | None:
        """The label of a row whose mentions are in these clusters; None where both names are the pronoun's."""
        if a == b == pronoun:
            return None
        return Label.A if a == pronoun else Label.B if b == pronoun else Label.NEITHER


@dataclass(frozen=True)
class Page:
    """One page: its paragraphs, its address where known, and gold coreference, whose pages have one paragraph."""

    id: str
    paragraphs: tuple[str, ...]
    url: str | None = None
    gold: Gold | None = field(default=None, repr=False)


def read_pages(path: Path) -> Iterator[Page]:
    """Read the pages of a file.

    Raises
    ------
    DataError
        With file and line: no UTF-8, NUL, an empty file; in JSON lines also no object, or another form of a key.
    DataNotFoundError
        If there is no such file.
    """
    path = Path(path)
    return _json_pages(path) if _is_json(path) else iter([_text_page(path)])


def count_pages(path: Path) -> int:
    """Number of pages of a file, without reading what they say; errors as of :func:`read_pages`."""
    return sum(1 for _ in iter_lines(path)) if _is_json(path) else 1


def _is_json(path: Path) -> bool:
    return [suffix for suffix in path.suffixes if suffix not in _PACKED][-1:] == [".jsonl"]


def corpus_pages(name: str, data: Path | None = None) -> Iterator[Page]:
    """Read LitBank or GUM (:data:`gapstack.corpus.extra.conll.CORPORA`) as pages of one paragraph, with gold clusters.

    Errors are those of :func:`gapstack.corpus.extra.conll.read_corpus`.
    """
    for document in read_corpus(name, data):
        yield gold_page(document, name)


def gold_page(document: Document, prefix: str) -> Page:
    """Give a document with coreference as a page of one paragraph; its id is the document's name after a prefix."""
    text, places = document.text_of(range(len(document.tokens)))
    mentions = tuple(
        (Span(places[m.start].start, places[m.end - 1].end), m.cluster) for m in document.mentions
    )
    genders = {
        key: next(iter(cluster.genders))
        for key, cluster in Source(document).clusters.items()
        if len(cluster.genders) == 1
    }
    return Page(f"{prefix}-{document.name}", (text,), gold=Gold(mentions, genders))


def paragraphs(text: str) -> Iterator[str]:
    """Split a text into its paragraphs; see the module for the rule."""
    wrapped: list[str] = []
    for line in (" ".join(line.split()) for line in [*text.splitlines(), ""]):
        if line and len(line) <= WRAPPED:
            wrapped.append(line)
            continue
        if wrapped:
            yield from _pieces(" ".join(wrapped))
            wrapped = []
        if line:
            yield from _pieces(line)


def _pieces(paragraph: str) -> Iterator[str]:
    """Cut what is too long to be parsed at once, where sentences end if it has any."""
    while len(paragraph) > _LONGEST:
        ends = [match.end() for match in re.finditer(r"[.!?]['\")]* ", paragraph[:_LONGEST])]
        at = ends[-1] if ends else _LONGEST
        yield paragraph[:at].strip()
        paragraph = paragraph[at:]
    if paragraph.strip():
        yield paragraph.strip()


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document with its text as it stands in the file."""

    id: str
    text: str
    url: str | None = None


def read_documents(path: Path) -> Iterator[RawDocument]:
    """Read the documents of a file, plain text or JSON lines, with every character of their texts.

    Errors as of :func:`read_pages`.
    """
    path = Path(path)
    return _json_documents(path) if _is_json(path) else iter([_text_document(path)])


def _text_document(path: Path) -> RawDocument:
    with open_bytes(path) as stream:
        blob = stream.read()
    text = decoded(blob, path)
    _refuse_nul(text, Place(path, text.partition("\0")[0].count("\n") + 1))
    if not text.strip():
        raise DataError("is empty", place=Place(path), expected="text")
    return RawDocument(path.name.split(".")[0], text)


def decoded(blob: bytes, name: Path | str) -> str:
    """Text of bytes in UTF-8, with or without a byte-order mark; DataError with the line for others."""
    try:
        return blob.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise DataError(
            f"byte 0x{blob[problem.start]:02X} is not UTF-8",
            place=Place(name, blob[: problem.start].count(b"\n") + 1),
            expected="text in UTF-8",
        ) from None


def _text_page(path: Path) -> Page:
    document = _text_document(path)
    return Page(document.id, tuple(paragraphs(document.text)))


def _json_pages(path: Path) -> Iterator[Page]:
    for document in _json_documents(path):
        yield Page(document.id, tuple(paragraphs(document.text)), document.url)


def _json_documents(path: Path) -> Iterator[RawDocument]:
    for number, raw in enumerate(iter_lines(path), start=1):
        record = strict_json.read(raw, path, number, _SHAPE)
        name = str(record.get("id") or record.get("title") or f"{path.name.split('.')[0]}-{number}")
        for word in (name, str(record.get("url") or "")):
            if re.search(r"[\t\r\n\0]", word):
                raise DataError(
                    f"{strict_json.shown(word)} has a tab or line break",
                    place=Place(path, number),
                    expected="one line",
                )
        _refuse_nul(record["text"], Place(path, number))
        yield RawDocument(name, record["text"], record.get("url") or None)


def _refuse_nul(text: str, place: Place) -> None:
    if "\0" in text:
        raise DataError("has a NUL character", place=place, expected="text")
