"""Documents of running text, in the file formats that people have.

========================= ===========================================================================================
``.txt`` and others       one text, in any encoding; transcripts ("Anna: ...") are conversations, and the licence and
                          the contents of Project Gutenberg's books are left out
``.html``, ``.md``        the text of a page
``.jsonl``                one object per line: ``text``, optionally ``id``, ``url``, ``title``; with ``speaker``, one
                          turn of the conversation called ``conversation`` (in ConvoKit's files ``conversation_id``),
                          or of the file's only conversation
``.json``                 an array of texts or of such objects
``.csv``, ``.tsv``        a column ``text``, optionally ``id`` and ``url``; CSV with commas or semicolons
========================= ===========================================================================================
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from glob import glob
from pathlib import Path
from typing import NotRequired

from typing_extensions import TypedDict

from gapstack.data.cells import iter_lines, plain_suffix, read_json
from gapstack.data.conversations import Turn, conversation, transcript_turns
from gapstack.data.encodings import decode_any, note_once
from gapstack.data.example import Span
from gapstack.data.markup import Extract, extract_book, extract_html, extract_markdown
from gapstack.errors import DataError, DataNotFoundError, GapstackError, Place, counted, shown
from gapstack.files import no_such_file, open_bytes, read_bytes

TEXT_SUFFIXES = (
    ".txt",
    ".text",
    ".html",
    ".htm",
    ".xhtml",
    ".md",
    ".markdown",
    ".jsonl",
    ".json",
    ".csv",
    ".tsv",
)
"""Suffixes of the files in a folder that are read as texts."""
_RESULTS = {
    ".csv": re.compile(rb"text,(?:start,end,pronoun|person,name),"),
    ".jsonl": re.compile(rb'\{"id": ?"(?:[^"\\]|\\.)*", ?"resolver": ?"gapstack"'),
    ".json": re.compile(rb'\[\n\{"data": \{"id": '),
    ".html": re.compile(rb'<!doctype html>.{0,500}<meta name="generator" content="gapstack">', re.DOTALL),
}
"""Beginnings of the files that gapstack writes."""
_MANY = frozenset({".jsonl", ".json", ".csv", ".tsv"})
"""Suffixes of files with many documents, which have their own ids."""


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document: id, text, address, turns of a conversation; for extracted texts, the extract and its original."""

    id: str
    text: str
    url: str | None = None
    turns: tuple[Turn, ...] = ()
    extract: Extract | None = None
    original: str | None = None
    line: int | None = None
    """Line of a file with many documents on which it is, or the number of its item in a JSON array."""

    def origin(self, span: Span) -> Span:
        """Characters of the original file that ``span`` of the text comes from."""
        return self.extract.origin(span) if self.extract else span


class _Line(TypedDict):
    text: str
    id: NotRequired[str | int | None]
    url: NotRequired[str | None]
    title: NotRequired[str | None]
    speaker: NotRequired[str | None]
    conversation: NotRequired[str | int | None]
    conversation_id: NotRequired[str | int | None]


@dataclass(frozen=True)
class DocumentFiles:
    """Files of documents, read whenever they are iterated; options are those of :func:`read_documents`.

    With ``skip``, files with an error are left out and recorded in ``failed``; each file is then read as a whole before
    its first document is yielded. Iteration raises DataError if two documents have the same id.
    """

    paths: Sequence[Path]
    encoding: str | None = None
    keep_licence: bool = False
    skip: bool = False
    names: Mapping[Path, str] = field(default_factory=dict)
    """Ids of files with one document, by default their names without suffixes."""
    failed: dict[Path, GapstackError] = field(default_factory=dict, compare=False)

    def __iter__(self) -> Iterator[RawDocument]:
        seen: dict[str, Place] = {}
        for path in self.paths:
            for document in self._documents(path):
                place = Place(path, document.line)
                if document.id in seen:
                    raise DataError(
                        f"a document {document.id!r} was read before, from {seen[document.id]}",
                        place=place,
                        expected="documents with different ids",
                        remedy="Give it another id" if document.line else "Rename the file",
                    )
                seen[document.id] = place
                yield document

    def _documents(self, path: Path) -> Iterable[RawDocument]:
        try:
            documents = read_documents(path, encoding=self.encoding, keep_licence=self.keep_licence)
            readable = list(documents) if self.skip else documents
        except GapstackError as problem:
            if not self.skip:
                raise
            self.failed[path] = problem
            return ()
        if path not in self.names or plain_suffix(path).lower() in _MANY:
            return readable
        return (replace(document, id=self.names[path]) for document in readable)


