"""One table, four renderings: lines for a terminal or a file, Markdown, HTML, JSON.

Cells are data until they are rendered, and every rendering escapes what its target would take for markup.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, groupby
from math import isnan
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.text import Text

from gapstack.corpus import html
from gapstack.errors import printable
from gapstack.report import layout
from gapstack.scoring import Difference, Interval

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 100
"""Cells of a line where there is no terminal and ``COLUMNS`` is not set."""

_LEAST_NAME = 8

Cell = str | int | float | Interval | Difference | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of numbers or words.

    ``key`` finds the cell in a row (and is its key in JSON), ``decimals`` is how a float is printed, and
    ``better`` (``"low"`` or ``"high"``) has the best cell of each section emphasised. Neighbours of one ``group``
    share a heading above their titles, and a block where the table is stacked.
    """

    key: str
    title: str
    decimals: int = 3
    better: str | None = None
    group: str = ""

    @property
    def heading(self) -> str:
        """The title with its group's, for renderings without headings above titles."""
        return f"{self.group}: {self.title}" if self.group else self.title

    def show(self, cell: Cell) -> str:
        """A cell as text, ``68.0 [61.2, 74.1]`` for an interval, ``p=0.031`` after a difference; "-" for no value."""
        if cell is None:
            return "-"
        if isinstance(cell, tuple):
            if isnan(cell.value):
                return "-"
            low, high = (f"{end:.{self.decimals}f}" for end in cell[1:3])
            p = f" p={cell.p:.3f}" if isinstance(cell, Difference) else ""
            return f"{cell.value:.{self.decimals}f} [{low}, {high}]{p}"
        return f"{cell:.{self.decimals}f}" if isinstance(cell, float) else printable(str(cell))

    def texts(self, cells: Sequence[Cell]) -> list[str]:
        """All cells as text, padded so that numbers with and without intervals are aligned at the right."""
        shown = [self.show(cell) for cell in cells]
        tails = [
            len(text) - text.find(" ") if isinstance(cell, tuple) and " " in text else 0
            for cell, text in zip(cells, shown, strict=True)
        ]
        room = max(tails, default=0)
        return [text + " " * (room - tail) for text, tail in zip(shown, tails, strict=True)]

    def flat(self, cell: Cell) -> dict[str, str | int | float | None]:
        """A cell by keys of JSON: KEY, for an interval also KEY_low and KEY_high, for a difference KEY_p."""
        if not isinstance(cell, tuple):
            return {self.key: cell}
        keys = (self.key, *(f"{self.key}_{part}" for part in cell._fields[1:]))
        return {key: None if isnan(part) else part for key, part in zip(keys, cell, strict=True)}


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under one heading: a name, and cells by column key.

    ``aside`` names rows outside the contest for the best cell (degenerate ones).
    """

    title: str
    rows: Sequence[tuple[str, Mapping[str, Cell]]]
    aside: frozenset[str] = frozenset()

    def best(self, column: Column) -> Cell:
        """Value of the best cell, if the column has a better side and there is a choice."""
        values = [
            value
            for name, cells in self.rows
            if name not in self.aside and isinstance(value := point(cells.get(column.key)), (int, float))
        ]
        if column.better is None or len(values) < 2:
            return None
        return min(values) if column.better == "low" else max(values)


@dataclass(frozen=True, slots=True)
class Table:
    """Sections of rows that share their columns."""

    columns: Sequence[Column]
    sections: Sequence[Section]
    title: str = ""
    caption: str = ""
    name_title: str = ""

    def text(self, width: int = WIDTH) -> str:
        """Aligned plain text, no line longer than ``width`` unless a number alone is."""
        return "".join(line.plain.rstrip() + "\n" for line in self.lines(width))

    def lines(self, width: int, rule: str = "-") -> Iterator[Text]:
        """The table as styled lines of at most ``width`` cells.

        Columns that do not fit side by side are stacked in blocks. Long names are cut in the middle; numbers and titles
        of sections are not cut.
        """
        if self.title:
            yield from (Text(line, "bold") for line in layout.wrap(printable(self.title), width))
            yield Text()
        rows = [row for section in self.sections for row in section.rows]
        texts = [column.texts([cells.get(column.key) for _, cells in rows]) for column in self.columns]
        sizes = [
            max(map(cell_len, (column.title, *shown)))
            for column, shown in zip(self.columns, texts, strict=True)
        ]
        name = max(map(cell_len, (self.name_title, *(printable(name) for name, _ in rows))))
        groups = [column.group for column in self.columns]
        for group, members in groupby(range(len(groups)), lambda place: groups[place]):
            *_, last = places = list(members)  # the last one makes room for the heading
            sizes[last] += max(0, cell_len(group) - layout.extent(places, sizes) + layout.GAP)
        for number, block in enumerate(layout.blocks(max(name, _LEAST_NAME), sizes, groups, width)):
            if number:
                yield Text()
            yield from self._block(block, texts, sizes, width, rule, sparse=number > 0)
        if self.caption:
            yield Text()
            yield from (Text(line, "dim") for line in layout.wrap(printable(self.caption), width))

    def _block(
        self,
        block: layout.Block,
        texts: Sequence[Sequence[str]],
        sizes: Sequence[int],
        width: int,
        rule: str,
        *,
        sparse: bool,
    ) -> Iterator[Text]:
        """Lines of some columns; ``texts`` and ``sizes`` are of all columns, ``sparse`` leaves empty rows out."""
        gap = " " * layout.GAP
        columns = {place: self.columns[place] for place in block.columns}

        def line(name: str, style: str, cells: Iterable[tuple[str, str]]) -> Text:
            text = Text()
            text.append(layout.left(layout.cut(name, block.name), block.name), style)
            for cell, cell_style in cells:
                text.append(gap).append(cell, cell_style)
            return text

        if any(column.group for column in columns.values()):
            heads = []
            for group, places in groupby(columns, lambda place: columns[place].group):
                extent = layout.extent(list(places), sizes) - layout.GAP
                heads.append((layout.left(layout.cut(group, extent), extent), "bold"))
            yield line("", "", heads)
        titles = [(layout.right(column.title, sizes[place]), "bold") for place, column in columns.items()]
        yield line(self.name_title, "bold", titles)
        yield Text(
            gap.join(rule * size for size in (block.name, *(sizes[place] for place in columns))), "dim"
        )
        numbers = count()
        for section in self.sections:
            rows = [
                (row, name, cells)
                for (name, cells), row in zip(section.rows, numbers, strict=False)
                if not sparse or any(cells.get(column.key) is not None for column in columns.values())
            ]
            if section.title and (rows or not sparse):
                yield from (Text(part, "bold cyan") for part in layout.wrap(printable(section.title), width))
            for row, name, cells in rows:
                shown = [
                    (layout.right(texts[place][row], sizes[place]), _style(section, name, cells, column))
                    for place, column in columns.items()
                ]
                yield line(printable(name), "dim" if name in section.aside else "", shown)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for line in self.lines(options.max_width, "-" if options.ascii_only else "─"):
            line.no_wrap, line.overflow = True, "ignore"
            yield line

    def markdown(self) -> str:
        """GitHub Markdown, one table a section, best cells in bold."""
        blocks = [f"**{escape_markdown(self.title)}**"] if self.title else []
        for section in self.sections:
            if section.title:
                blocks.append(escape_markdown(section.title) + ":")
            lines = [
                _pipe(
                    [escape_markdown(self.name_title), *(escape_markdown(c.heading) for c in self.columns)]
                ),
                _pipe(["---", *("---:" for _ in self.columns)]),
            ]
            for name, cells in section.rows:
                shown = [escape_markdown(name)]
                for column in self.columns:
                    cell = escape_markdown(column.show(cells.get(column.key)))
                    shown.append(f"**{cell}**" if _is_best(section, name, cells, column) else cell)
                lines.append(_pipe(shown))
            blocks.append("\n".join(lines))
        if self.caption:
            blocks.append(escape_markdown(self.caption))
        return "\n\n".join(blocks) + "\n"

    def json(self) -> dict[str, Any]:
        """Unrounded cells, for ``json.dumps``; null where there is no value, and KEY_low and KEY_high for intervals."""
        return {
            "title": self.title,
            "caption": self.caption,
            "columns": [column.key for column in self.columns],
            "sections": [
                {
                    "title": section.title,
                    "rows": [
                        {"name": name}
                        | {k: v for c in self.columns for k, v in c.flat(cells.get(c.key)).items()}
                        for name, cells in section.rows
                    ],
                }
                for section in self.sections
            ],
        }

    def _repr_html_(self) -> str:
        """One table with a row of its own for each section's title, best cells in bold."""
        rows = []
        for section in self.sections:
            if section.title:
                rows.append([f"<i>{html.escape(section.title)}</i>", *("" for _ in self.columns)])
            for name, cells in section.rows:
                shown = [html.escape(column.show(cells.get(column.key))) for column in self.columns]
                best = [_is_best(section, name, cells, column) for column in self.columns]
                marked = [
                    f"<b>{text}</b>" if is_best else text for text, is_best in zip(shown, best, strict=True)
                ]
                rows.append([html.escape(name), *marked])
        table = html.table([self.name_title, *(column.heading for column in self.columns)], rows, self.title)
        return table + (f"<p><small>{html.escape(self.caption)}</small></p>" if self.caption else "")

    def to_pandas(self) -> pd.DataFrame:
        """A data frame of the unrounded cells, a row for each row, with its section's title."""
        import pandas as pd  # slow to import

        rows = [
            {"section": section["title"], **row}
            for section in self.json()["sections"]
            for row in section["rows"]
        ]
        return pd.DataFrame(rows)

    def print(self, console: Console | None = None) -> None:
        """Write to standard output: as wide as a terminal and coloured, plain text to a file or pipe."""
        console = console or Console()
        if console.is_terminal:
            console.print(self, soft_wrap=False, crop=False)
        else:
            console.file.write(self.text(pipe_width()))


def point(cell: Cell) -> str | int | float | None:
    """A cell without its interval; None where an interval has no value."""
    if isinstance(cell, tuple):
        return None if isnan(cell.value) else cell.value
    return cell


def pipe_width() -> int:
    """Cells of a line that is no terminal's: ``COLUMNS``, else :data:`WIDTH`."""
    stated = os.environ.get("COLUMNS", "")
    return int(stated) if stated.isascii() and stated.isdigit() and int(stated) else WIDTH


def text_of(parts: Iterable[Table | str], width: int = WIDTH) -> str:
    """Tables and paragraphs (a line each, wrapped) as plain text, a blank line between two parts."""
    return "\n".join("".join(f"{line.plain.rstrip()}\n" for line in _lines(part, width)) for part in parts)


def print_parts(parts: Iterable[Table | str], console: Console) -> None:
    """Write tables and paragraphs as :meth:`Table.print` writes a table."""
    if not console.is_terminal:
        console.file.write(text_of(parts, pipe_width()))
        return
    for number, part in enumerate(parts):
        if number:
            console.print()
        if isinstance(part, Table):
            part.print(console)
        else:
            for line in _lines(part, console.width):
                console.print(line, soft_wrap=True)


def _lines(part: Table | str, width: int) -> Iterator[Text]:
    if isinstance(part, Table):
        return part.lines(width)
    return (Text(line) for text in part.splitlines() for line in layout.wrap(printable(text), width))


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is, inside a table too."""
    return "".join("\\" + letter if letter in "\\`*_{}[]<>#|~&" else letter for letter in printable(text))


def _style(section: Section, name: str, cells: Mapping[str, Cell], column: Column) -> str:
    if name in section.aside:
        return "dim"
    return "bold green" if _is_best(section, name, cells, column) else ""


def _is_best(section: Section, name: str, cells: Mapping[str, Cell], column: Column) -> bool:
    best = section.best(column)
    return best is not None and name not in section.aside and point(cells.get(column.key)) == best


def _pipe(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
