"""The strict layer under every reader: a text file as rows of cells with their places in the file.

An error in the file as a whole always stops the reading: no rows, a byte-order mark, another header than expected, a
damaged ``.gz`` or ``.xz``. An error in one line (bytes that are not UTF-8, NUL, a carriage return, too few or too many
cells, and the reader's own checks) stops it too, unless a :class:`Quarantine` takes such lines. A missing newline at
the very end is accepted.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from gapstack.errors import DataError, Place
from gapstack.files import atomic_path, open_bytes

T = TypeVar("T")
Columns = tuple[str, ...]

_BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "UTF-8", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_LINE_ENDS = r"Convert the file, for example with: sed -i 's/\r$//' FILE"
_ONE_ROW_A_LINE = "one row a line, lines ended by a line feed alone"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: its cells and where they stand."""

    file: Path
    line: int
    columns: Columns
    cells: Sequence[str]

    def __getitem__(self, column: str) -> str:
        return self.cells[self.columns.index(column)]

    def error(
        self, column: int | str | None, problem: str, *, expected: str = "", remedy: str = ""
    ) -> DataError:
        """Make the error for something wrong in this row."""
        place = Place(self.file, self.line, column)
        return DataError(problem, place=place, expected=expected, remedy=remedy)


@dataclass
class Quarantine:
    """Collects the bad rows of files, so that a reader can go on with the good ones.

    A file with bad rows leaves ``<stem>.quarantine.tsv`` in ``folder``: line, column and reason, then the row as it
    was (``cut -f4-`` gives the rows to mend).

    Attributes
    ----------
    folder : Path
        Where to write; the current folder by default.
    problems : list of DataError
        What was wrong, in the order of the files and lines read.
    paths : list of Path
        The files written.
    """

    folder: Path = field(default_factory=Path)
    problems: list[DataError] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many rows were put aside."""
        return len(self.problems)

    def put(self, source: Path, rejected: Sequence[tuple[DataError, bytes]]) -> None:
        """Write the rejected rows of one file, if there are any, and remember them."""
        if not rejected:
            return
        target = Path(self.folder) / f"{plain_stem(source)}.quarantine.tsv"
        with atomic_path(target) as temporary, temporary.open("wb") as stream:
            stream.write(b"line\tcolumn\treason\trow\n")
            for problem, raw in rejected:
                place = problem.place or Place(source)
                reason = problem.problem + (f"; expected {problem.expected}" if problem.expected else "")
                about = [str(place.line or ""), str(place.column or ""), reason]
                head = "\t".join(" ".join(part.split()) for part in about)
                stream.write(head.encode("utf-8", "backslashreplace") + b"\t" + raw + b"\n")
        self.problems += [problem for problem, _ in rejected]
        self.paths.append(target)


def whole_number(cell: str) -> int | None:
    """Give the number that up to 15 ASCII digits write; None for any other cell."""
    return int(cell) if cell.isascii() and cell.isdigit() and len(cell) <= 15 else None


def plain_stem(path: Path) -> str:
    """File name less its compression and its format suffix: ``gap-test`` of ``gap-test.tsv.xz``."""
    path = Path(path)
    return Path(path.stem).stem if path.suffix in {".gz", ".xz"} else path.stem


def read_table(
    path: Path,
    layouts: Sequence[Columns],
    parse: Callable[[Row], T],
    *,
    separator: str = "\t",
    header: bool = True,
    quarantine: Quarantine | None = None,
) -> list[T]:
    """Read a table and give what ``parse`` makes of each row, in order; see :func:`stream_table`."""
    return list(stream_table(path, layouts, parse, separator=separator, header=header, quarantine=quarantine))


def stream_table(
    path: Path,
    layouts: Sequence[Columns],
    parse: Callable[[Row], T],
    *,
    separator: str = "\t",
    header: bool = True,
    quarantine: Quarantine | None = None,
) -> Iterator[T]:
    """Give what ``parse`` makes of each row of a table, in order, one after the other.

    Raises DataError with file, line and column, for anything wrong; also if no good row is left to read;
    DataNotFoundError if there is no such file.

    Parameters
    ----------
    layouts : sequence of column tuples
        Headers that are accepted (compared without case, ``_`` as ``-``). Without a header, the only layout.
    parse : callable
        Turns a row with the right number of cells into a value, or raises :class:`DataError`.
    separator : str
        Tab: cells are taken as they are, quotes have no meaning. Comma: cells may be quoted within a line.
    quarantine : Quarantine, optional
        Takes bad rows; without one the first of them is raised.
    """
    path = Path(path)
    columns = layouts[0]
    good = 0
    rejected: list[tuple[DataError, bytes]] = []
    for number, raw in enumerate(iter_lines(path), start=1):
        if header and number == 1:
            columns = _match_header(path, raw, layouts, separator)
            continue
        try:
            value = parse(_row(path, number, columns, raw, separator))
        except DataError as problem:
            if quarantine is None:
                raise
            rejected.append((problem, raw))
            continue
        good += 1
        yield value
    if quarantine is not None:
        quarantine.put(path, rejected)
    if not good and not rejected:
        raise DataError(
            "has a header and no rows",
            place=Place(path, 1),
            expected="one line for each example after the header",
            remedy="Check that the file was written to its end",
        )
    if not good:
        raise DataError(
            f"none of its {len(rejected)} rows is good; the first: {rejected[0][0].problem}",
            place=rejected[0][0].place,
            expected="at least one good row",
            remedy="See the quarantine file for each row's reason",
        )


def read_lines(path: Path) -> list[bytes]:
    """Give all lines of a file; raises as :func:`iter_lines` does."""
    return list(iter_lines(path))


def iter_lines(path: Path) -> Iterator[bytes]:
    """Split a file at line feeds alone: U+2028 and the like are ordinary characters of a text.

    Raises DataError if the file is empty, damaged or begins with a byte-order mark; DataNotFoundError if there is no
    such file.
    """
    with open_bytes(path) as stream:
        line = stream.readline()
        if not line:
            raise DataError("is empty", place=Place(path), expected="rows", remedy="Check how it was written")
        for mark, encoding in _BYTE_ORDER_MARKS.items():
            if line.startswith(mark):
                raise DataError(
                    f"begins with the byte-order mark of {encoding} ({mark.hex(' ').upper()})",
                    place=Place(path, 1, 1),
                    expected="UTF-8 without a mark",
                    remedy="Save it as plain UTF-8 (in spreadsheets and Windows editors: not 'UTF-8 with BOM')",
                )
        while line:
            yield line.removesuffix(b"\n")
            line = stream.readline()


def _match_header(path: Path, raw: bytes, layouts: Sequence[Columns], separator: str) -> Columns:
    row = Row(path, 1, (), _cells(path, 1, (), raw, separator))
    normal = [cell.lower().replace("_", "-") for cell in row.cells]
    for layout in layouts:
        if normal == [name.lower() for name in layout]:
            return layout
    nearest = min(layouts, key=lambda layout: abs(len(layout) - len(normal)))
    expected = f"the header {', '.join(nearest)}"
    other, word = (",", "commas") if separator == "\t" else ("\t", "tabs")
    if len(normal) == 1 and other in normal[0]:
        raise row.error(
            1,
            f"cells are separated by {word}",
            expected=f"{expected}, separated by {separator!r}",
            remedy="Convert it",
        )
    for position, name in enumerate(nearest):
        if position >= len(normal) or normal[position] != name.lower():
            shown = repr(row.cells[position][:40]) if position < len(normal) else "nothing"
            raise row.error(
                position + 1,
                f"the header has {shown}",
                expected=f"{name!r} of {expected}",
                remedy="Check that the first line is the header and that no column is missing or moved",
            )
    raise row.error(
        len(nearest) + 1,
        f"the header has the further column {row.cells[len(nearest)]!r}",
        expected=expected,
        remedy="Remove it",
    )


def _row(path: Path, number: int, columns: Columns, raw: bytes, separator: str) -> Row:
    cells = _cells(path, number, columns, raw, separator)
    row = Row(path, number, columns, cells)
    if not raw:
        raise row.error(None, "the line is empty", expected=f"{len(columns)} cells", remedy="Delete the line")
    if len(cells) < len(columns):
        raise row.error(
            columns[len(cells)],
            f"the row ends after {len(cells)} cells",
            expected=f"{len(columns)} cells ({', '.join(columns)})",
            remedy="Look for a line break inside a cell",
        )
    if len(cells) > len(columns):
        mark = "tab" if separator == "\t" else "comma"
        raise row.error(
            len(columns) + 1,
            f"the row has {len(cells)} cells",
            expected=f"{len(columns)} cells ({', '.join(columns)})",
            remedy=f"Look for a {mark} inside a cell",
        )
    return row


def _cells(path: Path, number: int, columns: Columns, raw: bytes, separator: str) -> Sequence[str]:
    """Decode and split one line."""

    def refuse(at: int, problem: str, expected: str, remedy: str) -> DataError:
        position = raw[:at].count(separator.encode())
        column = columns[position] if position < len(columns) else position + 1
        return DataError(problem, place=Place(path, number, column), expected=expected, remedy=remedy)

    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        byte = raw[problem.start]
        raise refuse(
            problem.start,
            f"byte 0x{byte:02X} (byte {problem.start + 1} of the line) is not UTF-8",
            "UTF-8",
            f"Convert the file; in Latin-1 the byte would be {bytes([byte]).decode('latin-1')!r}",
        ) from None
    if "\r" in text:
        at = raw.index(b"\r")
        if at == len(raw) - 1:
            raise refuse(at, "the line ends in CRLF (Windows line ends)", _ONE_ROW_A_LINE, _LINE_ENDS)
        raise refuse(at, "there is a carriage return inside the line", _ONE_ROW_A_LINE, "Remove it")
    if "\0" in text:
        raise refuse(raw.index(b"\0"), "there is a NUL character", "text", "Get or write the file again")
    if separator == "\t" or '"' not in text:
        return text.split(separator)
    try:
        return next(_csv(text))
    except csv.Error as problem:
        raise refuse(
            raw.index(b'"'),
            f"a quoted cell is broken ({problem})",
            "quotes that close on the line",
            "Mend it",
        ) from None


def _csv(line: str) -> Iterator[list[str]]:
    return csv.reader([line], strict=True)
