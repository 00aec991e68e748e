"""The one check of settings against their kinds, that is types with ranges.

Constructors annotate their settings with the names in :mod:`gapstack.kinds` (``rounds: Count = 400``), which recipes,
Python callers and ``gap members NAME`` share. Values are checked and never converted.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from gapstack.errors import MemberError
from gapstack.kinds import LARGEST, FolderName, OneOf, Range, Table
from gapstack.signatures import settings_of

Where = tuple[str, ...]
"""Keys that lead to a setting, outermost first."""
_LONGEST_SHOWN = 60


class SettingError(MemberError):
    """A setting that is not what it may be; ``where`` is the path of keys to it, outermost first."""

    def __init__(self, problem: str, where: Sequence[str] = ()):
        self.problem, self.where = problem, tuple(where)
        super().__init__(f"{'.'.join(where)}: {problem}" if where else problem)

    def within(self, *where: str) -> SettingError:
        """The same, seen from further out."""
        return SettingError(self.problem, (*where, *self.where))


def shown(value: object) -> str:
    """A value as errors show it: on one line, shortened, without control characters."""
    try:
        text = repr(value) if isinstance(value, float) else json.dumps(value, default=repr, skipkeys=True)
    except (ValueError, RecursionError):  # a number of thousands of digits; lists in lists in lists
        text = f"a very long {type(value).__name__}"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."


def closest(name: object, choices: Iterable[str]) -> str:
    """Name the closest matches (``did you mean prior?``), or all choices where none is close."""
    names = list(choices)
    lowered = {one.lower(): one for one in names}
    matches = get_close_matches(name.lower(), lowered, n=3) if isinstance(name, str) else []
    close = [lowered[one] for one in matches]
    return f"did you mean {' or '.join(close)}?" if close else f"there are: {', '.join(names) or 'none'}"


def check(value: object, kind: Any, where: Sequence[str] = ()) -> None:
    """Check a value against a kind: a type, one of the names above, or a union, sequence or mapping of such.

    Raises SettingError if it is another type or out of range; says what was found and what was expected.
    """
    _FORMS[_form(kind)].check(value, kind, tuple(where))


FORMER_NAMES = {
    "encoder_rate": "encoder_lr",
    "head_rate": "head_lr",
    "riddles": "masked_examples",
    "setting": "candidates",
}
"""Former names of settings, which recipes may use until the next version."""
_FORMER_VALUES = {("setting", "snippet-context"): "detected"}


def _current_value(name: str, value: object) -> object:
    """Value of a setting under its current name, given under its former one."""
    return _FORMER_VALUES.get((name, value), value) if isinstance(value, str) else value


def with_current_names(values: Mapping[str, Any], names: Iterable[str], where: str) -> dict[str, Any]:
    """Give settings under their current ``names``; a former name works with a FutureWarning.

    Raises
    ------
    MemberError
        If a setting is given under both names; ``where`` says whose it is.
    """
    current, known = dict(values), set(names)
    for old, new in FORMER_NAMES.items():
        if old in current and old not in known and new in known:
            if new in current:
                raise MemberError(f"{where}: {old} and {new} are the same setting; keep {new}")
            warnings.warn(f"{where}: {old} is now {new}; rename it", FutureWarning, stacklevel=3)
            current[new] = _current_value(old, current.pop(old))
    return current


def check_all(
    values: Mapping[Any, Any], kinds: Mapping[str, Any], where: Sequence[str] = (), *, called: str = "setting"
) -> None:
    """Check named values, each against the kind of its name; SettingError for a name that has none.

    ``called`` is what an error calls one of them.
    """
    for name, value in values.items():
        current = name if name in kinds else FORMER_NAMES.get(name) if isinstance(name, str) else None
        if current is None or current not in kinds:
            raise SettingError(f"no such {called}; {closest(name, kinds)}", (*where, _key(name)))
        check(value if name in kinds else _current_value(name, value), kinds[current], (*where, name))


def check_settings(thing: Any) -> None:
    """Check all settings of an estimator; SettingError for a wrong one."""
    kinds = {name: setting.kind for name, setting in settings_of(type(thing)).items()}
    try:
        check_all(thing.get_params(deep=False), kinds)
    except SettingError as error:
        raise error.within(type(thing).__name__) from None


def expected(kind: Any) -> str:
    """Describe a kind in words: ``a whole number, at least 1``."""
    return _FORMS[_form(kind)].describe(kind)


def _fields(table: Table) -> dict[str, Any]:
    """Kinds of the fields that a mapping may give, by name."""
    settings = settings_of(table.where)
    return {name: setting.kind for name, setting in settings.items() if name not in table.but}


def _form(kind: Any) -> Any:
    """What a kind is made by: a union, Annotated, Literal, Mapping, Sequence; None for a plain type."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return Union
    if isinstance(origin, type) and origin is not cast(Any, Annotated):
        return Mapping if issubclass(origin, Mapping) else Sequence
    return origin


