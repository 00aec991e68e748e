"""A report: tables and notes that are printed, or written as Markdown, JSON and further files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.display.render import Table
from gapstack.files import write_json, write_text


@dataclass(frozen=True)
class Report:
    """Paragraphs, tables and notes, in this order.

    ``data`` is for JSON, by default the ``title`` and the tables' cells; ``files`` has plots and others by name.
    """

    name: str
    tables: Sequence[Table]
    notes: Sequence[str] = ()
    data: Mapping[str, Any] | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    lead: Sequence[str] = ()
    title: str = ""

    @property
    def parts(self) -> list[Table | str]:
        """The parts as :func:`~gapstack.display.render.print_parts` prints them."""
        lead, notes = (["\n".join(lines)] if lines else [] for lines in (self.lead, self.notes))
        return [*lead, *self.tables, *notes]

    @property
    def record(self) -> Any:
        """The data for ``json.dumps``."""
        if self.data is not None:
            return plain(self.data)
        tables = [table.json() for table in self.tables]
        return {"paper": self.title or self.name, "tables": tables, "notes": list(self.notes)}

    def markdown(self) -> str:
        """The report as GitHub Markdown."""
        lead, notes = ("".join(f"- {line}\n" for line in lines) for lines in (self.lead, self.notes))
        return "\n".join(filter(None, [lead, *(table.markdown() for table in self.tables), notes]))

    def write(self, folder: Path) -> list[Path]:
        """Write ``NAME.md``, ``NAME.json`` and ``files`` to ``folder``; return their paths."""
        paths = [Path(folder) / name for name in (f"{self.name}.md", f"{self.name}.json", *self.files)]
        write_text(paths[0], self.markdown())
        write_json(paths[1], self.record)
        for path, text in zip(paths[2:], self.files.values(), strict=True):
            write_text(path, text)
        return paths


def plain(value: Any) -> Any:
    """Nested values for JSON: mappings for intervals and other named tuples, lists for arrays, null for NaN."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return None if isinstance(value, float) and isnan(value) else value
