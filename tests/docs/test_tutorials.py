"""The tutorials' commands and Python code run in an empty folder, without network, on the embedded sample."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALLATION = ("git clone", "cd ", "./run.sh")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_every_block_runs(path, tmp_path):
    blocks = BLOCK.findall(path.read_text(encoding="utf-8"))
    shell = "\n".join(code for language, code in blocks if language == "bash")
    commands = [line for line in shell.splitlines() if not line.startswith(INSTALLATION)]
    (tmp_path / "code.py").write_text("".join(code for language, code in blocks if language == "python"))
    environment = {name: value for name, value in os.environ.items() if name != "GAP_DATA"} | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "GAPSTACK_HOME": str(tmp_path),
        "GAPSTACK_CACHE": str(tmp_path / "cache"),
        "GAPSTACK_OFFLINE": "1",
    }
    script = "\n".join(["set -e", *commands, "python code.py"])
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@pytest.mark.slow
def test_the_site_builds_without_warnings(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(
        [*command, "--config-file", str(ROOT / "scripts/mkdocs.yml"), "--site-dir", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "frozen_spans" in (tmp_path / "reference/members.html").read_text(encoding="utf-8")