def find_text_files(places: Iterable[Path]) -> dict[Path, str]:
    """Text files in files, folders and patterns (``*.txt``), each with an id for its document.

    Files in folders need one of :data:`TEXT_SUFFIXES`, and may be packed; results (:func:`is_result`) are left out.
    Raises DataNotFoundError for a place without any.
    """
    found: dict[Path, str] = {}
    for place in places:
        if place.is_dir():
            texts = filter(_is_text_file, place.rglob("*"))
            files = sorted(path for path in texts if not is_result(path))
            for path in files:
                found.setdefault(path, path.relative_to(place).with_name(_stem(path)).as_posix())
            if not files:
                raise DataNotFoundError(
                    f"no texts in {place}; expected files such as {', '.join(TEXT_SUFFIXES[:3])}"
                )
        elif place.exists():
            found.setdefault(place, _stem(place))
        elif set("*?[") & set(str(place)):
            names = glob(str(place), recursive=True)  # noqa: PTH207 - patterns may be absolute
            matches = sorted(path for path in map(Path, names) if path.is_file())
            if not matches:
                raise DataNotFoundError(
                    f"no file matches {place}; put the pattern in quotes, or name the files"
                )
            for path in matches:
                found.setdefault(path, _stem(path))
        else:
            raise no_such_file(place)
    # files of one name get their folder, and "page.md" and "page.html" their suffix too
    for longer in (lambda path: path.with_name(_stem(path)).as_posix(), Path.as_posix):
        count = Counter(found.values())
        found = {path: longer(path) if count[name] > 1 else name for path, name in found.items()}
    return found


def _is_text_file(path: Path) -> bool:
    suffix = plain_suffix(path).lower()
    return suffix in TEXT_SUFFIXES and not path.name.startswith(".") and path.is_file()


def is_result(path: Path) -> bool:
    """True for a page or table that gapstack wrote, which is not a text and may be overwritten."""
    pattern = _RESULTS.get(plain_suffix(path).lower())
    if pattern is None:
        return False
    try:
        with open_bytes(path) as stream:
            beginning = stream.read(4096)
    except (OSError, EOFError, GapstackError):
        return False  # its reader says what is wrong
    return pattern.match(beginning) is not None


def read_documents(
    path: Path, *, encoding: str | None = None, keep_licence: bool = False
) -> Iterator[RawDocument]:
    """Read the documents of a file; the module lists the formats.

    Parameters
    ----------
    path : Path
    encoding : str, optional
        Detected by default; JSON is UTF-8.
    keep_licence : bool
        Keep the licence and the contents of Project Gutenberg's books.

    Raises
    ------
    DataError
        With file and line, if a file is not text or does not have the format of its suffix.
    DataNotFoundError
        If the file does not exist.
    """
    path = Path(path)
    suffix = plain_suffix(path).lower()
    if suffix == ".jsonl":
        return _json_lines(path)
    text = decode_any(read_bytes(path), path, encoding)
    if not text.strip() or "\0" in text:
        problem = "is empty" if not text.strip() else "has a NUL character"
        line = text.partition("\0")[0].count("\n") + 1
        raise DataError(problem, place=Place(path, line), expected="text")
    if suffix == ".json":
        return _json_array(path, text)
    if suffix in {".csv", ".tsv"}:
        return _table(path, text, "\t" if suffix == ".tsv" else _separator(text))
    _refuse_disguised(path, text)
    return iter([_document(path, text, suffix, keep_licence=keep_licence)])


def _document(path: Path, text: str, suffix: str, *, keep_licence: bool) -> RawDocument:
    extract = None
    if suffix in {".html", ".htm", ".xhtml"}:
        extract = extract_html(text)
    elif suffix in {".md", ".markdown"}:
        extract = extract_markdown(text)
    if not keep_licence and (book := extract_book(extract.text if extract else text)):
        note_once(
            f"{path}: Project Gutenberg's licence and contents are left out (--keep-licence keeps them)"
        )
        extract = extract.then(book) if extract else book
    if extract is None:
        return RawDocument(_stem(path), text, turns=transcript_turns(text))
    if not extract.text.strip():
        raise DataError("has no text", place=Place(path), expected="a page with text")
    return RawDocument(_stem(path), extract.text, None, transcript_turns(extract.text), extract, text)


def _json_lines(path: Path) -> Iterator[RawDocument]:
    lines = ((number, raw) for number, raw in enumerate(iter_lines(path), start=1) if raw.strip())
    read = partial(_line, path)
    first = next(((number, read(raw, number)) for number, raw in lines), None)
    if first is None:
        return iter(())
    if first[1].get("speaker") is not None:
        return _conversations(path, [first, *((number, read(raw, number)) for number, raw in lines)])

    def documents() -> Iterator[RawDocument]:
        yield _of_record(path, first[1], first[0])
        for number, raw in lines:
            yield _of_record(path, read(raw, number), number)

    return documents()


def _line(path: Path, raw: bytes, number: int) -> _Line:
    record: _Line = read_json(raw, path, number, _Line)
    return record


