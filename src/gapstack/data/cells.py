"""Strict reading of text files: tables as rows of cells with their places, lines, whole texts, and JSON.

Lines may end in CRLF, and a file may begin with UTF-8's byte-order mark, as Excel and Python's csv module write them.
An error in the file as a whole always raises. An error in one line (invalid UTF-8, NUL, a carriage return within it, a
wrong number of cells, the reader's own checks) raises too, unless a :class:`Quarantine` collects such lines.
"""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from gapstack.errors import DataError, Place, located, shown
from gapstack.files import atomic_path, open_bytes, read_bytes

T = TypeVar("T")
Columns = tuple[str, ...]

_UTF_8_MARK = b"\xef\xbb\xbf"
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: its cells and their place in the file."""

    file: Path
    line: int
    columns: Columns
    cells: Sequence[str]

    def __getitem__(self, column: str) -> str:
        if column not in self.columns:
            raise self.error(column, "the column is missing", expected=f"a {column}")
        return self.cells[self.columns.index(column)]

    @property
    def place(self) -> Place:
        """The row's place in its file."""
        return Place(self.file, self.line)

    def error(self, column: int | str | None, problem: str, **more: str) -> DataError:
        """A DataError with this row's place; ``more`` are its ``expected`` and ``remedy``."""
        return DataError(problem, place=Place(self.file, self.line, column), **more)


@dataclass
class Quarantine:
    """Collects the bad rows of files in ``<stem>.quarantine.tsv``, so that a reader can go on with the good ones."""

    folder: Path = field(default_factory=Path)
    problems: list[DataError] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)

    def put(self, source: Path, rejected: Sequence[tuple[DataError, bytes]]) -> None:
        """Write the bad rows of one file, if there are any, each after its line, column and reason."""
        if not rejected:
            return
        target = Path(self.folder) / f"{plain_stem(source)}.quarantine.tsv"
        with atomic_path(target) as temporary, temporary.open("wb") as stream:
            stream.write(b"line\tcolumn\treason\trow\n")
            for problem, raw in rejected:
                place = problem.place or Place(source)
                reason = problem.problem + (f"; expected {problem.expected}" if problem.expected else "")
                about = [str(place.line or ""), str(place.column or ""), reason]
                head = "\t".join(" ".join(cell.split()) for cell in about)
                stream.write(head.encode("utf-8", "backslashreplace") + b"\t" + raw + b"\n")
        self.problems += [problem for problem, _ in rejected]
        self.paths.append(target)


def whole_number(cell: str) -> int | None:
    """The number written in up to 15 ASCII digits; None for any other cell."""
    return int(cell) if cell.isascii() and cell.isdigit() and len(cell) <= 15 else None


def plain_stem(path: Path) -> str:
    """File name without compression and format suffix: ``gap-test`` for ``gap-test.tsv.xz``."""
    path = Path(path)
    return Path(path.stem).stem if path.suffix in {".gz", ".xz"} else path.stem


def plain_suffix(path: Path) -> str:
    """Format suffix of a file, ``.tsv`` for ``gap-test.tsv.xz``; "" if it has none."""
    return next((suffix for suffix in reversed(path.suffixes) if suffix not in {".gz", ".xz"}), "")


def read_table(path: Path, layouts: Sequence[Columns], parse: Callable[[Row], T], **options: Any) -> list[T]:
    """Return ``parse(row)`` for each row of a table; arguments and errors are those of :func:`stream_table`."""
    return list(stream_table(path, layouts, parse, **options))


def stream_table(
    path: Path,
    layouts: Sequence[Columns],
    parse: Callable[[Row], T],
    *,
    separator: str = "\t",
    header: bool = True,
    quarantine: Quarantine | None = None,
) -> Iterator[T]:
    """Yield ``parse(row)`` for each row of a table whose header is one of ``layouts``.

    Headers are compared without case, and ``_`` equals ``-``; without a ``header`` the first layout holds. Quotes have
    no meaning in tables with tabs; cells of tables with commas may be quoted. Raises DataError with the line for an
    unknown header, a row that is not valid, or a table without rows; a ``quarantine`` collects invalid rows instead.
    """
    path, columns, is_empty = Path(path), layouts[0], True
    rejected: list[tuple[DataError, bytes]] = []
    for number, raw in enumerate(iter_lines(path), start=1):
        try:
            with located(Place(path, number)):
                row = Row(path, number, columns, _split(raw, separator))
                if header and number == 1:
                    columns = _match_header(row, layouts, separator)
                    continue
                if len(row.cells) != len(columns):
                    expected = f"{len(columns)} cells ({', '.join(columns)})"
                    remedy = "Look for a line break or separator inside a cell"
                    problem = f"the row has {len(row.cells)} cells"
                    raise row.error(None, problem, expected=expected, remedy=remedy)
                value = parse(row)
        except DataError as error:
            if quarantine is None or (header and number == 1):
                raise
            rejected.append((error, raw))
            continue
        is_empty = False
        yield value
    if quarantine is not None:
        quarantine.put(path, rejected)
    if is_empty:
        nothing = DataError("has no rows", place=Place(path, 1), expected="rows after the header")
        raise rejected[0][0] if rejected else nothing


