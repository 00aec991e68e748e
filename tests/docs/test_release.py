"""What goes out with a release agrees with the package: citation, changelog and the image's build."""

import re
import shlex
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


def test_the_image_is_built_of_what_the_wheel_needs_and_of_no_run():
    lines = (ROOT / "scripts/Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    copies = [shlex.split(line)[1:-1] for line in lines if line.startswith("COPY")]
    sources = [source for copy in copies for source in copy]
    assert [source for source in sources if not (ROOT / source).exists()] == []
    assert {"pyproject.toml", "setup.py", "MANIFEST.in", "src"} <= set(sources)
    assert not {".", "models"} & set(sources)  # runs lie in models/, and a checkout may hold anything
    assert sum(line.startswith("FROM") for line in lines) == 2
