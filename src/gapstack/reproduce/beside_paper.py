"""Bases of reports: the paper's figures beside ours, as tables and plots."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from gapstack.files import write_json, write_text
from gapstack.report.render import Table

_WIDTH = 140


class Tables(ABC):
    """A report of several tables, and of plots; :attr:`NAME` names its files."""

    NAME: ClassVar[str]

    @property
    @abstractmethod
    def tables(self) -> tuple[Table, ...]:
        """Everything, ours and theirs, in the order of the paper."""

    @abstractmethod
    def json(self) -> dict[str, Any]:
        """Unrounded figures, for ``json.dumps``."""

    def plots(self) -> Mapping[str, str]:
        """SVG by file name; none by default."""
        return {}

    def text(self) -> str:
        """Plain text."""
        return "\n".join(table.text(_WIDTH) for table in self.tables)

    def markdown(self) -> str:
        """GitHub Markdown."""
        return "\n".join(table.markdown() for table in self.tables)

    def write(self, folder: Path) -> list[Path]:
        """Write ``NAME.md``, ``NAME.json`` and the plots to ``folder``; give their paths."""
        plots = self.plots()
        paths = [Path(folder) / name for name in (f"{self.NAME}.md", f"{self.NAME}.json", *plots)]
        write_text(paths[0], self.markdown())
        write_json(paths[1], self.json())
        for path, plot in zip(paths[2:], plots.values(), strict=True):
            write_text(path, plot)
        return paths


class OneTable(Tables):
    """A report of one table."""

    @property
    @abstractmethod
    def table(self) -> Table:
        """Everything, ours and theirs."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """That table."""
        return (self.table,)
