"""The papers' tables and experiments, published figures next to ours."""

from collections.abc import Mapping, Sequence

from gapstack.display.render import Cell, Column, Section, Table

Rows = Sequence[tuple[str, Mapping[str, Cell]]]


def two_sections(
    columns: Sequence[Column],
    sections: Mapping[str, Rows],
    title: str,
    caption: str = "",
    names: str = "system",
) -> Table:
    """A table with a section for the paper's rows, if there are any, and one for ours."""
    shown = [Section(heading, rows) for heading, rows in sections.items() if rows or heading == "ours"]
    return Table(columns, shown, title, caption, names)
