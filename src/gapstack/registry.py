"""Look-up by name, for members, stackers, feature blocks, formats and all else that comes in kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pkgutil import resolve_name
from typing import Any, Generic, TypeVar

from gapstack.errors import MemberError
from gapstack.settings import SettingError, check_all, closest, shown, with_current_names
from gapstack.signatures import settings_of

T = TypeVar("T")


class UnknownNameError(MemberError, KeyError):
    """Nothing of this kind has this name; names the closest match."""

    def __str__(self) -> str:  # KeyError would print its argument's repr
        return str(self.args[0])


def unknown(kind: str, name: object, names: Iterable[str]) -> UnknownNameError:
    """The error for an unknown name: ``no member is called "priro"; did you mean prior?``."""
    return UnknownNameError(f"no {kind} is called {shown(name)}; {closest(name, names)}")


def lazy(package: str, where: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a package whose public names are imported on first use (PEP 562).

    ``where`` maps each name to its ``module:object``. A name must not be that of a submodule too.
    """

    def get(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return resolve_name(where[name])

    return get


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a registry.

    Attributes
    ----------
    target : object
        ``module:object``, imported on first use; or the object itself.
    about : str
        One line of description.
    paper, needs : str
        Published source, and required data.
    package : str
        Other package that registered it, if any.
    """

    target: Any
    about: str = ""
    paper: str = ""
    needs: str = "nothing"
    package: str = ""


class Registry(Mapping[str, T], Generic[T]):
    """Things of one kind by name, in order, each imported on first use.

    Parameters
    ----------
    kind : str
        What errors call one of them.
    entries : mapping
        By name: an :class:`Entry`, or its target alone.
    also : iterable of str
        Further valid names, for errors.
    group : str, optional
        Group of entry points by which other packages add entries; they cannot replace ours.
    """

    def __init__(
        self, kind: str, entries: Mapping[str, Any], *, also: Iterable[str] = (), group: str | None = None
    ):
        self.kind = kind
        self._entries = {
            name: entry if isinstance(entry, Entry) else Entry(entry) for name, entry in entries.items()
        }
        self._also, self._group = tuple(also), group

    def __iter__(self) -> Iterator[str]:
        yield from self._entries
        yield from (name for name in self._others if name not in self._entries)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self._others

    def __getitem__(self, name: str) -> T:
        entry = self.entry(name)
        if type(entry.target) is not str:  # an enumeration's member may be a str as well
            thing: T = entry.target
            return thing
        try:
            thing = resolve_name(entry.target)
        except Exception as error:  # whatever another package's module raises
            if not entry.package:
                raise
            problem = f"{type(error).__name__}: {error}".splitlines()[0]
            raise MemberError(
                f"{self.kind} {name} of package {entry.package} cannot be loaded ({entry.target}): {problem}. "
                "Mend or uninstall that package"
            ) from error
        return thing

    def entry(self, name: str) -> Entry:
        """The line of a name; UnknownNameError if there is none."""
        for entries in (self._entries, self._others):
            if isinstance(name, str) and name in entries:
                return entries[name]
        raise unknown(self.kind, name, [*self._also, *self])

    def name_of(self, thing: type) -> str:
        """Name of a class of this registry; MemberError if it has none."""
        where = f"{thing.__module__}:{thing.__qualname__}"
        for name in self:
            if self.entry(name).target in (where, thing):
                return name
        raise MemberError(
            f"{where} is no registered {self.kind}, so that it cannot be stored by name; other packages register "
            f"theirs as entry points {self._group}, by the module that defines them"
        )

    def kinds(self, name: str) -> dict[str, Any]:
        """What each setting of a class may be, by name, in the terms of :mod:`gapstack.settings`."""
        target = self.entry(name).target
        if type(target) is not str:
            target = f"{target.__module__}:{target.__qualname__}"
        if self.entry(name).package:
            self[name]  # what cannot be imported is refused in our words
        return {key: setting.kind for key, setting in settings_of(target).items()}

    def check(self, name: str, settings: Mapping[str, Any]) -> None:
        """Check the settings of a class of this registry without importing it, where it is ours.

        Raises UnknownNameError if there is none of this name; SettingError if it has no such setting, or a value is of
        another type or out of range.
        """
        check_all(settings, self.kinds(name))

    def create(self, name: str, **settings: Any) -> Any:
        """Make one with checked settings; the others have their defaults, and former names work with a warning.

        Raises UnknownNameError, SettingError as :meth:`check`.
        """
        try:
            self.check(name, settings)
        except SettingError as error:
            raise error.within(f"{self.kind} {name}") from None
        kind: Any = self[name]
        return kind(**with_current_names(settings, self.kinds(name), f"{self.kind} {name}"))

    @cached_property
    def _others(self) -> dict[str, Entry]:
        if self._group is None:
            return {}
        return {point.name: _registered(point) for point in entry_points(group=self._group)}


def _registered(point: EntryPoint) -> Entry:
    package = f"{point.dist.name} {point.dist.version}" if point.dist else "unknown"
    return Entry(point.value, paper=f"package {package}", needs="what that package says", package=package)
