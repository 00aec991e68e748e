"""Settings: annotated class attributes, checked by pydantic in strict mode and never converted.

A class below :class:`Configured` declares its settings as a dataclass does (``rounds: Count = 400``). Recipes, Python
callers and ``gap members NAME`` share these declarations.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, is_dataclass
from functools import lru_cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from annotated_types import Interval
from pydantic import ConfigDict, GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core.core_schema import CoreSchema, no_info_after_validator_function

from gapstack.errors import MemberError, closest, shown

LARGEST = 2**31 - 1  # the largest whole number that all libraries accept


class SettingError(MemberError):
    """A setting with an invalid value; ``where`` is the path of keys to it, outermost first."""

    def __init__(self, problem: str, where: Sequence[str] = ()):
        self.problem, self.where = problem, tuple(where)
        super().__init__(f"{'.'.join(where)}: {problem}" if where else problem)

    def within(self, *where: str) -> SettingError:
        """Return this error with ``where`` in front of its path."""
        return SettingError(self.problem, (*where, *self.where))


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(Field, field))
class Configured:
    """Base of classes with settings: annotated attributes become keyword arguments of the constructor.

    Values are stored untouched under their own names, as scikit-learn requires. A subclass may declare a setting again
    with a new default. Annotate class attributes that are not settings as ``ClassVar``, or leave them unannotated.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(kw_only=True, eq=False, repr=False)(cls)

    def check_settings(self) -> None:
        """Raise SettingError if a setting has an invalid value."""
        kind: Any = type(self)
        try:
            check_settings(kind, {name: getattr(self, name) for name in settings_of(kind)})
        except SettingError as error:
            raise error.within(type(self).__name__) from None


@lru_cache(maxsize=256)
def settings_of(kind: type) -> Mapping[str, Any]:
    """Types of a class's settings, the parameters of its constructor, by name."""
    names = list(inspect.signature(kind).parameters)
    hints = get_type_hints(kind, include_extras=True)
    if not hints.keys() >= set(names):  # a constructor written by hand
        hints |= get_type_hints(vars(kind)["__init__"], include_extras=True)
    return {name: hints[name] for name in names}


def check_settings(kind: type, values: Mapping[Any, Any], *, without: Collection[str] = ()) -> None:
    """Raise SettingError if a class has no such setting (or it is among ``without``), or a value is invalid."""
    types = {name: each for name, each in settings_of(kind).items() if name not in without}
    for name, value in values.items():
        if name not in types:
            key = name if isinstance(name, str) and name.isidentifier() else shown(name)
            raise SettingError(f"no such setting; {closest(name, types)}", (key,))
        check(value, types[name], (name,))


def check(value: object, kind: Any, where: Sequence[str] = ()) -> None:
    """Raise SettingError, with what was found and what was expected, if a value does not match a type."""
    try:
        _adapter(kind).validate_python(value)
        return
    except ValidationError as refused:
        problems = [_located(error, value) for error in refused.errors(include_url=False)]
    # for unions, report the branch that matched deepest; prefer our own checks
    ours, problem = max(problems, key=lambda each: (len(each[1].where), each[0]))
    if not ours and not problem.where:
        problem = SettingError(f"found {shown(value)}, expected {describe(kind)}")
    raise problem.within(*where) from None


@lru_cache(maxsize=1024)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    if isinstance(kind, type) and is_dataclass(kind):
        kind = kind | Annotated[Mapping[str, Any], FieldsOf(kind)]
    return TypeAdapter(kind, config=ConfigDict(strict=True, allow_inf_nan=False))


def _located(error: Any, value: Any) -> tuple[bool, SettingError]:
    """One of pydantic's errors with its path of keys in ``value``, and True if it is one of our own checks."""
    where: list[str] = []
    for step in error["loc"]:  # names of a union's parts are skipped
        if isinstance(value, Mapping) and step in value:
            where.append(str(step))
            value = value[step]
        elif isinstance(value, Sequence) and isinstance(step, int):
            where.append(f"item {step + 1}")
            value = value[step]
    inner = error.get("ctx", {}).get("error")
    if isinstance(inner, SettingError):
        return True, inner.within(*where)
    expected = error["msg"].removeprefix("Input should be ")
    return False, SettingError(f"found {shown(value)}, expected {expected}", where)


