"""A member or stacker by name, label and settings: as recipes and stacks list them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from gapstack.kinds import Label


@dataclass(frozen=True, slots=True)
class Part:
    """One member or stacker.

    ``name`` is its kind, ``label`` what the recipe or stack calls it (its name unless given), ``settings`` its
    hyper-parameters where they are not the defaults.
    """

    name: str
    label: Label
    settings: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, part: str | Mapping[str, Any]) -> Self:
        """Make one of a name, or of a table that has been checked."""
        table: Mapping[str, Any] = {"name": part} if isinstance(part, str) else part
        return cls(table["name"], table.get("label", table["name"]), dict(table.get("settings", {})))
