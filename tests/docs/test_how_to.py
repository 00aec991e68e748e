"""The how-tos of extending the package, followed to the letter in a copy of it: files, insertions, commands.

``test_commands.py`` runs the commands of the other pages.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_links import ROOT, adds_to_the_package, text

STEP = re.compile(
    r"(?:^(?:Create `(?P<create>.+)`:|In `(?P<edit>.+)`, above the line that begins with `(?P<anchor>.+)`:)\n\n)?"
    r"^```(?P<language>\w+)\n(?P<code>(?:.*\n)*?)```$",
    re.MULTILINE,
)
# one interpreter for all commands, since most of the time goes into imports
FOLLOW = """
import json, shlex, sys
import pytest
from gapstack.cli import app

for language, code in json.load(sys.stdin):
    print(code, flush=True)
    if language == "python":
        exec(compile(code, "how-to", "exec"), {"__name__": "__main__"})
        continue
    for line in code.splitlines():
        program, *arguments = shlex.split(line)
        if program == "gap":
            app(arguments, standalone_mode=False)
        else:
            assert [program, *arguments[:2]] == ["python", "-m", "pytest"], line
            assert pytest.main([*arguments[2:], "-p", "no:cacheprovider"]) == 0, line
"""


def steps(path: Path) -> list[re.Match[str]]:
    """The code blocks of a page that adds to the package; ``test_commands.py`` runs those of the others."""
    return list(STEP.finditer(text(path))) if adds_to_the_package(path) else []


def insert(path: Path, anchor: str, code: str) -> None:
    """Put the code above the one line that begins with the anchor, indentation aside."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    (at,) = (number for number, line in enumerate(lines) if line.lstrip().startswith(anchor))
    path.write_text("".join([*lines[:at], code, *lines[at:]]), encoding="utf-8")


def run(arguments: list[str], folder: Path, given: str = "") -> None:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "GAP_DATA"))
    } | {
        "PYTHONPATH": str(folder / "src"),
        "GAPSTACK_HOME": str(folder),
        "GAPSTACK_OFFLINE": "1",
        "GAPSTACK_CACHE": str(folder / "cache"),
    }
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        input=given,
        timeout=250,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@pytest.mark.slow
def test_following_all_of_them_to_the_letter_works(tmp_path):
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    commands, written = [], set()
    for step in (step for path in sorted((ROOT / "docs" / "how-to").glob("*.md")) for step in steps(path)):
        target = tmp_path / (step["create"] or step["edit"] or "")
        if step["create"]:
            assert not target.exists()
            target.write_text(step["code"], encoding="utf-8")
        elif step["edit"]:
            insert(target, step["anchor"], step["code"])
        elif step["language"] in ("bash", "python"):
            commands.append((step["language"], step["code"]))
        if target.suffix == ".py":
            written.add(str(target))
    run(["-m", "ruff", "check", "--quiet", *sorted(written)], tmp_path)
    run(["-m", "ruff", "format", "--check", "--quiet", *sorted(written)], tmp_path)
    run(["-c", FOLLOW], tmp_path, json.dumps(commands))