class Check:
    """Base of annotations that check a value of the annotated type; ``str`` describes what is expected."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(self._checked, handler(source))

    def _checked(self, value: Any) -> Any:
        self.check(value)
        return value

    @abstractmethod
    def check(self, value: Any) -> None:
        """Raise SettingError if the value is not valid."""


@dataclass(frozen=True, eq=False)
class OneOf(Check):
    """Text that is one of ``names``, or the name of a file with one of the suffixes ``files``."""

    names: Collection[str]
    files: tuple[str, ...] = ()

    def __str__(self) -> str:
        files = f", or a file ({', '.join(self.files)})" if self.files else ""
        return f"one of {', '.join(self.names)}{files}"

    def check(self, value: str) -> None:
        """Raise SettingError if it is another name."""
        if value not in self.names and not value.endswith(self.files):
            hint = closest(value, self.names)
            meant = f"; {hint}" if hint.startswith("did you mean") else ""
            raise SettingError(f"found {shown(value)}, expected {self}{meant}")


@dataclass(frozen=True, eq=False)
class FieldsOf(Check):
    """A mapping that gives some settings of a class, not those of ``without``."""

    kind: type
    without: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"a table of {', '.join(name for name in settings_of(self.kind) if name not in self.without)}"

    def check(self, value: Mapping[Any, Any]) -> None:
        """Raise SettingError as :func:`check_settings`."""
        check_settings(self.kind, value, without=self.without)


@dataclass(frozen=True, eq=False)
class Reads:
    """Annotation of a setting that names something to read: ``EncoderName = Annotated[str | None, Reads(digest)]``.

    What is read counts in the identity of results (:mod:`gapstack.members.identity`).
    """

    digest: Callable[[Any], str]
    """From the setting's value to a name and a digest of the contents, ``minilm 0a1b``; empty if nothing is read."""
    recorded_as: str = ""
    """Name in identities; by default that of the setting."""
    by_content: bool = True
    """True if only the digest counts: equal contents under another name give equal results."""
    in_training: bool = False
    """True if only ``fit`` reads it; predictions need what was learned, not the input."""
    is_encoder: bool = False
    """True for an encoder, whose precision counts as well."""
    contaminates: Callable[[Any], Iterable[str]] = lambda _: ()
    """From the setting's value to the test sets that share rows with what is read."""

    def of(self, value: Any) -> ReadInput:
        """Return what is read for a value of the setting."""
        return ReadInput(self, value)


class ReadInput(NamedTuple):
    """Something that a member reads, by a kind of setting and its value."""

    kind: Reads
    value: Any

    def digest(self) -> str:
        """Return its name and a digest of its contents; raises what reading it raises."""
        return self.kind.digest(self.value)


def read_by(kind: type) -> dict[str, Reads]:
    """Return the settings of a class that are annotated with :class:`Reads`, by name."""
    return {
        name: mark
        for name, each in settings_of(kind).items()
        for mark in getattr(each, "__metadata__", ())
        if isinstance(mark, Reads)
    }


class _FolderName(Check):
    def __str__(self) -> str:
        return "text that can name a folder (at most 100 bytes, no / or \\, no dot in front)"

    def check(self, value: str) -> None:
        has_valid_ends = not value.startswith(".") and not value.endswith((".", " "))
        has_valid_letters = value.isprintable() and not set(value) & set('/\\:*?"<>|')
        if not (0 < len(value.encode()) <= 100 and has_valid_ends and has_valid_letters):
            raise SettingError(f"found {shown(value)}, expected {self}")


Natural = Annotated[int, Interval(ge=0, le=LARGEST)]
Count = Annotated[int, Interval(ge=1, le=LARGEST)]
AtLeastTwo = Annotated[int, Interval(ge=2, le=LARGEST)]
LayerNumber = Annotated[int, Interval(ge=-1000, le=1000)]
"""A layer of an encoder, counted from 0 (embeddings) up or from -1 (the last) down."""
Seed = Annotated[int, Interval(ge=0, le=LARGEST)]
FoldCount = Annotated[int, Interval(ge=3, le=1000)]
Fraction = Annotated[float, Interval(ge=0, le=1)]
PositiveFraction = Annotated[float, Interval(gt=0, le=1)]
FractionBelowOne = Annotated[float, Interval(ge=0, lt=1)]
Positive = Annotated[float, Interval(gt=0)]
NonNegative = Annotated[float, Interval(ge=0)]
FractionBelowThird = Annotated[float, Interval(ge=0, lt=1 / 3)]
ProbabilityFloor = Annotated[float, Interval(gt=0, lt=1 / 3)]
"""Lower bound of three probabilities before logarithms are taken."""
ValidationFraction = Annotated[float, Interval(gt=0, le=0.5)]
"""Fraction of the rows held out; see :func:`gapstack.training.validation_rows`."""
FolderName = Annotated[str, _FolderName()]


def bounds(kind: Any) -> Any:
    """Range of a numeric type, or of the numeric part of a union, as an ``Interval``; None for other types."""
    for part in get_args(kind):
        if isinstance(part, Interval):
            return part
        if found := bounds(part):
            return found
    return None


def describe(kind: Any) -> str:
    """Describe a type in words: ``a whole number, at least 1``."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return ", or ".join(map(describe, args))
    if origin is Literal:
        return f"one of {', '.join(map(shown, args))}"
    if isinstance(kind, type) and is_dataclass(kind):
        return str(FieldsOf(kind))
    if origin is Annotated:
        return _describe_annotated(args[0], args[1])
    if isinstance(origin, type):
        return "a table" if issubclass(origin, Mapping) else f"a list, each {describe(args[0])}"
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "text", NoneType: "none"}
    return words.get(kind, "anything")


def _describe_annotated(kind: Any, mark: Any) -> str:
    if isinstance(mark, Reads):
        return describe(kind)
    return str(mark) if isinstance(mark, Check) else f"{describe(kind)}, {_range(mark)}"


def _range(limits: Any) -> str:
    low = f"more than {limits.gt:g}" if limits.gt is not None else f"at least {limits.ge:g}"
    if limits.lt is not None:
        return f"{low}, less than {limits.lt:g}"
    return low if limits.le in (None, LARGEST) else f"{low}, at most {limits.le:g}"
