"""Learned state as named arrays, which are written without pickle."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from gapstack.members.member import State


class LearnedArrays:
    """Base of an estimator whose whole learned state is arrays: ``weights`` in :attr:`LEARNED` is ``weights_``."""

    LEARNED: ClassVar[tuple[str, ...]] = ()

    def _state(self) -> State:
        return State({name: getattr(self, f"{name}_") for name in self.LEARNED})

    def _restore(self, state: State) -> None:
        for name in self.LEARNED:
            setattr(self, f"{name}_", state.arrays[name])


class ArrayFields:
    """Base of a dataclass with slots whose fields are arrays, such as a fitted model of scikit-learn."""

    __slots__: tuple[str, ...] = ()
    PREFIX: ClassVar[str]
    """Of the arrays' names in a member's state."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give the fields by prefixed name, for :class:`~gapstack.members.member.State`."""
        return {self.PREFIX + name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """Inverse of :meth:`arrays`."""
        return cls(**{name: arrays[cls.PREFIX + name] for name in cls.__slots__})
