"""Web pages: one self-contained file with the shared style, tabs and sortable tables, which works offline.

All data are escaped, or JSON that the script inserts as text; a content security policy keeps the page from loading
anything. Templates render a :class:`~gapstack.display.render.Table` with the macro ``show`` of ``tables.html.j2``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from math import isnan
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from gapstack.data import Span
from gapstack.display.render import Cell, Column, StyledCell, Table, p_value, point
from gapstack.evaluation import Difference, Interval

_SHELL = "gapstack.display"


def render(package: str, data: dict[str, Any], scripts: Sequence[str] = (), **context: Any) -> str:
    """Render a page as HTML.

    ``package`` holds ``page.html.j2``, which extends ``shell.html.j2``, ``page.css`` and the ``scripts``, which run in
    this order after the shell's and read ``data``; ``context`` are variables of the template, such as ``title``.
    """
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=ChoiceLoader([PackageLoader(package, "."), PackageLoader(_SHELL, ".")]),
    )
    environment.globals.update(page_cell=page_cell, interval_range=interval_range)
    # JSON that can neither end a script element nor open a comment in it
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return environment.get_template("page.html.j2").render(
        style=_file(_SHELL, "shell.css") + _file(package, "page.css"),
        scripts=[
            _file(_SHELL, "theme.js"),
            _file(_SHELL, "shell.js"),
            *(_file(package, name) for name in scripts),
        ],
        data=text,
        **context,
    )


def page_cell(column: Column, cell: Cell, best: Cell = None, *, quiet: bool = False) -> StyledCell:
    """A cell with its interval and p-value in small print, or with a drawn interval if it is ``quiet``."""
    if isinstance(cell, StyledCell):
        return cell
    value = point(cell)
    kind = "best" if value is not None and value == best else ""
    if not isinstance(cell, Interval | Difference) or value is None:
        return StyledCell(column.show(cell), value, kind)
    low, high = cell[1], cell[2]
    ends = None if isnan(low) or isnan(high) else (low, high)
    notes = [f"[{low:.{column.decimals}f}, {high:.{column.decimals}f}]"] if ends and not quiet else []
    if isinstance(cell, Difference):
        notes.append(p_value(cell.p))
        kind = "clear" if ends and cell.p < 0.05 else kind
    return StyledCell(f"{value:.{column.decimals}f}", value, kind, " ".join(notes), ends)


def interval_range(table: Table, column: Column) -> tuple[float, float]:
    """Smallest and largest end of a column's intervals."""
    cells = [cells.get(column.key) for section in table.sections for _, cells in section.rows]
    intervals = [cell for cell in cells if isinstance(cell, Interval | Difference)]
    ends = [end for cell in intervals for end in cell[1:3] if not isnan(end)]
    return min(ends, default=0.0), max(ends, default=0.0)


def utf16(text: str, span: Span) -> list[int]:
    """A span in UTF-16 units, as JavaScript counts."""
    return [len(text[:end].encode("utf-16-le", "surrogatepass")) // 2 for end in span]


def _file(package: str, name: str) -> str:
    return (resources.files(package) / name).read_text(encoding="utf-8")
