"""Which source decides a member's answers: its own module and all of the package that this leads to.

Stored folds count only while that source does what it did when they were computed. A change to one member leaves the
folds of the others alone; so does a new member, since the members table decides nothing. Source counts as Python
parses it, without docstrings: comments, docstrings and formatting decide nothing either.

Of the package's other files only those of the embedded sample can reach a member, as rows, which a result's identity
has by their contents, and as parses, which count with the parser.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from gapstack.files import fingerprint
from gapstack.members import MEMBERS

_PACKAGE = Path(__file__).parents[1]
# Modules named in strings, as tables of things to import do: "gapstack.features.surface:surface_features"
_NAMED = re.compile(r"(gapstack(?:\.\w+)+)(?::\w+)?")
# What they say (who there is, how things are told, what a result is known by) decides no probability
_INDIFFERENT = {
    *("gapstack", "gapstack.members", "gapstack.members.inputs", "gapstack.members.store", "gapstack.runs"),
    *("gapstack.errors", "gapstack.progress"),
    # what settings may be, and how names are looked up: values reach a member as they were given
    *("gapstack.kinds", "gapstack.registry", "gapstack.settings", "gapstack.signatures"),
}


@lru_cache(maxsize=64)
def code_fingerprint(member: str) -> str:
    """Hash of what all modules of the package do that a member's own module can reach, itself included.

    A member of another package goes by that package's name and version, and by what is behind every member.
    """
    entry = MEMBERS.entry(member)
    if entry.package:
        return fingerprint(entry.package, entry.target, code_behind("gapstack.members.member"))
    return code_behind(entry.target.partition(":")[0])


def code_behind(*modules: str) -> str:
    """Hash of what these modules, and all of the package that they can reach, do."""
    reached = sorted({name for module in modules for name in modules_behind(module)})
    return fingerprint([(name, _behaviour(_source(name))) for name in reached])


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
def _behaviour(source: str) -> str:
    """Hash of a module's syntax tree without what is only read by people."""
    return fingerprint(_tree(_parsed(source)))


def _tree(node: Any) -> Any:
    """A syntax tree as JSON-able values; empty fields are left out, since each Python adds some."""
    if isinstance(node, ast.AST):
        fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []))
        return [type(node).__name__, *([name, _tree(value)] for name, value in fields)]
    if isinstance(node, list):
        return [_tree(each) for each in node if not _is_wording(each)]
    return repr(node)


def _is_wording(node: Any) -> bool:
    """Whether it is a docstring, or another string that is no more than stated."""
    constant = node.value if isinstance(node, ast.Expr) else None
    return isinstance(constant, ast.Constant) and isinstance(constant.value, str)


@lru_cache(maxsize=1024)
def _references(source: str) -> tuple[str, ...]:
    """Names that may be modules: all that is imported, and strings that look like the package's modules."""
    found: list[str] = []
    for node in ast.walk(_parsed(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = _NAMED.fullmatch(node.value)
            found += [named[1]] if named else []
    return tuple(found)


@lru_cache(maxsize=4)  # both questions are asked of a module in turn; trees are large
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


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
