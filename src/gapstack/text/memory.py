"""Results by row, kept in memory while the process lives: folds need the same rows repeatedly."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice
from typing import Generic, TypeVar

from gapstack.corpus import Example

Value = TypeVar("Value")


def row_key(example: Example, *more: Hashable) -> tuple[Hashable, ...]:
    """All of an example but its id and label, and ``more`` that the value depends on, as a key."""
    return (example.text, example.pronoun, example.a, example.b, example.url, *more)


class Memory(Generic[Value]):
    """Values by key, at most ``most``: the oldest are dropped first."""

    def __init__(self, most: int):
        self._most = most
        self._values: dict[Hashable, Value] = {}

    def fetch(self, keys: Sequence[Hashable], compute: Callable[[list[int]], Iterable[Value]]) -> list[Value]:
        """Give the value of each key, in order.

        ``compute`` is called once, with the positions of the missing keys, each once, and gives their values in that
        order.
        """
        new = {key: position for position, key in reversed(list(enumerate(keys))) if key not in self._values}
        positions = sorted(new.values())
        if positions:
            for position, value in zip(positions, compute(positions), strict=True):
                self._values[keys[position]] = value
        values = [self._values[key] for key in keys]
        for key in list(islice(self._values, max(0, len(self._values) - self._most))):
            del self._values[key]
        return values

    def forget(self) -> None:
        """Drop everything."""
        self._values.clear()
