"""Fingerprint of the source behind a result: a member's module, say, and all modules of the package that it imports.

What is stored is valid only as long as that source is unchanged. A change to one member leaves the folds of the others
valid; so does a new member, since the table of members is left out. Source counts as its syntax tree without
docstrings: comments and formatting do not matter.

Of the package's other files only those of the embedded sample can reach a member: its rows and its parses, which are
parts of a result's identity.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from gapstack.files import fingerprint

_PACKAGE = Path(__file__).parent
# Modules named in strings, as tables of things to import do: "gapstack.features.surface:surface_features"
_NAMED = re.compile(r"(gapstack(?:\.\w+)+)(?::\w+)?")
# These cannot change a probability: tables of names, messages, identities,
_INDIFFERENT = {
    *("gapstack", "gapstack.members", "gapstack.members.inputs", "gapstack.members.store", "gapstack.runs"),
    *("gapstack.code", "gapstack.errors", "gapstack.progress", "gapstack.antecedents.pronoun_resolver"),
    # where data lie and who corrects labels: what is found there counts by its contents
    *(
        "gapstack.corpus.sources",
        "gapstack.corpus.datasets",
        "gapstack.corpus.download",
        "gapstack.corpus.embedded",
        "gapstack.corpus.labels",
    ),
    # checks of settings and look-ups by name
    *("gapstack.kinds", "gapstack.registry", "gapstack.settings", "gapstack.signatures"),
}


def code_behind(*modules: str) -> str:
    """Hash of these modules and of all modules of the package that they can reach."""
    reached = sorted({name for module in modules for name in modules_behind(module)})
    return fingerprint([(name, _read(_source(name))[0]) for name in reached])


def modules_behind(module: str) -> list[str]:
    """Names of the modules of the package that ``module`` imports, directly or not, itself included; sorted."""
    reached: set[str] = set()
    open_ends = [module]
    while open_ends:
        name = open_ends.pop()
        counts = name == module or name not in _INDIFFERENT
        if counts and name not in reached and _file(name) is not None:
            reached.add(name)
            open_ends += [name.rpartition(".")[0], *_read(_source(name))[1]]
    return sorted(reached)


@lru_cache(maxsize=1024)
def _read(source: str) -> tuple[str, tuple[str, ...]]:
    """Hash of a module's syntax tree without docstrings, and the names in it that may be modules.

    One walk gives both: a command begins with those of a hundred modules.
    """
    names: list[str] = []
    tree = _tree(ast.parse(source), names)
    return fingerprint(tree), tuple(names)


def _tree(node: Any, names: list[str]) -> Any:
    """A syntax tree as JSON-able values; empty fields are left out, since each Python adds some."""
    if isinstance(node, list):
        return [_tree(each, names) for each in node if not _is_wording(each)]
    if not isinstance(node, ast.AST):
        return repr(node)
    names += _references(node)
    tree: list[Any] = [type(node).__name__]
    for name in node._fields:
        value = getattr(node, name, None)
        if value is not None and value != []:
            tree.append((name, _tree(value, names)))
    return tree


def _is_wording(node: Any) -> bool:
    """Whether it is a docstring or another string statement."""
    constant = node.value if isinstance(node, ast.Expr) else None
    return isinstance(constant, ast.Constant) and isinstance(constant.value, str)


def _references(node: ast.AST) -> list[str]:
    """Names that may be modules: what is imported, and strings that look like the package's modules."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and (named := _NAMED.fullmatch(node.value))
    ):
        return [named[1]]
    return []


def _file(module: str) -> Path | None:
    """File of a module of the package; None if there is none."""
    first, *rest = module.split(".")
    if first != _PACKAGE.name:
        return None
    path = _PACKAGE.joinpath(*rest)
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def _source(module: str) -> str:
    file = _file(module)
    return file.read_text(encoding="utf-8") if file else ""
