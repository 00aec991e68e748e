"""Results by row, kept in memory while the process lives: folds need the same rows repeatedly."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Generic, TypeVar

from gapstack.corpus import Example

Value = TypeVar("Value")


def row_key(example: Example, *more: Hashable) -> tuple[Hashable, ...]:
    """All of an example but its id and label, and ``more`` that the value depends on, as a key."""
    return (example.text, example.pronoun, example.a, example.b, example.url, *more)


_drops: list[Callable[[], None]] = []


def remembered(most: int) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """As :func:`functools.lru_cache`, for what is computed of rows or texts: :func:`forget_all` drops it."""

    def remembering(function: Callable[..., Value]) -> Callable[..., Value]:
        caching: Any = lru_cache(maxsize=most)(function)
        _drops.append(caching.cache_clear)
        return caching  # type: ignore[no-any-return]

    return remembering


def forget_all() -> None:
    """Drop everything that is remembered of rows and texts, as a reader of endless text must."""
    for drop in _drops:
        drop()


class Memory(Generic[Value]):
    """Values by key, at most ``most``: those that nobody has asked for the longest are dropped first."""

    def __init__(self, most: int):
        self._most = most
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        _drops.append(self.forget)

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
        for key in keys:  # the latest asked for stand last; other threads find them all the while
            self._values.move_to_end(key)
        for key in list(islice(self._values, max(0, len(self._values) - self._most))):
            del self._values[key]
        return values

    def forget(self) -> None:
        """Drop everything."""
        self._values.clear()
