"""The papers' tables and experiments, published figures next to ours, as tables, notes, JSON and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gapstack.display.render import Cell, Column, Section, Table
from gapstack.files import write_json, write_text

Rows = Sequence[tuple[str, Mapping[str, Cell]]]


@dataclass(frozen=True)
class PaperReport:
    """Tables in the order of the paper, and notes; ``data`` is for JSON, ``files`` has plots and others by name."""

    name: str
    tables: tuple[Table, ...]
    data: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def parts(self) -> list[Table | str]:
        """Tables and notes, as :func:`~gapstack.display.render.print_parts` prints them."""
        return [*self.tables, *(["\n".join(self.notes)] if self.notes else [])]

    def markdown(self) -> str:
        """The report as GitHub Markdown."""
        notes = "".join(f"- {note}\n" for note in self.notes)
        return "\n".join([*(table.markdown() for table in self.tables), *([notes] if notes else [])])

    def write(self, folder: Path) -> list[Path]:
        """Write ``NAME.md``, ``NAME.json`` and ``files`` to ``folder``; return their paths."""
        paths = [Path(folder) / name for name in (f"{self.name}.md", f"{self.name}.json", *self.files)]
        write_text(paths[0], self.markdown())
        write_json(paths[1], dict(self.data))
        for path, text in zip(paths[2:], self.files.values(), strict=True):
            write_text(path, text)
        return paths


def tables_report(
    name: str,
    title: str,
    tables: Sequence[Table],
    notes: Sequence[str],
    files: Mapping[str, str] | None = None,
) -> PaperReport:
    """A report whose JSON holds all cells of its tables."""
    data = {"paper": title, "tables": [table.json() for table in tables], "notes": list(notes)}
    return PaperReport(name, tuple(tables), data, tuple(notes), files or {})


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
