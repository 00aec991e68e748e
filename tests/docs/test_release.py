"""What goes out with a release agrees with the package: citation, changelog and the site."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import gapstack

ROOT = Path(__file__).resolve().parents[2]


def test_citation_and_changelog_are_of_this_version():
    citation = yaml.safe_load((ROOT / "docs/CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == gapstack.__version__
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    newest = re.search(
        r"^## (\S+?),? ", (ROOT / "docs/CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert newest
    assert newest[1] == gapstack.__version__


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
