"""Bases of reports: the paper's figures beside ours, as tables, notes and plots."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from gapstack.files import write_json, write_text
from gapstack.report.render import WIDTH, Table, text_of


class Tables(ABC):
    """A report of several tables, of notes under them, and of plots.

    :attr:`NAME` names its files.
    """

    NAME: ClassVar[str]

    @property
    @abstractmethod
    def tables(self) -> tuple[Table, ...]:
        """Everything, ours and theirs, in the order of the paper."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is said under all tables; nothing by default."""
        return ()

    @abstractmethod
    def json(self) -> dict[str, Any]:
        """Unrounded figures, for ``json.dumps``."""

    def files(self) -> Mapping[str, str]:
        """Plots, and what else is written, by file name; none by default."""
        return {}

    @property
    def parts(self) -> list[Table | str]:
        """Tables and notes, as :func:`~gapstack.report.render.print_parts` prints them."""
        return [*self.tables, *(["\n".join(self.notes)] if self.notes else [])]

    def text(self, width: int = WIDTH) -> str:
        """Plain text, no line longer than ``width`` unless a number alone is."""
        return text_of(self.parts, width)

    def markdown(self) -> str:
        """GitHub Markdown."""
        notes = "".join(f"- {note}\n" for note in self.notes)
        return "\n".join([*(table.markdown() for table in self.tables), *([notes] if notes else [])])

    def write(self, folder: Path) -> list[Path]:
        """Write ``NAME.md``, ``NAME.json`` and :meth:`files` to ``folder``; give their paths."""
        files = self.files()
        paths = [Path(folder) / name for name in (f"{self.NAME}.md", f"{self.NAME}.json", *files)]
        write_text(paths[0], self.markdown())
        write_json(paths[1], self.json())
        for path, text in zip(paths[2:], files.values(), strict=True):
            write_text(path, text)
        return paths


class ComputedTables(Tables):
    """A report whose tables, notes and files were computed together; :attr:`TITLE` is the paper's."""

    TITLE: ClassVar[str]

    def __init__(
        self,
        tables: tuple[Table, ...],
        notes: tuple[str, ...],
        files: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._tables, self._notes, self._files = tables, notes, files

    @property
    def tables(self) -> tuple[Table, ...]:
        """Those tables."""
        return self._tables

    @property
    def notes(self) -> tuple[str, ...]:
        """Those notes."""
        return self._notes

    def json(self) -> dict[str, Any]:
        """Unrounded figures, for ``json.dumps``."""
        return {
            "paper": self.TITLE,
            "tables": [table.json() for table in self.tables],
            "notes": list(self.notes),
        }

    def files(self) -> Mapping[str, str]:
        """Those files."""
        return self._files