def _of_record(path: Path, record: _Line, number: int) -> RawDocument:
    name = _first(record.get("id"), record.get("title"), f"{_stem(path)}-{number}")
    url = record.get("url") or None
    if re.search(r"[\t\r\n\0]", name + (url or "")) or "\0" in record["text"]:
        problem = f"{shown(name)} or {shown(url)} has a tab or line break, or the text has a NUL character"
        raise DataError(problem, place=Place(path, number), expected="an id and url of one line, and text")
    return RawDocument(name, record["text"], url, transcript_turns(record["text"]), line=number)


def _first(*ids: str | int | None) -> str:
    """The first that is given; 0 is an id too."""
    return next(str(one) for one in ids if one not in (None, ""))


def _conversations(path: Path, records: Sequence[tuple[int, _Line]]) -> Iterator[RawDocument]:
    """One document per conversation of a file, in the order of their first turns."""
    turns: dict[str, list[tuple[str, str]]] = {}
    for number, record in records:
        speaker = record.get("speaker")
        if not speaker or not speaker.strip() or re.search(r"[\r\n\0]", speaker):
            problem = f"the speaker is {shown(speaker)}"
            raise DataError(problem, place=Place(path, number), expected="a name, as in the first line")
        name = _first(record.get("conversation"), record.get("conversation_id"), _stem(path))
        turns.setdefault(name, []).append((speaker.strip(), record["text"]))
    for name, said in turns.items():
        text, placed = conversation(said)
        yield RawDocument(name, text, turns=placed)


def _json_array(path: Path, text: str) -> Iterator[RawDocument]:
    value = read_json(text.encode("utf-8", "surrogatepass"), path)
    records = value if isinstance(value, list) else [value]
    lines = [{"text": record} if isinstance(record, str) else record for record in records]
    blobs = [json.dumps(line).encode() for line in lines]
    checked = [(number, _line(path, blob, number)) for number, blob in enumerate(blobs, start=1)]
    if checked and checked[0][1].get("speaker") is not None:
        yield from _conversations(path, checked)
        return
    for number, record in checked:
        yield _of_record(path, record, number)


def _separator(text: str) -> str:
    """The separator of a CSV: a semicolon where Excel writes decimals with a comma."""
    header = text.partition("\n")[0]
    return ";" if ";" in header and "," not in header else ","


def _table(path: Path, text: str, separator: str) -> Iterator[RawDocument]:
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))  # a cell may be a novel
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        quoting=csv.QUOTE_NONE if separator == "\t" else csv.QUOTE_MINIMAL,
        strict=True,  # or a quotation mark that is not closed takes the following rows
    )
    begun, line = list[tuple[int, list[str]]](), 1
    try:
        for cells in reader:
            begun.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as problem:
        raise DataError(
            f"the row cannot be read ({problem})",
            place=Place(path, line),
            expected="cells in closed quotation marks",
            remedy='Write a quotation mark in a cell twice ("")',
        ) from None
    header, *rows = [row for row in begun if row[1]]
    columns = [cell.strip().lower() for cell in header[1]]
    if "text" not in columns:
        raise DataError(
            f"has the columns {shown(', '.join(header[1]))}",
            place=Place(path, 1),
            expected="a column 'text'",
            remedy="Rename the column with the texts, or save one text as .txt",
        )
    for line, cells in rows:
        if len(cells) != len(columns):
            raise DataError(
                f"the row has {counted(len(cells), 'cell')}",
                place=Place(path, line),
                expected=f"{counted(len(columns), 'cell')}, as the header has",
            )
        row = dict(zip(columns, cells, strict=True))
        yield _of_record(path, {"text": row["text"], "id": row.get("id"), "url": row.get("url")}, line)


def _refuse_disguised(path: Path, text: str) -> None:
    """Raise DataError for a table or JSON with the suffix of a text, which would be read as one text."""
    start = text.lstrip()
    if _is_json(start):
        raise _disguised(path, "is JSON", ".json")
    if _is_json(start.partition("\n")[0]):
        raise _disguised(path, "has JSON lines", ".jsonl")
    cells = [cell.strip().strip('"').lower() for cell in re.split(r"[,\t]", start.partition("\n")[0])]
    if len(cells) > 1 and "text" in cells and all(len(cell.split()) == 1 for cell in cells):
        raise _disguised(path, "has a table", ".tsv" if "\t" in start.partition("\n")[0] else ".csv")


def _is_json(text: str) -> bool:
    """True for a JSON array or object."""
    if text[:1] not in ("[", "{"):
        return False
    try:
        return isinstance(json.loads(text), list | dict)
    except (ValueError, RecursionError):
        return False


def _disguised(path: Path, problem: str, suffix: str) -> DataError:
    remedy = f"Name it {path.stem}{suffix} to have each of its texts read"
    return DataError(problem, place=Place(path), expected="one text", remedy=remedy)


def _stem(path: Path) -> str:
    """Name of a file without the suffixes of its format: "vol.1" of "vol.1.txt.gz"."""
    name = Path(path.name.removesuffix(".gz").removesuffix(".xz"))
    return name.stem if name.suffix.lower() in TEXT_SUFFIXES else name.name
