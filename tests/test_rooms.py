"""The layout: rooms import only rooms below them, no module imports itself, each room has a docstring."""

import ast
from functools import cache
from pathlib import Path

import pytest

import gapstack

ROOMS = (
    *("corpus", "scoring", "resolvers", "text", "encoding", "features", "vectors", "training", "members"),
    *("ensemble", "runs", "antecedents", "comparison", "audit", "report", "reproduce", "cli"),
)
"""From the ground up. Modules beside the rooms (errors, files, ...) may be imported by all and import no room."""
SRC = Path(gapstack.__file__).parent
MODULES = {
    ".".join(("gapstack", *path.relative_to(SRC).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(SRC.rglob("*.py"))
}


@cache
def imports(module: str) -> frozenset[str]:
    """Modules of the package that ``module`` imports anywhere, inside functions and for type checkers too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            submodules = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= submodules & set(MODULES) or {node.module}
    return frozenset(names & set(MODULES))


def room(module: str) -> str:
    return [*module.split("."), ""][1]


@pytest.mark.parametrize("module", MODULES)
def test_no_import_leads_to_a_room_above(module):
    own = room(module)
    if module == "gapstack":  # the public surface imports from every room
        return
    height = ROOMS.index(own) if own in ROOMS else -1
    above = {name for name in imports(module) if room(name) in ROOMS and ROOMS.index(room(name)) > height}
    assert not above


def test_no_module_imports_itself_through_others():
    finished, path = set(), []

    def visit(module: str) -> None:
        assert module not in path, " -> ".join([*path[path.index(module) :], module])
        if module not in finished:
            path.append(module)
            for name in sorted(imports(module)):
                visit(name)
            finished.add(path.pop())

    for module in MODULES:
        visit(module)


def test_every_room_is_listed_and_its_docstring_says_what_it_holds():
    assert {path.parent.name for path in SRC.glob("*/__init__.py")} == set(ROOMS)
    for path in SRC.rglob("__init__.py"):
        first_line = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
        assert len(first_line) > 20, path


def test_no_file_name_stands_more_than_twice():
    names = [path.name for path in SRC.rglob("*.py") if path.name != "__init__.py"]
    assert {name for name in names if names.count(name) > 2} == set()
