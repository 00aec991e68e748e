"""Which source a stored fold hangs on."""

import ast
import shutil
import subprocess
import sys

import pytest

from gapstack import code
from gapstack.members import MEMBERS
from gapstack.members.inputs import code_fingerprint
from gapstack.registry import Entry


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package's source that may be changed."""
    copy = tmp_path / "gapstack"
    shutil.copytree(code._PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "sample", "*.spacy"))
    monkeypatch.setattr(code, "_PACKAGE", copy)
    code_fingerprint.cache_clear()
    yield copy
    code_fingerprint.cache_clear()


def changed_by(package, file) -> set[str]:
    """Members whose fingerprint changes with ``file``."""
    before = {name: code_fingerprint(name) for name in MEMBERS}
    code_fingerprint.cache_clear()
    path = package / file
    path.write_text((path.read_text() if path.exists() else "") + "\nCHANGED = 1\n")
    return {name for name in MEMBERS if code_fingerprint(name) != before[name]}


@pytest.mark.parametrize(
    ("file", "hit", "spared"),
    [
        ("members/prior.py", {"prior"}, {"probert", "surface"}),
        ("members/member.py", set(MEMBERS), set()),
        ("members/parts/tags.py", {"probert"}, {"prior", "surface", "frozen_spans"}),
        ("training/loop.py", {"probert"}, {"prior", "surface", "url"}),
        # reached through the table of feature blocks, by names in strings
        ("features/surface.py", {"surface", "frozen_spans"}, {"prior"}),
        ("members/__init__.py", set(), set(MEMBERS)),
        ("members/a_new_one.py", set(), set(MEMBERS)),
        ("report/scores.py", set(), set(MEMBERS)),
    ],
)
def test_a_change_reaches_whom_it_concerns(package, file, hit, spared):
    changed = changed_by(package, file)
    assert hit <= changed
    assert not changed & spared


def reworded(source: str) -> str:
    """A module with other docstrings, comments and line breaks."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body[0] = ast.Expr(ast.Constant("Said otherwise."))
    return "# a comment\n" + ast.unparse(tree)


def behaviour(source: str) -> str:
    return code._read(source)[0]


def test_wording_changes_nobody(package):
    before = {name: code_fingerprint(name) for name in MEMBERS}
    code_fingerprint.cache_clear()
    paths = [*package.glob("text/*.py"), *package.glob("encoding/*.py"), *package.glob("features/*.py")]
    for path in paths:
        path.write_text(reworded(path.read_text()))
    assert len(paths) > 20
    assert {name: code_fingerprint(name) for name in MEMBERS} == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1", "x = 2"),
        ("x = 1", "x = 1.0"),
        ("f(a, b)", "f(b, a)"),
        ("x = 'a'", "x = 'b'"),
        ("x", "not x"),
    ],
)
def test_what_is_done_is_told_apart(before, after):
    assert behaviour(before) != behaviour(after)
    assert behaviour(f'"""One."""\n{before}  # why\n') == behaviour(f"\n\n{before}")


def test_a_member_of_another_package_goes_by_its_version(monkeypatch):
    def of(version: str) -> str:
        code_fingerprint.cache_clear()
        entry = Entry("tiny_package:Certain", package=f"tiny-package {version}")
        monkeypatch.setattr(MEMBERS, "_others", {"certain": entry}, raising=False)
        return code_fingerprint("certain")

    assert of("1.2") == of("1.2") != of("1.3")


def test_what_is_asked_for_counts_though_nobody_else_hangs_on_it():
    found = set(code.modules_behind("gapstack.antecedents.pronoun_resolver"))
    assert {f"gapstack.antecedents.{name}" for name in ("pronoun_resolver", "coupling", "windows")} <= found
    assert "gapstack.antecedents.pronoun_resolver" not in code.modules_behind("gapstack.members.prior")


def test_imports_within_functions_and_names_in_strings_lead_on(package):
    (package / "members" / "a_new_one.py").write_text(
        'def f():\n    from gapstack.text import page_title\nTABLE = {"a": "gapstack.comparison.strata:of"}\n'
    )
    found = code.modules_behind("gapstack.members.a_new_one")
    assert {"gapstack.text.page_title", "gapstack.comparison.strata"} <= set(found)


def test_no_file_but_data_decides_anything_beside_the_code():
    """A word list in a file, say, would have to join the identity of those who read it, as data sets do."""
    rooms = (
        "corpus",
        "scoring",
        "resolvers",
        "text",
        "encoding",
        "features",
        "vectors",
        "training",
        "members",
        "ensemble",
    )
    others = {
        str(path.relative_to(code._PACKAGE))
        for room in rooms
        for path in (code._PACKAGE / room).rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc"}
    }
    files = ("README.md", "gap-sample-test.tsv", "gap-sample-train.tsv", "parses.spacy")
    assert others == {"corpus/embedded.tar.xz", *(f"corpus/sample/{file}" for file in files)}


@pytest.mark.parametrize("name", ["probert"])
def test_all_modules_that_a_member_really_imports_are_found(name):
    """What Python itself loads for a member, by its own account, is among the modules behind it."""
    script = (
        f"import sys, gapstack.members.{name}\nprint(*[m for m in sys.modules if m.startswith('gapstack.')])"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    found = set(code.modules_behind(f"gapstack.members.{name}"))
    assert set(loaded.stdout.split()) - found <= code._INDIFFERENT
    assert len(found) > 20
