"""One table, four renderings: rich on a terminal, aligned plain text elsewhere, Markdown, JSON.

Cells are data until they are rendered, and every rendering escapes what its target would take for markup.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from gapstack.corpus import html
from gapstack.errors import printable

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 100
"""Columns of plain text; also the widest that a terminal rendering gets."""

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of numbers or words.

    ``key`` finds the cell in a row (and is its key in JSON), ``decimals`` is how a float is printed, and
    ``better`` (``"low"`` or ``"high"``) has the best cell of each section emphasised.
    """

    key: str
    title: str
    decimals: int = 3
    better: str | None = None

    def show(self, cell: Cell) -> str:
        """A cell as text; "-" where there is no value."""
        if cell is None:
            return "-"
        return f"{cell:.{self.decimals}f}" if isinstance(cell, float) else printable(str(cell))


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
            if name not in self.aside and isinstance(value := cells.get(column.key), (int, float))
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
        """Aligned plain text, no line longer than ``width`` unless the numbers alone are."""
        shown = [
            [
                (printable(name), [c.show(cells.get(c.key)) for c in self.columns])
                for name, cells in section.rows
            ]
            for section in self.sections
        ]
        rows = [row for section in shown for row in section]
        sizes = [
            max([cell_len(column.title), *(cell_len(cells[i]) for _, cells in rows)])
            for i, column in enumerate(self.columns)
        ]
        room = width - sum(size + 2 for size in sizes)
        widest = max([cell_len(self.name_title), *(cell_len(name) for name, _ in rows)], default=0)
        # section titles may run over the columns: their lines hold nothing else
        first = max(min(widest, room), 8)

        def line(name: str, cells: Sequence[str]) -> str:
            padded = (" " * (size - cell_len(cell)) + cell for cell, size in zip(cells, sizes, strict=True))
            return "  ".join([_fit(name, first), *padded]).rstrip()

        lines = [printable(self.title), ""] if self.title else []
        lines.append(line(self.name_title, [column.title for column in self.columns]))
        lines.append("  ".join("-" * size for size in (first, *sizes)))
        for section, section_rows in zip(self.sections, shown, strict=True):
            if section.title:
                lines.append(_fit(printable(section.title), width).rstrip())
            lines.extend(line(name, cells) for name, cells in section_rows)
        if self.caption:
            lines += ["", *textwrap.wrap(printable(self.caption), width)]
        return "\n".join(lines) + "\n"

    def rich(self) -> RenderableType:
        """The table for a rich console; names are text, never markup."""
        table = RichTable(box=box.SIMPLE_HEAD, title=None, pad_edge=False)
        # the column may shrink and its texts may not wrap: so a long name is cut, and never a number
        table.add_column(_line(self.name_title))
        for column in self.columns:
            table.add_column(Text(column.title), justify="right", no_wrap=True)
        for section in self.sections:
            if section.title:
                table.add_row(_line(section.title, "bold cyan"))
            for name, cells in section.rows:
                table.add_row(
                    _line(name, "dim" if name in section.aside else ""),
                    *(
                        Text(
                            column.show(cells.get(column.key)),
                            style=self._style(section, name, cells, column),
                        )
                        for column in self.columns
                    ),
                )
            table.add_section()
        parts: list[RenderableType] = [table]
        if self.title:
            parts.insert(0, Text(printable(self.title), style="bold"))
        if self.caption:
            parts.append(Text(printable(self.caption), style="dim"))
        return Group(*parts)

    def _style(self, section: Section, name: str, cells: Mapping[str, Cell], column: Column) -> str:
        if name in section.aside:
            return "dim"
        return "bold green" if _is_best(section, name, cells, column) else ""

    def markdown(self) -> str:
        """GitHub Markdown, one table a section, best cells in bold."""
        blocks = [f"**{escape_markdown(self.title)}**"] if self.title else []
        for section in self.sections:
            if section.title:
                blocks.append(escape_markdown(section.title) + ":")
            lines = [
                _pipe([escape_markdown(self.name_title), *(escape_markdown(c.title) for c in self.columns)]),
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
        """Unrounded cells, for ``json.dumps``; null where there is no value."""
        return {
            "title": self.title,
            "caption": self.caption,
            "columns": [column.key for column in self.columns],
            "sections": [
                {
                    "title": section.title,
                    "rows": [
                        {"name": name, **{column.key: cells.get(column.key) for column in self.columns}}
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
        table = html.table([self.name_title, *(column.title for column in self.columns)], rows, self.title)
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
        """Write to standard output: rich on a terminal, plain text to a file or pipe."""
        console = console or Console()
        if console.is_terminal:
            console.print(self.rich(), width=min(console.width, WIDTH), soft_wrap=False)
        else:
            console.file.write(self.text())


def _line(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style, overflow="ellipsis", no_wrap=True)


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is, inside a table too."""
    return "".join("\\" + letter if letter in "\\`*_{}[]<>#|~&" else letter for letter in printable(text))


def _is_best(section: Section, name: str, cells: Mapping[str, Cell], column: Column) -> bool:
    best = section.best(column)
    return best is not None and name not in section.aside and cells.get(column.key) == best


def _pipe(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _fit(text: str, size: int) -> str:
    """Cut or pad to ``size`` terminal cells, an ellipsis saying that something was cut."""
    return set_cell_size(text, size) if cell_len(text) <= size else set_cell_size(text, size - 1) + "…"