def iter_lines(path: Path) -> Iterator[bytes]:
    """Split a file at line feeds or CRLF, without a byte-order mark; DataError if it is empty, damaged or UTF-16."""
    with open_bytes(path) as stream:
        number = 0
        for number, line in enumerate(stream, start=1):
            if number == 1 and line.startswith(_UTF_16_MARKS):
                raise DataError(
                    f"looks like UTF-16 (begins with {line[:2].hex(' ').upper()})",
                    place=Place(path, 1, 1),
                    expected="UTF-8",
                    remedy="Save it as UTF-8",
                )
            text = line.removeprefix(_UTF_8_MARK) if number == 1 else line
            yield text.removesuffix(b"\n").removesuffix(b"\r")
        if not number:
            raise DataError("is empty", place=Place(path), expected="rows")


def read_text(path: Path) -> str:
    """Read a text file; lines may end in CRLF. DataError if it is empty or not UTF-8, with the line."""
    blob = read_bytes(path)
    if not blob.strip():
        raise DataError("is empty", place=Place(path), expected="text", remedy="Get it again")
    return decode(blob, path).replace("\r\n", "\n")


def decode(blob: bytes, name: Path | str) -> str:
    """Decode UTF-8, with or without a byte-order mark; DataError with the line otherwise."""
    try:
        return blob.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        looks = ": it looks like UTF-16" if blob.startswith(_UTF_16_MARKS) else ""
        raise DataError(
            f"byte 0x{blob[problem.start]:02X} is not UTF-8{looks}",
            place=Place(name, blob[: problem.start].count(b"\n") + 1),
            expected="text in UTF-8",
        ) from None


def read_json(blob: bytes, file: Path, line: int = 1, kind: Any = Any) -> Any:
    """Parse JSON and check it strictly against the type ``kind``; DataError with place, key and value found."""
    from pydantic import ValidationError  # slow to import

    try:
        return _type_adapter(kind).validate_json(blob, strict=True)
    except ValidationError as error:
        (first, *_) = error.errors()
        where = ".".join(map(str, first["loc"]))
        expected = first["msg"].removeprefix("Input should be ")
        problem = f"{where or 'the value'} is {shown(first['input'])}"
        if first["type"] == "json_invalid":
            problem, expected = f"is not valid JSON ({first['ctx']['error']})", "JSON in UTF-8"
        elif first["type"] == "missing":
            problem, expected = f"has no {where!r}", "this key"
        raise DataError(problem, place=Place(file, line), expected=expected) from None


@lru_cache(maxsize=64)
def _type_adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _match_header(row: Row, layouts: Sequence[Columns], separator: str) -> Columns:
    """The layout that a header matches; DataError if it matches none."""
    normal = [cell.lower().replace("_", "-") for cell in row.cells]
    for layout in layouts:
        if normal == [name.lower() for name in layout]:
            return layout
    nearest = min(layouts, key=lambda layout: len({name.lower() for name in layout} ^ set(normal)))
    marks = "commas" if separator == "," else "tabs"
    problem = f"the header is {shown(separator.join(row.cells))}"
    raise row.error(None, problem, expected=f"{', '.join(nearest)}, with {marks} between")


def _split(raw: bytes, separator: str) -> Sequence[str]:
    """Cells of one line; DataError without a place for characters that no cell may have."""
    expected = "text in UTF-8, one row a line"
    if bad := re.search(rb"[\r\0]", raw):
        name = "NUL" if bad[0] == b"\0" else "carriage return within the line"
        raise DataError(f"has a {name}", expected=expected)
    try:
        text = raw.decode("utf-8")
        return next(csv.reader([text], strict=True)) if separator == "," else text.split(separator)
    except (UnicodeDecodeError, csv.Error) as problem:
        raise DataError(f"cannot be read ({problem})", expected=expected) from None
