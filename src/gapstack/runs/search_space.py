"""The values among which a member's settings are searched: stated in a TOML table, or derived from their kinds."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from gapstack.errors import RecipeError
from gapstack.kinds import Range, Table
from gapstack.members import MEMBERS, create
from gapstack.members.part import Part, merged
from gapstack.registry import unknown
from gapstack.settings import SettingError, check_all, shown
from gapstack.signatures import settings_of

_FACTOR = 4


@dataclass(frozen=True, slots=True)
class Dimension:
    """Values that one setting may take: from ``low`` to ``high`` (whole where both are), or one of ``choices``.

    ``log``: the search is uniform over the logarithm.
    """

    low: float = 0.0
    high: float = 0.0
    log: bool = False
    choices: Sequence[Any] = ()

    def admits(self, value: Any) -> bool:
        """Whether a value lies within."""
        return value in self.choices if self.choices else self.low <= value <= self.high

    @property
    def ends(self) -> tuple[Any, ...]:
        """Values of which all others are admitted if these are."""
        return tuple(self.choices) or (self.low, self.high)


SearchSpace = Mapping[str, Dimension]
"""Dimensions by the name of the setting; ``training.epochs`` is a field of the table ``training``."""


def read_space(path: Path, part: Part) -> SearchSpace:
    """Read a search space: ``rounds = { low = 100, high = 800, log = true }``, ``order = { choices = [...] }``.

    Raises
    ------
    RecipeError
        If it is not TOML, a dimension is not as it may be, or the member does not admit its values.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RecipeError(f"{path}: no search space: {getattr(error, 'strerror', None) or error}") from None
    kinds = {key: setting.kind for key, setting in settings_of(f"{__name__}:Dimension").items()}
    space: dict[str, Dimension] = {}
    try:
        for name, table in tables.items():
            if not isinstance(table, Mapping):
                raise SettingError(
                    f"found {shown(table)}, expected a table of low, high, log, choices", (name,)
                )
            check_all(table, kinds, (name,), called="key")
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
    """Derive a search space from the kinds of a member's settings.

    Numbers go from a quarter of their value to four times it, as far as the setting allows, on a logarithmic scale;
    switches and settings with a few named values take any of them. The seed, names of files and of encoders, and
    settings that are lists or are not set stay as they are.

    Parameters
    ----------
    part : Part
    only : sequence of str
        Settings to search; by default all that can be.

    Raises
    ------
    UnknownNameError
        If one of them cannot be searched.
    RecipeError
        If none can be.
    """
    values = create(part.name, **part.settings).get_params()
    space = dict(_derived(values, MEMBERS.kinds(part.name)))
    for name in only:
        if name not in space:
            raise unknown(f"setting of {part.label} that can be searched", name, space)
    if not space:
        raise RecipeError(f"{part.label} has no setting that can be searched; state some with --ranges")
    return {name: space[name] for name in only} if only else space


def with_values(part: Part, values: Mapping[str, Any]) -> Part:
    """The part with other values of settings, dots leading into tables."""
    settings = part.settings
    for name, value in values.items():
        settings = merged(settings, _nested(name, value))
    return Part(part.name, part.label, dict(settings))


def values_of(part: Part, space: SearchSpace) -> dict[str, Any]:
    """Values that the part has now, where they lie in the space."""
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
            for mark in _marks(kind):
                if isinstance(mark, Table):
                    fields = {key: setting.kind for key, setting in settings_of(mark.where).items()}
                    yield from _derived(value, fields, f"{prefix}{name}.")
        elif name != "seed" and (dimension := _dimension(value, kind)):
            yield prefix + name, dimension


def _dimension(value: Any, kind: Any) -> Dimension | None:
    if isinstance(value, bool):
        return Dimension(choices=(False, True))
    if isinstance(value, str) and get_origin(kind) is Literal:
        return Dimension(choices=get_args(kind))
    ranges = [mark for mark in _marks(kind) if isinstance(mark, Range)]
    if not isinstance(value, int | float) or value <= 0 or not ranges:
        return None
    limits = ranges[0]
    low, high = value / _FACTOR, value * _FACTOR
    if low <= limits.low:
        low = (value + limits.low) / 2 if limits.above else limits.low
    if high >= limits.high:
        high = (value + limits.high) / 2 if limits.below else limits.high
    if isinstance(value, int):
        low, high = max(1, round(low)), int(high)
    return Dimension(low, high, log=True) if 0 < low < high else None


def _marks(kind: Any) -> Iterator[Any]:
    """What annotations say of a kind, or of the parts of a union."""
    if get_origin(kind) is Annotated:
        yield from get_args(kind)[1:]
    else:
        for part in get_args(kind):
            yield from _marks(part)
