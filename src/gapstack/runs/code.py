"""Which source decides a member's answers: its own module and all of the package that this leads to.

Stored folds count only while that source is what it was when they were computed. A change to one member leaves the
folds of the others alone; so does a new member, since the members table decides nothing.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path

import gapstack
from gapstack.files import fingerprint

_PACKAGE = Path(gapstack.__file__).parent
# Modules named in strings, as tables of things to import do: "gapstack.views.surface:surface_features"
_NAMED = re.compile(r"(gapstack(?:\.\w+)+)(?::\w+)?")
# What it says who there is, and how things are told, decides no probability
_INDIFFERENT = {"gapstack", "gapstack.members", "gapstack.errors", "gapstack.progress"} | {
    # what settings may be, and how names are looked up: values reach a member as they were given
    "gapstack.registry",
    "gapstack.settings",
    "gapstack.signatures",
}


@lru_cache(maxsize=64)
def code_fingerprint(member: str) -> str:
    """Hash of all modules of the package that ``members/<member>.py`` can reach, itself included."""
    return fingerprint([(module, _source(module)) for module in modules_behind(f"gapstack.members.{member}")])


def modules_behind(module: str) -> list[str]:
    """Names of the modules of the package that ``module`` imports, directly or not, itself included; sorted."""
    found: set[str] = set()
    open_ends = [module]
    while open_ends:
        name = open_ends.pop()
        if name not in found and name not in _INDIFFERENT and _file(name) is not None:
            found.add(name)
            open_ends += [name.rpartition(".")[0], *_references(_source(name))]
    return sorted(found)


@lru_cache(maxsize=1024)
def _references(source: str) -> tuple[str, ...]:
    """Names that may be modules: all that is imported, and strings that look like the package's modules."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = _NAMED.fullmatch(node.value)
            found += [named[1]] if named else []
    return tuple(found)


def _file(module: str) -> Path | None:
    """Where a module of the package lies; None for what is none."""
    first, *rest = module.split(".")
    if first != _PACKAGE.name:
        return None
    path = _PACKAGE.joinpath(*rest)
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def _source(module: str) -> str:
    file = _file(module)
    return file.read_text(encoding="utf-8") if file else ""
