"""Explicit constructors, and the settings of a class without importing it.

A class below :class:`Configured` declares its settings as annotated attributes, as a dataclass does, and gets a
constructor of them and of its bases' settings, which editors and ``help()`` show. :func:`settings_of` reads the same
from the source, so that a recipe is checked before torch is loaded.
"""

from __future__ import annotations

import ast
import inspect
import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field
from functools import lru_cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any, dataclass_transform

from gapstack import kinds
from gapstack.kinds import Table

_OURS = __package__
# :class:`~gapstack.members.member.Member` is called Member, :data:`a.b.BLOCKS` a.b.BLOCKS
_ROLE = re.compile(r":\w+:`(?:~[\w.]*\.)?([^`]+)`")


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(Field, field))
class Configured:
    """Base of classes with settings: annotated attributes become keyword arguments of the constructor.

    Values are stored untouched under their own names, as scikit-learn's contract has it. A setting that a subclass
    declares again has the new default. What is no setting is annotated ``ClassVar``, or not at all.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(kw_only=True, eq=False, repr=False)(cls)


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its kind in the terms of :mod:`gapstack.kinds`, and its default as the source has it."""

    kind: Any
    default: str | None


def settings_of(where: str | type) -> Mapping[str, Setting]:
    """Settings by name of a class, given as ``module:Class`` or itself.

    Classes of this package and their bases are read from their source without an import; of others the constructor's
    signature counts.
    """
    if isinstance(where, type):
        if not _is_ours(where.__module__):
            return _of_signature(where)
        where = f"{where.__module__}:{where.__qualname__}"
    return _of_source(where) if _is_ours(where) else _of_signature(resolve_name(where))


@lru_cache(maxsize=256)
def _of_source(where: str) -> Mapping[str, Setting]:
    module, _, name = where.partition(":")
    settings: dict[str, Setting] = {}
    classes = _classes(module)
    if name not in classes and (
        origin := _origin(module, name)
    ):  # a package that passes on what a module defines
        return _of_source(origin)
    for base in reversed(classes[name].bases):
        origin = _origin(module, ast.unparse(base))
        if origin is not None:
            settings |= settings_of(origin)
    for node in classes[name].body:
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        if _is_setting(node):
            kind = eval(ast.unparse(node.annotation), {}, _Names(module))  # our own source, no input
            settings[node.target.id] = Setting(kind, ast.unparse(node.value) if node.value else None)
        else:  # perhaps a base's, which this class does not offer
            settings.pop(node.target.id, None)
    return settings


def constant(module: str, name: str) -> Any:
    """Value of a constant of one of our modules, read from its source without an import; None if it has none.

    Its expression may use literals and other constants, of the module or imported from ours.
    """
    node = _assignments(module).get(name)
    if node is not None:
        return eval(ast.unparse(node), {}, _Constants(module))  # our own source, no input
    origin = _origin(module, name)
    return constant(*origin.split(":")) if origin else None


def described(kind: type) -> dict[str, str]:
    """One-line descriptions of parameters by name, from the numpydoc of a class and its bases."""
    descriptions: dict[str, str] = {}
    for owner in reversed(kind.__mro__):
        for name, words in _parameters(vars(owner).get("__doc__") or ""):
            if not (
                words.startswith("See ") and name in descriptions
            ):  # "See the base", whose words are there already
                descriptions[name] = words
    return {name: _ROLE.sub(r"\1", words).replace("``", "") for name, words in descriptions.items()}


def _parameters(docstring: str) -> Iterator[tuple[str, str]]:
    lines = inspect.cleandoc(docstring).splitlines()
    if "Parameters" not in lines:
        return
    names: list[str] = []
    words: list[str] = []
    for line in [*lines[lines.index("Parameters") + 2 :], "end"]:
        if line.startswith(" ") or not line:
            words.append(line.strip())
            continue
        for name in names:
            yield name, " ".join(filter(None, words))
        if line.startswith("---") or line == "end":
            return
        names, words = [name.strip() for name in line.partition(" : ")[0].split(",")], []


def _is_setting(node: ast.AnnAssign) -> bool:
    text = ast.unparse(node)
    return "ClassVar" not in text and "init=False" not in text


class _Names(dict[str, Any]):
    """Names in annotations: those of :mod:`gapstack.kinds`, of typing, and dataclasses that the module has."""

    def __init__(self, module: str):
        super().__init__({**vars(typing), "Mapping": Mapping, "Sequence": Sequence, **vars(kinds)})
        self._module = module

    def __missing__(self, name: str) -> Any:
        origin = _origin(self._module, name)
        if origin is None:
            raise KeyError(name)
        return Annotated[Mapping[str, Any], Table(origin)]


class _Constants(dict[str, Any]):
    """Names in a constant's expression: other constants; what is none is left to Python (``range``)."""

    def __init__(self, module: str):
        super().__init__()
        self._module = module

    def __missing__(self, name: str) -> Any:
        value = constant(self._module, name)
        if value is None:
            raise KeyError(name)
        return value


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == _OURS


def _file(module: str) -> Path:
    root = Path(__file__).parent.joinpath(*module.split(".")[1:])
    return root / "__init__.py" if root.is_dir() else root.with_suffix(".py")


@lru_cache(maxsize=256)
def _tree(module: str) -> ast.Module:
    return ast.parse(_file(module).read_text(encoding="utf-8"))


@lru_cache(maxsize=256)
def _assignments(module: str) -> dict[str, ast.expr]:
    """Values of the module's constants by name."""
    values: dict[str, ast.expr] = {}
    for node in _tree(module).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
                values[target.id] = node.value
    return values


@lru_cache(maxsize=256)
def _classes(module: str) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in _tree(module).body if isinstance(node, ast.ClassDef)}


def _origin(module: str, name: str) -> str | None:
    """Where a base class of ours is defined; None for another's, which has no settings."""
    if name in _classes(module):
        return f"{module}:{name}"
    for node in _tree(module).body:
        if isinstance(node, ast.ImportFrom) and any((one.asname or one.name) == name for one in node.names):
            return f"{node.module}:{name}" if _is_ours(str(node.module)) and node.module != __name__ else None
    return None


def _of_signature(kind: Any) -> dict[str, Setting]:
    # each base's annotations in the terms of its own module; a constructor written by hand has its own
    declared = getattr(kind, "__dataclass_fields__", {})
    hints = typing.get_type_hints(kind, include_extras=True) if declared else {}
    if not set(inspect.signature(kind).parameters) <= set(declared):
        hints |= typing.get_type_hints(kind.__init__, include_extras=True)
    return {
        name: Setting(
            hints.get(name, Any),
            None if parameter.default is parameter.empty else repr(parameter.default),
        )
        for name, parameter in inspect.signature(kind).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }
