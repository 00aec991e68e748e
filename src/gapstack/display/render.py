"""The table type of all reports, with its renderers: terminal and plain text, Markdown, HTML, JSON and pandas.

A table has columns and sections of named rows. Cells stay unrounded until they are rendered, and every renderer escapes
what its target would read as markup::

    table = Table(
        [metric_column("logloss"), Column("seconds", "seconds", decimals=1)],
        [Section("held out", [("stack", {"logloss": Interval(0.43, 0.41, 0.45), "seconds": 12.5})])],
        title="Scores",
        name_title="member",
    )
    table.print()                        # coloured in a terminal, plain text in a pipe
    print_parts([table, "A note."])      # the same for several tables and paragraphs
    table.text(80), table.markdown(), table.json(), table.to_pandas()

Cells are plain Python values instead of a data frame, because importing pandas takes longer than most listings.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import isnan
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from gapstack.data import html
from gapstack.errors import printable
from gapstack.evaluation import METRICS, Difference, Interval

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 100
"""Default line width in terminal cells, without a terminal and without ``COLUMNS``."""

_GAP = "  "
_SHORTEST_NAME = 20  # names are cut to this, or to a third of the width, before columns are stacked
_NAME_COLUMN = 8
_QUIET = Console(quiet=True)


@dataclass(frozen=True, slots=True)
class StyledCell:
    """A cell of a page: text, sort value, CSS class, small print, and ends of a drawn interval."""

    text: str
    value: str | int | float | None = None
    kind: str = ""
    note: str = ""
    ends: tuple[float, float] | None = None


Cell = str | int | float | Interval | Difference | StyledCell | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of numbers or words.

    ``key`` finds its cells in a row and in JSON; floats have ``decimals``; ``better`` (``"low"`` or ``"high"``)
    emphasises the best cell of each section; neighbours of one ``group`` share a heading above their titles, and a
    block; ``help`` explains the column on pages.
    """

    key: str
    title: str
    decimals: int = 3
    better: str | None = None
    group: str = ""
    help: str = ""

    @property
    def heading(self) -> str:
        """The title, preceded by its group."""
        return f"{self.group}: {self.title}" if self.group else self.title

    def show(self, cell: Cell) -> str:
        """A cell as text, such as ``68.0 [61.2, 74.1] p=0.031``; "-" for a missing value."""
        if point(cell) is None:
            return "-"
        if isinstance(cell, Interval | Difference):
            value, low, high = (f"{part:.{self.decimals}f}" for part in cell[:3])
            interval = "" if isnan(cell.low) else f" [{low}, {high}]"
            return value + interval + (f" {p_value(cell.p)}" if isinstance(cell, Difference) else "")
        return f"{cell:.{self.decimals}f}" if isinstance(cell, float) else printable(str(point(cell)))

    def texts(self, cells: Sequence[Cell]) -> list[str]:
        """All cells as text, padded so that numbers with and without intervals are aligned on the right."""
        shown = [self.show(cell) for cell in cells]
        tails = [
            len(text) - text.find(" ") if isinstance(cell, tuple) and " " in text else 0
            for cell, text in zip(cells, shown, strict=True)
        ]
        return [text + " " * (max(tails) - tail) for text, tail in zip(shown, tails, strict=True)]

    def flat(self, cell: Cell) -> dict[str, str | int | float | None]:
        """JSON items of a cell: KEY, plus KEY_low and KEY_high of an interval and KEY_p of a difference."""
        if not isinstance(cell, tuple):
            return {self.key: point(cell)}
        keys = (self.key, *(f"{self.key}_{part}" for part in cell._fields[1:]))
        return {key: None if isnan(part) else part for key, part in zip(keys, cell, strict=True)}


def metric_column(name: str, **changes: Any) -> Column:
    """The column of a metric in :data:`gapstack.evaluation.METRICS`, with ``changes`` to its fields."""
    metric = METRICS[name]
    return replace(Column(name, metric.title, metric.decimals, metric.better, help=metric.help), **changes)


