"""Members and stackers as recipes and stacks list them: name, label and settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Self

from gapstack.errors import MemberError, shown
from gapstack.members import MEMBERS, published
from gapstack.settings import Check, FieldsOf, FolderName, OneOf, SettingError

BASE, EACH = "base", "each"
_PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class Part:
    """One member or stacker; ``label`` is what the recipe calls it, ``settings`` those that are not the defaults."""

    name: str
    label: FolderName
    settings: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, part: str | Mapping[str, Any]) -> Self:
        """Make one from a name or a valid table."""
        table: Mapping[str, Any] = {"name": part} if isinstance(part, str) else part
        return cls(table["name"], table.get("label", table["name"]), dict(table.get("settings", {})))


PartTable = Annotated[Mapping[str, Any], FieldsOf(Part)]


class _IsMember(Check):
    """A member that is an object, not named."""

    def __str__(self) -> str:
        return "a Member"

    def check(self, value: Any) -> None:
        """Raise SettingError if the value is not a Member."""
        from gapstack.members.member import Member  # slow to import, not needed for recipes

        if not isinstance(value, Member):
            raise SettingError(f"found {shown(value)}, expected {self}")


MemberPart = Annotated[str, OneOf(MEMBERS)] | PartTable | Annotated[Any, _IsMember()]
"""A member's name, a table of name, label and settings, or a Member object."""


def expand(table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Expand a member's table of a recipe.

    ``settings = "published"`` takes the paper's settings, ``{ base = "published", ... }`` changes some of them. ``each
    = { seed = [42, 59], ... }`` makes one member of every combination, whose label ends in the values. Raises
    MemberError without published settings; SettingError if ``base`` or ``each`` is invalid.
    """
    settings = table.get("settings", {})
    if settings == _PUBLISHED:
        settings = {BASE: _PUBLISHED}
    if isinstance(settings, Mapping) and BASE in settings:
        changed = {key: value for key, value in settings.items() if key != BASE}
        if settings[BASE] != _PUBLISHED:
            raise SettingError(f'found {shown(settings[BASE])}, expected "{_PUBLISHED}"', ("settings", BASE))
        table = {**table, "settings": merged(published(table.get("name", "")), changed)}
    if EACH not in table:
        return [table]
    rest = {key: value for key, value in table.items() if key != EACH}
    return [
        {**rest, "label": label, "settings": merged(rest.get("settings", {}), changes)}
        for label, changes in labelled(table)
    ]


def labelled(table: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Labels of the members that a recipe's table makes, and the settings in which each differs from the others.

    Raises SettingError if ``each`` is not a table of lists.
    """
    label, each = str(table.get("label", table.get("name"))), table.get(EACH, {})
    if not isinstance(each, Mapping) or not all(
        isinstance(values, list) and values for values in each.values()
    ):
        raise SettingError(f"found {shown(each)}, expected a table of lists of values", (EACH,))
    return [
        ("_".join([label, *map(_label_ending, each, values)]), dict(zip(each, values, strict=True)))
        for values in product(*each.values())
    ]


def merged(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Change settings: a table updates a table, or each table of a list; tables update as many tables; else replace."""
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
    return isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value)


def _label_ending(setting: str, value: Any) -> str:
    """A setting's value in a label."""
    if isinstance(value, bool):
        return setting if value else f"no_{setting}"
    if isinstance(value, Mapping):
        raise MemberError(f"{EACH}.{setting}: values that are tables need members of their own")
    if isinstance(value, list):
        return "+".join(map(str, value)) or f"no_{setting}"
    return Path(str(value)).name