def _check_union(value: object, kind: Any, where: Where) -> None:
    """One part must admit the value; the error is that of the part that came farthest into it."""
    problems: list[SettingError] = []
    for part in get_args(kind):
        try:
            return check(value, part, where)
        except SettingError as problem:
            problems.append(problem)
    deepest = max(problems, key=lambda problem: len(problem.where))
    if len(deepest.where) > len(where):
        raise deepest
    raise _refusal(value, kind, where)


def _check_annotated(value: object, kind: Any, where: Where) -> None:
    base, *marks = get_args(kind)
    for mark in marks:
        if isinstance(mark, Table):
            if isinstance(value, Mapping):
                return check_all(value, _fields(mark), where)
            if f"{type(value).__module__}:{type(value).__qualname__}" == mark.where:
                return None
            raise _refusal(value, kind, where)
    try:
        check(value, base, where)
    except SettingError:
        raise _refusal(value, kind, where) from None
    for mark in marks:
        if isinstance(mark, OneOf) and not mark.admits(cast(Any, value)):
            raise _refusal(value, kind, where, mark.names())
        if isinstance(mark, Range | FolderName) and not mark.admits(cast(Any, value)):
            raise _refusal(value, kind, where)
    return None


def _check_literal(value: object, kind: Any, where: Where) -> None:
    if not isinstance(value, str) or value not in get_args(kind):
        raise _refusal(value, kind, where, get_args(kind))


def _check_mapping(value: object, kind: Any, where: Where) -> None:
    if not isinstance(value, Mapping):
        raise _refusal(value, kind, where)
    of_key, of_value = get_args(kind)
    for key, inner in value.items():
        check(key, of_key, (*where, _key(key)))
        check(inner, of_value, (*where, _key(key)))


def _check_sequence(value: object, kind: Any, where: Where) -> None:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise _refusal(value, kind, where)
    for number, inner in enumerate(value, 1):
        check(inner, get_args(kind)[0], (*where, f"item {number}"))


def _check_plain(value: object, kind: Any, where: Where) -> None:
    if not _PLAIN[kind].admits(value):
        raise _refusal(value, kind, where)


def _describe_annotated(kind: Any) -> str:
    base, *marks = get_args(kind)
    for mark in marks:
        if isinstance(mark, OneOf):
            return f"one of {mark}"
        if isinstance(mark, Table):
            return f"a table of {', '.join(_fields(mark))}"
        if isinstance(mark, Range):
            return f"{expected(base)}, {mark}"
        if isinstance(mark, FolderName):
            return f"{expected(base)} {mark}"
    return expected(base)


def _refusal(value: object, kind: Any, where: Where, choices: Sequence[str] = ()) -> SettingError:
    hint = closest(value, choices) if isinstance(value, str) else ""
    meant = f"; {hint}" if hint.startswith("did you mean") else ""
    if isinstance(value, int) and value > LARGEST:
        meant = f", at most {LARGEST}"
    return SettingError(f"found {shown(value)}, expected {expected(kind)}{meant}", where)


def _key(name: object) -> str:
    return name if isinstance(name, str) and name.isidentifier() else shown(name)


def _is_number(value: object) -> bool:
    """Whether a value is a number that a float can hold; a bool is none."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def _is_text(value: object) -> bool:
    """Whether a value is text that files can be named by and hold: no NUL, no lone surrogates."""
    return isinstance(value, str) and "\0" not in value and not any("\ud800" <= c <= "\udfff" for c in value)


@dataclass(frozen=True, slots=True)
class _Form:
    check: Callable[[object, Any, Where], None]
    describe: Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class _Type:
    admits: Callable[[object], bool]
    words: str


_FORMS: Mapping[Any, _Form] = {
    None: _Form(_check_plain, lambda kind: _PLAIN[kind].words),
    Union: _Form(_check_union, lambda kind: ", or ".join(map(expected, get_args(kind)))),
    Annotated: _Form(_check_annotated, _describe_annotated),
    Literal: _Form(_check_literal, lambda kind: f"one of {', '.join(map(shown, get_args(kind)))}"),
    Mapping: _Form(_check_mapping, lambda kind: "a table"),
    Sequence: _Form(_check_sequence, lambda kind: f"a list, each {expected(get_args(kind)[0])}"),
}
_PLAIN: Mapping[Any, _Type] = {
    Any: _Type(lambda value: True, "anything"),
    bool: _Type(lambda value: isinstance(value, bool), "true or false"),
    int: _Type(lambda value: isinstance(value, int) and not isinstance(value, bool), "a whole number"),
    float: _Type(_is_number, "a number"),
    str: _Type(_is_text, "text"),
    NoneType: _Type(lambda value: value is None, "none"),
}