SectionRows = Sequence[tuple[str, Mapping[str, Cell]]]
"""Pairs of a name and its cells by column key."""


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under one heading: pairs of a name and its cells by column key.

    Rows named in ``aside`` (constant baselines, say) are dimmed and never the best.
    """

    title: str
    rows: SectionRows
    aside: frozenset[str] = frozenset()

    def best(self, column: Column) -> Cell:
        """Value of the best cell; None if the column has no direction or fewer than two values."""
        points = [point(cells.get(column.key)) for name, cells in self.rows if name not in self.aside]
        values = [value for value in points if isinstance(value, int | float)]
        if column.better is None or len(values) < 2:
            return None
        return min(values) if column.better == "low" else max(values)

    def is_best(self, name: str, cells: Mapping[str, Cell], column: Column) -> bool:
        """True for the best cell of its column."""
        best = self.best(column)
        return best is not None and name not in self.aside and point(cells.get(column.key)) == best


@dataclass(frozen=True, slots=True)
class Table:
    """Sections of rows that share their columns, with optional title, caption and heading of the names.

    ``key`` is its name in JSON; tables of ``detail`` are shown in detailed reports only.
    """

    columns: Sequence[Column]
    sections: Sequence[Section]
    title: str = ""
    caption: str = ""
    name_title: str = ""
    key: str = ""
    detail: bool = False

    @property
    def rows(self) -> dict[str, Mapping[str, Cell]]:
        """Cells of the first section by name."""
        return dict(self.sections[0].rows)

    def column(self, key: str) -> Column:
        """The column with this key."""
        return next(column for column in self.columns if column.key == key)

    def text(self, width: int = WIDTH) -> str:
        """Aligned plain text; only a single number may be longer than ``width``."""
        return text_of([self], width)

    def lines(self, width: int, rule: str = "-") -> Iterator[Text]:
        """The table as styled lines of at most ``width`` cells.

        Columns that do not fit are stacked in blocks. Long names are cut in the middle, nothing else is cut.
        """
        if self.title:
            yield from _wrapped(self.title, width, "bold")
            yield Text()
        rows = [row for section in self.sections for row in section.rows]
        texts = [column.texts([cells.get(column.key) for _, cells in rows]) for column in self.columns]
        sizes = [
            max(map(cell_len, (column.title, *shown)))
            for column, shown in zip(self.columns, texts, strict=True)
        ]
        for group, places in groupby(range(len(sizes)), lambda place: self.columns[place].group):
            own = list(places)
            sizes[own[-1]] += max(0, cell_len(group) - _extent(sizes, own) + len(_GAP))
        names = [self.name_title, *(printable(name) for name, _ in rows)]
        for number, block in enumerate(self._blocks(max(_NAME_COLUMN, *map(cell_len, names)), sizes, width)):
            if number:
                yield Text()
            yield from self._block(*block, texts, sizes, width, rule, sparse=number > 0)
        if self.caption:
            yield Text()
            yield from _wrapped(self.caption, width, "dim")

    def _blocks(self, name: int, sizes: Sequence[int], width: int) -> list[tuple[int, list[int]]]:
        """Size of the names and places of the columns of each block; neighbours of a group share one if they fit."""
        smallest = min(name, max(_SHORTEST_NAME, width // 3))
        parts: list[list[int]] = [[]]
        for group, places in groupby(range(len(sizes)), lambda place: self.columns[place].group):
            own = list(places)
            fits = group and _extent(sizes, own) <= width - smallest
            for chunk in [own] if fits else [[place] for place in own]:
                if parts[-1] and _extent(sizes, parts[-1] + chunk) > width - smallest:
                    parts.append([])
                parts[-1] += chunk
        # names are cut to the same size in all blocks, except next to a single column that needs more room
        rest = [width - _extent(sizes, part) for part in parts]
        size = min([name, *(max(smallest, room) for room in rest)])
        return [(max(1, min(size, room)), part) for room, part in zip(rest, parts, strict=True)]

    def _block(
        self,
        name_size: int,
        places: Sequence[int],
        texts: Sequence[Sequence[str]],
        sizes: Sequence[int],
        width: int,
        rule: str,
        *,
        sparse: bool,
    ) -> Iterator[Text]:
        """Lines of some columns; a ``sparse`` block leaves out rows without values."""
        columns = [self.columns[place] for place in places]

        def line(name: str, style: str, cells: Iterable[tuple[str, str]]) -> Text:
            return Text(_GAP).join([Text(_fitted(name, name_size), style), *(Text(*cell) for cell in cells)])

        if any(column.group for column in columns):
            groups = groupby(places, lambda place: self.columns[place].group)
            headings = [(group, _extent(sizes, list(own)) - len(_GAP)) for group, own in groups]
            yield line("", "", ((_fitted(group, size), "bold") for group, size in headings))
        titles = [(_right(self.columns[place].title, sizes[place]), "bold") for place in places]
        yield line(self.name_title, "bold", titles)
        yield Text(_GAP.join(rule * size for size in (name_size, *(sizes[place] for place in places))), "dim")
        number = -1
        for section in self.sections:
            shown = []
            for name, cells in section.rows:
                number += 1
                if sparse and all(point(cells.get(column.key)) is None for column in columns):
                    continue
                aside = "dim" if name in section.aside else ""
                styles = ("bold green" if section.is_best(name, cells, c) else aside for c in columns)
                padded = (_right(texts[place][number], sizes[place]) for place in places)
                shown.append(line(printable(name), aside, zip(padded, styles, strict=True)))
            if section.title and (shown or not sparse):
                yield from _wrapped(section.title, width, "bold cyan")
            yield from shown

    def print(self, console: Console | None = None) -> None:
        """Write to standard output: coloured and as wide as a terminal, or plain text to a file or pipe."""
        print_parts([self], console or Console())

    def markdown(self) -> str:
        """GitHub Markdown, one table for each section, best cells in bold."""
        blocks = [f"**{escape_markdown(self.title)}**"] if self.title else []
        header = [self.name_title, *(column.heading for column in self.columns)]
        for section in self.sections:
            if section.title:
                blocks.append(escape_markdown(section.title) + ":")
            rows = [[escape_markdown(title) for title in header], ["---", *["---:"] * len(self.columns)]]
            rows += self._marked(section, escape_markdown, "**{}**")
            blocks.append("\n".join(f"| {' | '.join(cells)} |" for cells in rows))
        if self.caption:
            blocks.append(escape_markdown(self.caption))
        return "\n\n".join(blocks) + "\n"

    def _repr_html_(self) -> str:
        """One HTML table, best cells in bold."""
        rows = []
        for section in self.sections:
            if section.title:
                rows.append([f"<i>{html.escape(section.title)}</i>", *("" for _ in self.columns)])
            rows += self._marked(section, html.escape, "<b>{}</b>")
        table = html.table([self.name_title, *(column.heading for column in self.columns)], rows, self.title)
        return table + (f"<p><small>{html.escape(self.caption)}</small></p>" if self.caption else "")

    def _marked(self, section: Section, escape: Callable[[str], str], bold: str) -> Iterator[list[str]]:
        """Escaped name and cells of each row of a section, the best cells in bold."""
        for name, cells in section.rows:
            shown = [(column, escape(column.show(cells.get(column.key)))) for column in self.columns]
            best = (bold.format(text) if section.is_best(name, cells, c) else text for c, text in shown)
            yield [escape(name), *best]

    def json(self) -> dict[str, Any]:
        """Unrounded cells for ``json.dumps``: null for missing values, KEY_low and KEY_high for intervals."""
        return {
            "title": self.title,
            "caption": self.caption,
            "columns": [column.key for column in self.columns],
            "sections": [
                {"title": section.title, "rows": list(self._records(section))} for section in self.sections
            ],
        }

    def to_pandas(self) -> pd.DataFrame:
        """A data frame of the unrounded cells, with the section of each row."""
        import pandas as pd  # slow to import

        return pd.DataFrame(
            {"section": section.title, **record}
            for section in self.sections
            for record in self._records(section)
        )

    def _records(self, section: Section) -> Iterator[dict[str, Any]]:
        for name, cells in section.rows:
            record: dict[str, Any] = {"name": name}
            for column in self.columns:
                record |= column.flat(cells.get(column.key))
            yield record


def point(cell: Cell) -> str | int | float | None:
    """A cell without its interval; None for NaN."""
    if isinstance(cell, StyledCell):
        return cell.text
    value = cell.value if isinstance(cell, Interval | Difference) else cell
    return None if isinstance(value, float) and isnan(value) else value


def p_value(p: float) -> str:
    """A p-value to three decimals, such as ``p=0.031`` or ``p<0.001``."""
    return "p<0.001" if p < 0.001 else f"p={p:.3f}"


def pipe_width() -> int:
    """Line width without a terminal: ``COLUMNS``, else :data:`WIDTH`."""
    stated = os.environ.get("COLUMNS", "")
    return int(stated) if stated.isascii() and stated.isdigit() and int(stated) else WIDTH


def text_of(parts: Iterable[Table | str], width: int = WIDTH) -> str:
    """Tables and paragraphs as plain text, with a blank line between two parts."""
    return "\n".join("".join(f"{line.plain.rstrip()}\n" for line in _lines(part, width)) for part in parts)


def print_parts(parts: Iterable[Table | str], console: Console) -> None:
    """Write tables and paragraphs: coloured to a terminal, plain text to a file or pipe."""
    if not console.is_terminal:
        console.file.write(text_of(parts, pipe_width()))
        return
    for number, part in enumerate(parts):
        if number:
            console.print()
        for line in _lines(part, console.width, "-" if console.options.ascii_only else "─"):
            console.print(line, soft_wrap=True)


def _lines(part: Table | str, width: int, rule: str = "-") -> Iterator[Text]:
    if isinstance(part, Table):
        return part.lines(width, rule)
    return (line for text in part.splitlines() for line in _wrapped(text, width))


def escape_markdown(text: str) -> str:
    """Text that Markdown shows literally, inside a table too."""
    return "".join("\\" + letter if letter in "\\`*_{}[]<>#|~&" else letter for letter in printable(text))


def _wrapped(text: str, width: int, style: str = "") -> Iterator[Text]:
    """Lines of at most ``width`` cells, broken between words where possible; none for an empty text."""
    lines = Text(printable(text)).wrap(_QUIET, width) if text else ()
    return (Text(line.plain.rstrip(), style) for line in lines)


def _extent(sizes: Sequence[int], places: Sequence[int]) -> int:
    """Cells that columns take side by side, each with the gap before it."""
    return sum(len(_GAP) + sizes[place] for place in places)


def _fitted(text: str, size: int) -> str:
    """Text in exactly ``size`` cells, with an ellipsis in the middle if it is longer."""
    if cell_len(text) > size:
        left = size // 2
        head = set_cell_size(text, left).rstrip()
        tail = set_cell_size(text[::-1], size - left - 1)[::-1].lstrip() if size - left > 1 else ""
        text = f"{head}…{tail}"
    return text + " " * (size - cell_len(text))


def _right(text: str, size: int) -> str:
    return " " * (size - cell_len(text)) + text
