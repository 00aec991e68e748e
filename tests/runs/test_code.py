"""Which source a stored fold hangs on."""

import shutil
import subprocess
import sys

import pytest

from gapstack.members import MEMBERS
from gapstack.runs import code


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package's source that may be changed."""
    copy = tmp_path / "gapstack"
    shutil.copytree(code._PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "sample", "*.spacy"))
    monkeypatch.setattr(code, "_PACKAGE", copy)
    code.code_fingerprint.cache_clear()
    yield copy
    code.code_fingerprint.cache_clear()


def changed_by(package, file) -> set[str]:
    """Members whose fingerprint changes with ``file``."""
    before = {name: code.code_fingerprint(name) for name in MEMBERS}
    code.code_fingerprint.cache_clear()
    path = package / file
    path.write_text(path.read_text() + "\n# changed\n" if path.exists() else "x = 1\n")
    return {name for name in MEMBERS if code.code_fingerprint(name) != before[name]}


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
