"""Stored values: JSON files with a line for each quantity, and how found ones are compared to them."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

VALUES = Path(__file__).parent / "values"
_DIGITS = 12
_SHOWN = 8
_REASONS = frozenset({"not_covered"})
"""Records of reasons by name, of which the names are kept."""
_PROSE = frozenset({"caption", "note", "notes", "reasons", "verdict", "remark"})


def plain(value: Any) -> Any:
    """The value as JSON has it: lists for arrays and tuples, floats of 12 significant digits."""
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    return value


def read(file: str, key: str) -> Any:
    """The value of a quantity; the test fails if there is none."""
    values = _values(file)
    if key not in values:
        pytest.fail(f"{file}.json has no {key!r}; GAPSTACK_UPDATE_GOLDEN=1 stores what is found")
    return values[key]


def write(file: str, key: str, value: Any) -> None:
    """Store a value; the keys stay sorted."""
    values = _values(file) | {key: plain(value)}
    lines = [f"{json.dumps(name)}: {json.dumps(values[name], ensure_ascii=False)}" for name in sorted(values)]
    VALUES.mkdir(exist_ok=True)
    (VALUES / f"{file}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _values(file: str) -> dict[str, Any]:
    path = VALUES / f"{file}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def differences(found: Any, expected: Any, tolerance: float) -> list[str]:
    """The first places where two values differ: floats by more than the tolerance, absolute or relative."""
    return list(islice(_differences(found, expected, tolerance, ""), _SHOWN))


def _differences(found: Any, expected: Any, tolerance: float, place: str) -> Iterator[str]:
    if isinstance(found, dict) and isinstance(expected, dict):
        for key in [*expected, *(key for key in found if key not in expected)]:
            if key not in found or key not in expected:
                yield f"{place}.{key}: {'is missing' if key in expected else 'is new'}"
            else:
                yield from _differences(found[key], expected[key], tolerance, f"{place}.{key}")
    elif isinstance(found, list) and isinstance(expected, list):
        if len(found) != len(expected):
            yield f"{place}: {len(found)} values, expected {len(expected)}"
        for number, (one, other) in enumerate(zip(found, expected, strict=False)):
            yield from _differences(one, other, tolerance, f"{place}[{number}]")
    elif not _alike(found, expected, tolerance):
        yield f"{place}: {found!r}, expected {expected!r}"


def _alike(found: Any, expected: Any, tolerance: float) -> bool:
    numbers = [isinstance(one, int | float) and not isinstance(one, bool) for one in (found, expected)]
    if not all(numbers):
        return type(found) is type(expected) and found == expected
    if math.isnan(found) or math.isnan(expected):
        return math.isnan(found) and math.isnan(expected)
    return found == expected or math.isclose(found, expected, rel_tol=tolerance, abs_tol=tolerance)


def sha(value: Any) -> str:
    """Short hash of text, bytes, integers in an array, or anything that JSON takes."""
    if isinstance(value, np.ndarray):
        assert value.dtype.kind in "iub", "floats are compared with a tolerance, not hashed"
        value = f"{value.shape} " + " ".join(map(str, value.astype(np.int64).ravel().tolist()))
    elif not isinstance(value, str | bytes):
        value = json.dumps(value, sort_keys=True)
    return hashlib.sha256(value.encode() if isinstance(value, str) else value).hexdigest()[:12]


def summary(values: Any) -> list[float]:
    """What a long column of numbers is told by: count of values, sum, sum of sizes, and the first two."""
    column = np.array([np.nan if one is None else one for one in values], dtype=np.float64)
    known = column[np.isfinite(column)]
    return [len(known), known.sum(), np.abs(known).sum(), *known[:2]]


def without_prose(value: Any) -> Any:
    """The same without captions, notes, verdicts and reasons, which may be worded anew."""
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if key not in _PROSE}
        return {
            key: list(one) if key in _REASONS and isinstance(one, dict) else without_prose(one)
            for key, one in kept.items()
        }
    return [without_prose(one) for one in value] if isinstance(value, list) else value


def shortened(value: Any, longest: int = 12) -> Any:
    """The same with each long list of records, other than tables, told by its columns.

    Numbers are told by :func:`summary`, everything else by a hash.
    """
    if isinstance(value, dict):
        return {key: shortened(one, longest) for key, one in value.items()}
    if not isinstance(value, list):
        return value
    tables = all(isinstance(one, dict) and "title" in one for one in value)
    if len(value) <= longest or tables:
        return [shortened(one, longest) for one in value]
    if not all(isinstance(one, dict) for one in value):
        return _column(value)
    columns = dict.fromkeys(key for one in value for key in one)
    return {"rows": len(value)} | {key: _column([one.get(key) for one in value]) for key in columns}


def _column(values: list[Any]) -> Any:
    numbers = [one for one in values if isinstance(one, int | float) and not isinstance(one, bool)]
    if any(isinstance(one, float) for one in numbers) and len(numbers) + values.count(None) == len(values):
        return summary(values)
    if any(isinstance(one, dict | list | float) for one in values):
        numbers, others = [], []
        _leaves(values, numbers, others)
        return {"numbers": summary(numbers), "others": sha(others)}
    return sha(values)


def _leaves(value: Any, numbers: list[float], others: list[Any]) -> None:
    """Sort what is in nested lists and records into floats and the rest, keys included."""
    if isinstance(value, dict):
        for key, one in value.items():
            others.append(key)
            _leaves(one, numbers, others)
    elif isinstance(value, list):
        for one in value:
            _leaves(one, numbers, others)
    elif isinstance(value, float):
        numbers.append(value)
    else:
        others.append(value)
