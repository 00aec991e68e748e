"""Base of reports with one table, the paper's figures beside ours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from gapstack.files import write_json, write_text
from gapstack.report.render import Table

_WIDTH = 140


class OneTable(ABC):
    """A report of one table; :attr:`NAME` names its files."""

    NAME: ClassVar[str]

    @property
    @abstractmethod
    def table(self) -> Table:
        """Everything, ours and theirs."""

    @abstractmethod
    def json(self) -> dict[str, Any]:
        """Unrounded figures, for ``json.dumps``."""

    def text(self) -> str:
        """Plain text."""
        return self.table.text(_WIDTH)

    def markdown(self) -> str:
        """GitHub Markdown."""
        return self.table.markdown()

    def write(self, folder: Path) -> list[Path]:
        """Write ``NAME.md`` and ``NAME.json`` to ``folder``; give their paths."""
        paths = [Path(folder) / f"{self.NAME}{suffix}" for suffix in (".md", ".json")]
        write_text(paths[0], self.markdown())
        write_json(paths[1], self.json())
        return paths
