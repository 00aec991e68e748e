"""The values among which a member's settings are searched: from a TOML table, or derived from their types."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from gapstack.errors import RecipeError
from gapstack.members import MEMBERS, create
from gapstack.members.part import Part, merged
from gapstack.registry import unknown
from gapstack.settings import FieldsOf, SettingError, bounds, check, settings_of

_FACTOR = 4


@dataclass(frozen=True, slots=True)
class Dimension:
    """Values of one setting: from ``low`` to ``high``, uniform over the logarithm with ``log``, or ``choices``."""

    low: float = 0.0
    high: float = 0.0
    log: bool = False
    choices: Sequence[Any] = ()

    def admits(self, value: Any) -> bool:
        """Return True if a value lies within."""
        return value in self.choices if self.choices else self.low <= value <= self.high

    @property
    def ends(self) -> tuple[Any, ...]:
        """Extreme values, all of which the setting must allow."""
        return tuple(self.choices) or (self.low, self.high)


SearchSpace = Mapping[str, Dimension]
"""Dimensions by the name of the setting; ``training.epochs`` is a field of the table ``training``."""


def read_space(path: Path, part: Part) -> SearchSpace:
    """Read a search space: ``rounds = { low = 100, high = 800, log = true }``, ``order = { choices = [...] }``.

    Raises RecipeError if it is not TOML, or a dimension is invalid for the member.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RecipeError(f"{path}: no search space: {getattr(error, 'strerror', None) or error}") from None
    space: dict[str, Dimension] = {}
    try:
        check(tables, Mapping[str, Annotated[Mapping[str, Any], FieldsOf(Dimension)]])
        for name, table in tables.items():
            space[name] = Dimension(**table)
            _check(space[name], name, part)
    except SettingError as error:
        raise RecipeError(f"{path}: {error}") from None
    if not space:
        raise RecipeError(
            f"{path}: no setting to search; expected such as: rounds = {{ low = 100, high = 800 }}"
        )
    return space


def derived_space(part: Part, only: Sequence[str] = ()) -> SearchSpace:
    """Derive a search space from the types of a member's settings, or of ``only`` some of them.

    Numbers are searched from a quarter of their value to four times it, on a logarithmic scale, within their range;
    booleans and named values over all values. The seed, texts, lists and unset settings are not searched.
    Raises UnknownNameError if a setting cannot be searched; RecipeError if none can.
    """
    values = create(part.name, **part.settings).get_params()
    space = dict(_derived(values, settings_of(MEMBERS[part.name])))
    for name in only:
        if name not in space:
            raise unknown(f"setting of {part.label} that can be searched", name, space)
    if not space:
        raise RecipeError(f"{part.label} has no setting that can be searched; state some with --ranges")
    return {name: space[name] for name in only} if only else space


def with_values(part: Part, values: Mapping[str, Any]) -> Part:
    """Return the part with other values of settings; dots lead into tables."""
    settings = part.settings
    for name, value in values.items():
        settings = merged(settings, _nested(name, value))
    return Part(part.name, part.label, dict(settings))


def values_of(part: Part, space: SearchSpace) -> dict[str, Any]:
    """Return the part's current values that lie in the space."""
    now: dict[str, Any] = {}
    for name, dimension in space.items():
        value: Any = create(part.name, **part.settings).get_params()
        for key in name.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None and dimension.admits(value):
            now[name] = value
    return now


def _nested(name: str, value: Any) -> dict[str, Any]:
    first, _, rest = name.partition(".")
    return {first: _nested(rest, value) if rest else value}


def _check(dimension: Dimension, name: str, part: Part) -> None:
    if not dimension.choices and not dimension.low < dimension.high:
        raise SettingError("expected choices, or low below high", (name,))
    if dimension.log and not dimension.low > 0:
        raise SettingError("a logarithmic scale begins above 0", (name, "low"))
    for value in dimension.ends:
        MEMBERS.check(part.name, _nested(name, value))


def _derived(
    values: Mapping[str, Any], kinds: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, Dimension]]:
    for name, kind in kinds.items():
        value = values.get(name)
        if isinstance(value, Mapping):
            for table in _tables(kind):
                yield from _derived(value, settings_of(table.kind), f"{prefix}{name}.")
        elif name != "seed" and (dimension := _dimension(value, kind)):
            yield prefix + name, dimension


def _dimension(value: Any, kind: Any) -> Dimension | None:
    if isinstance(value, bool):
        return Dimension(choices=(False, True))
    if isinstance(value, str) and get_origin(kind) is Literal:
        return Dimension(choices=get_args(kind))
    limits = bounds(kind)
    if not isinstance(value, int | float) or value <= 0 or limits is None:
        return None
    low, high = value / _FACTOR, value * _FACTOR
    if limits.gt is not None and low <= limits.gt:
        low = (value + limits.gt) / 2
    elif limits.ge is not None:
        low = max(low, limits.ge)
    if limits.lt is not None and high >= limits.lt:
        high = (value + limits.lt) / 2
    elif limits.le is not None:
        high = min(high, limits.le)
    if isinstance(value, int):
        low, high = max(1, round(low)), int(high)
    return Dimension(low, high, log=True) if 0 < low < high else None


def _tables(kind: Any) -> list[FieldsOf]:
    """The tables that a type allows, alone or in a union."""
    return [mark for part in (kind, *get_args(kind)) for mark in get_args(part) if isinstance(mark, FieldsOf)]
