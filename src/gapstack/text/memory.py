"""What was computed of a row, remembered while the process lives: folds ask for the same rows again and again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice
from typing import Generic, TypeVar

from gapstack.corpus import Example

Value = TypeVar("Value")


def row_key(example: Example, *more: Hashable) -> tuple[Hashable, ...]:
    """All of an example that a view may look at, its label left out, with whatever else decides the value."""
    return (example.text, example.pronoun, example.a, example.b, example.url, *more)


class Memory(Generic[Value]):
    """Values by key, those forgotten that were remembered first where there are more than ``most``."""

    def __init__(self, most: int):
        self._most = most
        self._kept: dict[Hashable, Value] = {}

    def fetch(self, keys: Sequence[Hashable], compute: Callable[[list[int]], Iterable[Value]]) -> list[Value]:
        """Give the value of each key, in order.

        ``compute`` is asked once, for the positions of the keys that are not remembered (none of them twice),
        and gives their values in that order.
        """
        new = {key: position for position, key in reversed(list(enumerate(keys))) if key not in self._kept}
        positions = sorted(new.values())
        if positions:
            for position, value in zip(positions, compute(positions), strict=True):
                self._kept[keys[position]] = value
        found = [self._kept[key] for key in keys]
        for key in list(islice(self._kept, max(0, len(self._kept) - self._most))):
            del self._kept[key]
        return found

    def forget(self) -> None:
        """Drop everything."""
        self._kept.clear()
