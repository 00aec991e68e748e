"""A member or stacker by name, label and settings: as recipes and stacks list them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Self

from gapstack.errors import MemberError
from gapstack.kinds import Label
from gapstack.members import published
from gapstack.settings import SettingError, shown

BASE, EACH = "base", "each"
_PUBLISHED = "published"


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


def spelled_out(table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Spell out a member's table of a recipe: published settings filled in, one table for each value of ``each``.

    ``settings = "published"`` takes the paper's settings, and ``settings = { base = "published", ... }`` changes some
    of them; fields of a training plan one by one. ``each = { seed = [42, 59], ... }`` makes one member of every
    combination, whose label ends in the values. Other tables, malformed ones too, stay as they are.

    Raises
    ------
    MemberError
        If the member has no published settings; SettingError if ``base`` or ``each`` is not what it may be.
    """
    settings = table.get("settings", {})
    if settings == _PUBLISHED:
        settings = {BASE: _PUBLISHED}
    if isinstance(settings, Mapping) and BASE in settings:
        own = {key: value for key, value in settings.items() if key != BASE}
        if settings[BASE] != _PUBLISHED:
            raise SettingError(f'found {shown(settings[BASE])}, expected "{_PUBLISHED}"', ("settings", BASE))
        table = {**table, "settings": merged(published(table.get("name", "")), own)}
    if EACH not in table:
        return [table]
    each, rest = table[EACH], {key: value for key, value in table.items() if key != EACH}
    if not isinstance(each, Mapping) or not all(isinstance(one, list) and one for one in each.values()):
        raise SettingError(f"found {shown(each)}, expected a table of lists of values", (EACH,))
    label = rest.get("label", rest.get("name"))
    return [
        {
            **rest,
            "label": "_".join([str(label), *map(_said, each, values)]),
            "settings": merged(rest.get("settings", {}), dict(zip(each, values, strict=True))),
        }
        for values in product(*each.values())
    ]


def merged(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Change settings: a table changes fields of a table, or of each table in a list, and as many tables one by one.

    All else is replaced.
    """
    return {**settings, **{key: _merged(settings.get(key), value) for key, value in changes.items()}}


def _merged(old: Any, new: Any) -> Any:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return merged(old, new)
    if _are_tables(old):
        each = [new] * len(old) if isinstance(new, Mapping) else new
        if _are_tables(each) and len(each) == len(old):
            return list(map(_merged, old, each))
    return new


def _are_tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, Mapping) for one in value)


def _said(setting: str, value: Any) -> str:
    """A setting's value in a label."""
    if isinstance(value, bool):
        return setting if value else f"no_{setting}"
    if isinstance(value, Mapping):
        raise MemberError(f"{EACH}.{setting}: values that are tables need members of their own")
    if isinstance(value, list):
        return "+".join(map(str, value)) or f"no_{setting}"
    return Path(str(value)).name
