"""What goes out with a release agrees with the package: citation, changelog and the image's build."""

import re
from pathlib import Path

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
