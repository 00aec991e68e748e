"""Look-up by name: members, stackers, feature blocks, file formats and whatever else users name."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import resolve_name
from typing import Any, Generic, NamedTuple, TypeVar, cast

from gapstack.errors import ExtraError, MemberError, closest, shown, without_extra

T = TypeVar("T")


class UnknownNameError(MemberError, KeyError):
    """There is nothing of this name; the message has the closest match."""

    def __str__(self) -> str:  # KeyError would print its argument's repr
        return str(self.args[0])


def unknown(kind: str, name: object, names: Iterable[str]) -> UnknownNameError:
    """Make the error for an unknown name: ``no member is called "priro"; did you mean prior?``."""
    return UnknownNameError(f"no {kind} is called {shown(name)}; {closest(name, names)}")


def lazy(package: str, where: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a package whose public names, ``module:object``, are imported on first use."""

    def get(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return resolve_name(where[name])

    return get


def import_extra(module: str, extra: str) -> Any:
    """Import a module that an optional extra installs; ExtraError if that fails."""
    try:
        return import_module(module)
    except ImportError as problem:
        raise ExtraError(f"{module.partition('.')[0]} ({problem})", extra) from problem


class Entry(NamedTuple):
    """Registry entry: target (an object or ``module:object``), description, paper, requirements, providing package."""

    target: Any
    about: str = ""
    paper: str = ""
    needs: str = "nothing"
    package: str = ""


class Registry(Mapping[str, T], Generic[T]):
    """Objects of one kind by name, imported on first use; other packages add theirs by entry points."""

    def __init__(
        self, kind: str, entries: Mapping[str, Any], *, also: Iterable[str] = (), group: str | None = None
    ):
        self.kind, self._ours = kind, entries
        self._also, self._group = tuple(also), group

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        entries = {name: one if isinstance(one, Entry) else Entry(one) for name, one in self._ours.items()}
        for point in entry_points(group=self._group) if self._group else ():
            package = f"{point.dist.name} {point.dist.version}" if point.dist else "unknown"
            theirs = Entry(point.value, "", f"package {package}", "see that package", package)
            entries.setdefault(point.name, theirs)
        return entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __getitem__(self, name: str) -> T:
        entry = self.entry(name)
        target: Any = entry.target
        if type(target) is not str:  # an enumeration's member may be a str as well
            return cast(T, target)
        try:
            return cast(T, resolve_name(target))
        except Exception as error:  # whatever another package's module raises
            if not entry.package:
                missing = without_extra(error) if isinstance(error, ModuleNotFoundError) else None
                raise missing or error from None
            raise MemberError(
                f"{self.kind} {name} of package {entry.package} cannot be loaded ({target}): "
                f"{type(error).__name__}: {error}. Repair or uninstall that package"
            ) from error

    def entry(self, name: str) -> Entry:
        """Return the entry of a name; UnknownNameError if there is none."""
        if not isinstance(name, str) or name not in self._entries:
            raise unknown(self.kind, name, [*self._also, *self])
        return self._entries[name]

    def find(self, thing: type) -> str | None:
        """Return the name of a class of this registry; None if it has none."""
        where = f"{thing.__module__}:{thing.__qualname__}"
        return next((name for name, one in self._entries.items() if one.target in (where, thing)), None)

    def name_of(self, thing: type) -> str:
        """Return the name of a class of this registry; MemberError if it has none."""
        if (name := self.find(thing)) is not None:
            return name
        raise MemberError(
            f"{thing.__module__}:{thing.__qualname__} is not a registered {self.kind}, so it cannot be stored by name; "
            f"register it as an entry point of the group {self._group}"
        )

    def check(self, name: str, settings: Mapping[str, Any]) -> None:
        """Check the settings of a class: UnknownNameError for an unknown class, SettingError for a bad setting."""
        from gapstack.settings import check_settings  # pydantic is not needed to list names

        check_settings(cast(Any, self[name]), settings)

    def create(self, name: str, **settings: Any) -> Any:
        """Make an instance with checked settings; the others have their defaults. Raises as :meth:`check`."""
        from gapstack.settings import SettingError

        try:
            self.check(name, settings)
        except SettingError as error:
            raise error.within(f"{self.kind} {name}") from None
        kind: Any = self[name]
        return kind(**settings)
