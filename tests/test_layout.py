"""The layout of the source: packages import only from packages below, and no module imports itself."""

import ast
import re
import tomllib
from collections import Counter
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

import gapstack

PACKAGES = (
    *("data", "evaluation", "display", "language", "running_text", "resolvers"),
    *("encoding", "features", "training", "members"),
    *("ensemble", "runs", "comparison", "audits", "papers", "cli"),
)
"""From the ground up. Top-level modules (errors, files, ...) may be imported by all and import none of these."""
SRC = Path(gapstack.__file__).parent
MODULES = {
    ".".join(("gapstack", *path.relative_to(SRC).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(SRC.rglob("*.py"))
}
NAME = re.compile(r"(gapstack(?:\.\w+)+)(?::\w+)?")
COMPETITION = {"encoding", "features", "training", "members", "ensemble", "runs"}


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def imports(module: str) -> frozenset[str]:
    """Modules of the package that ``module`` imports anywhere, including inside functions."""
    names: set[str] = set()
    for node in chain.from_iterable(map(ast.walk, filter(is_run, tree(module).body))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            submodules = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= submodules & set(MODULES) or {node.module}
    return frozenset(names & set(MODULES))


@cache
def named(module: str) -> frozenset[str]:
    """Modules that strings of ``module`` name, as targets of a registry or of ``resolve_name``."""
    strings = (
        node.value
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return frozenset(name[1] for string in strings if (name := NAME.fullmatch(string)) and name[1] in MODULES)


def is_run(statement: ast.stmt) -> bool:
    """False for imports that only type checkers follow."""
    return not (isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING")


def package(module: str) -> str:
    return [*module.split("."), ""][1]


@pytest.mark.parametrize("module", MODULES)
def test_imports_lead_downwards(module):
    own = package(module)
    if module == "gapstack":  # the public names come from everywhere
        return
    height = PACKAGES.index(own) if own in PACKAGES else -1
    above = {
        name
        for name in imports(module)
        if package(name) in PACKAGES and PACKAGES.index(package(name)) > height
    }
    assert not above


@pytest.mark.parametrize("product", ["language", "running_text"])
def test_running_text_reaches_no_member_stack_or_run(product):
    """Neither by imports nor by strings, such as a registry's targets."""
    pending = [module for module in MODULES if package(module) == product]
    reached: dict[str, str] = dict.fromkeys(pending, "")
    while pending:
        module = pending.pop()
        for name in (imports(module) | named(module)) - reached.keys() - {"gapstack"}:
            assert package(name) not in {*COMPETITION, "papers", "cli"}, f"{module} reaches {name}"
            reached[name] = module
            pending.append(name)


def test_nothing_but_the_command_line_imports_papers():
    users = {
        module for module in MODULES for name in imports(module) | named(module) if package(name) == "papers"
    }
    assert {package(module) for module in users} <= {"papers", "cli"}


def test_entry_points_name_modules_of_their_product():
    project = tomllib.loads((SRC.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    targets = {"gap": project["scripts"]["gap"], **project["entry-points"]["spacy_factories"]}
    assert {name: package(target.partition(":")[0]) for name, target in targets.items()} == {
        "gap": "cli",
        "gapstack": "running_text",
    }


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


def test_every_package_is_listed():
    assert {path.parent.name for path in SRC.glob("*/__init__.py")} == set(PACKAGES)


def test_class_names_are_unique():
    names = [node.name for module in MODULES for node in tree(module).body if isinstance(node, ast.ClassDef)]
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_module_names_are_unique():
    names = Counter(path.stem for path in MODULES.values() if path.stem not in {"__init__", "__main__"})
    replaced = {"entities"}  # of the engine that the running-text model replaces
    assert {name for name, count in names.items() if count > 1} <= replaced
