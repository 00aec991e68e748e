"""Tables of the pages: the cells of a :class:`~gapstack.report.render.Table` with their sort values and classes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from gapstack.report.render import Cell, Column, Table, point
from gapstack.scoring import Difference

_LEAST_P = 0.001  # the audit's tests permute two thousand times


@dataclass(frozen=True, slots=True)
class WebCell:
    """A cell: text, sort value, class (``best``, ``clear``, a verdict), small print, and ends of its interval."""

    text: str
    value: str | int | float | None = None
    kind: str = ""
    note: str = ""
    ends: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class WebRow:
    """A row: its name, cells, class (``aside`` for published figures), address of its name, and its member's name.

    Rows with a ``member`` are shown while the member is picked.
    """

    name: str
    cells: Sequence[WebCell]
    kind: str = ""
    link: str = ""
    member: str = ""


@dataclass(frozen=True, slots=True)
class WebTable:
    """A table that can be sorted by each column, the first of which holds the rows' names.

    ``scales`` holds the least and greatest value of the columns whose intervals are drawn, by their place from 0.
    """

    columns: Sequence[str]
    rows: Sequence[WebRow]
    title: str = ""
    caption: str = ""
    scales: Mapping[int, tuple[float, float]] | None = None


def web_table(
    table: Table,
    *,
    links: Mapping[str, str] | None = None,
    members: Mapping[str, str] | None = None,
    drawn: Collection[str] = (),
) -> WebTable:
    """Give a table as a page shows it.

    Parameters
    ----------
    table : Table
    links, members : mapping of str to str, optional
        Address, and member, of the rows of a name.
    drawn : collection of str
        Keys of the columns whose intervals are drawn.
    """
    rows = [
        WebRow(
            name.strip(),
            [
                web_cell(column, cells.get(column.key), section.best(column), quiet=column.key in drawn)
                for column in table.columns
            ],
            "aside" if name in section.aside else "",
            (links or {}).get(name, ""),
            (members or {}).get(name, ""),
        )
        for section in table.sections
        for name, cells in section.rows
    ]
    scales: dict[int, tuple[float, float]] = {}
    for place, column in enumerate(table.columns):
        ends = [cell.ends for row in rows if column.key in drawn and (cell := row.cells[place]).ends]
        if ends:
            scales[place] = min(low for low, _ in ends), max(high for _, high in ends)
    return WebTable(
        [table.name_title, *(column.heading for column in table.columns)],
        rows,
        table.title or table.sections[0].title,
        table.caption,
        scales,
    )


def web_cell(column: Column, cell: Cell, best: Cell = None, *, quiet: bool = False) -> WebCell:
    """A cell with its interval and p in small print, unless it is ``quiet``; sorted by its value."""
    value = point(cell)
    kind = "best" if value is not None and value == best else ""
    if not isinstance(cell, tuple) or value is None:
        return WebCell(column.show(cell), value, kind)
    low, high = cell[1], cell[2]
    ends = None if isnan(low) or isnan(high) else (low, high)
    notes = [f"[{low:.{column.decimals}f}, {high:.{column.decimals}f}]"] if ends and not quiet else []
    if isinstance(cell, Difference):
        notes.append(f"p={cell.p:.3f}" if cell.p >= _LEAST_P else f"p<{_LEAST_P}")
        kind = "clear" if ends and cell.p < 0.05 else kind
    return WebCell(f"{value:.{column.decimals}f}", value, kind, " ".join(notes), ends)
