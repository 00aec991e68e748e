"""JSON that others wrote, read strictly, and the check of its shape.

Refused are what Python's :mod:`json` lets pass or fails on: NaN and Infinity, numbers beyond 64 bits or beyond float64,
keys that occur twice, halves of surrogate pairs, nesting without end.
"""

from __future__ import annotations

import json
import math
import reprlib
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NoReturn

from gapstack.errors import DataError, Place

Shape = Any
"""What a value must be, written as a value of that form (see :func:`check`)."""

_DIGITS = 18  # of an integer; more than any offset, fewer than 64 bits
_WORDS: dict[type, str] = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    NoneType: "null",
    list: "a list",
    dict: "an object",
}


def read(blob: bytes, file: Path, line: int = 1, shape: Shape = None) -> Any:
    """Parse one JSON value that begins on a line of a file; DataError if it is none, or has another shape."""

    def refuse(problem: str, expected: str, at: int = line, column: int | None = None) -> NoReturn:
        raise DataError(problem, place=Place(file, at, column), expected=expected) from None

    try:
        text = blob.decode("utf-8")
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_int=_integer,
            parse_float=_number,
            object_pairs_hook=_object,
        )
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as problem:
        at = blob[: problem.start].rfind(b"\n")
        refuse("is not UTF-8", "JSON in UTF-8", line + blob[: problem.start].count(b"\n"), problem.start - at)
    except UnicodeEncodeError as problem:
        half = problem.object[problem.start].encode("unicode_escape").decode("ascii")
        refuse(f"has {half}, half of a surrogate pair", "whole characters")
    except json.JSONDecodeError as problem:
        refuse(
            f"is no JSON ({problem.msg})",
            "JSON, each value on one line",
            line + problem.lineno - 1,
            problem.colno,
        )
    except _RefusedError as problem:
        refuse(problem.problem, problem.expected)
    except RecursionError:
        refuse("nests too deeply", "JSON of a few levels")
    if shape is not None:
        try:
            check(value, shape)
        except DataError as problem:
            raise problem.at(Place(file, None if b"\n" in blob.strip() else line)) from None
    return value


class _RefusedError(Exception):
    def __init__(self, problem: str, expected: str):
        self.problem, self.expected = problem, expected


def _refuse_constant(word: str) -> NoReturn:
    raise _RefusedError(f"has the number {word}", "finite numbers")


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise _RefusedError(f"has an integer of {len(digits):,} digits", f"integers of at most {_DIGITS}")
    return int(digits)


def _number(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _RefusedError(f"has the number {digits[:40]}", "numbers within float64")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _RefusedError(f"has the key {shown(twice)} twice in one object", "each key once")
    return value


def shown(value: object) -> str:
    """A value in few characters, whatever its size and depth."""
    return reprlib.repr(value)[:60]


def check(value: Any, shape: Shape, where: str = "") -> None:
    """Check that a parsed value has a shape.

    Raises DataError without a place, for the first part that has another shape: which, what is there, what was
    expected.

    Parameters
    ----------
    shape
        ``str``, ``int`` and so on: a value of that type (no boolean is an integer, every integer is a ``float``);
        ``int | None``: either; ``[shape]``: a list of any length; ``(one, other)``: a list of exactly these;
        ``{"key": shape}``: an object with these keys and perhaps others, where a key that ends in ``?`` may be
        missing; ``{str: shape}``: an object with any keys.
    where : str
        What to call the value.
    """
    if isinstance(shape, UnionType):
        _require(value, where, *shape.__args__)
    elif isinstance(shape, type):
        _require(value, where, shape)
    elif isinstance(shape, dict):
        _require(value, where, dict)
        _check_object(value, shape, where)
    else:
        _require(value, where, list)
        if isinstance(shape, tuple) and len(value) != len(shape):
            raise _wrong(value, where, f"a list of {len(shape)}")
        for place, one in enumerate(value):
            check(one, shape[place] if isinstance(shape, tuple) else shape[0], f"{where}[{place}]")


def _check_object(value: dict[str, Any], shape: dict[Any, Shape], where: str) -> None:
    if str in shape:
        for key, one in value.items():
            check(one, shape[str], f"{where}[{shown(key)}]")
        return
    required = [key for key in shape if not key.endswith("?")]
    for key in required:
        if key not in value:
            raise DataError(f"{_named(where)} has no {key!r}", expected=f"the keys {', '.join(required)}")
    for key, each in shape.items():
        name = key.removesuffix("?")
        if name in value:
            check(value[name], each, f"{where}.{name}".removeprefix("."))


def _require(value: Any, where: str, *kinds: type) -> None:
    if not any(type(value) is kind or (kind is float and type(value) is int) for kind in kinds):
        raise _wrong(value, where, " or ".join(_WORDS[kind] for kind in kinds))


def _wrong(value: Any, where: str, expected: str) -> DataError:
    return DataError(f"{_named(where)} is {shown(value)}", expected=expected)


def _named(where: str) -> str:
    return f"item {where}" if where.startswith("[") else where or "the value"
