"""Documents lead somewhere: links, paths and the files of the members."""

import re
import subprocess
from pathlib import Path

import pytest
import typer

from gapstack.cli import app

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "gapstack"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("models/*/README.md")])
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
TOPS = {path.name for folder in (ROOT, PACKAGE) for path in folder.iterdir() if path.is_dir()}
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WRITTEN = re.compile(r"^Create `(.+)`:$", re.MULTILINE)
COMMANDS = set(typer.main.get_command(app).commands)


@pytest.fixture(params=DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def document(request):
    return request.param


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def exists(path: str) -> bool:
    return any((folder / path).exists() for folder in (ROOT, PACKAGE))


def test_relative_links_lead_to_files(document):
    broken = [link for link in LINK.findall(text(document)) if not (document.parent / link).exists()]
    assert broken == []


def test_paths_of_the_repository_are_there(document):
    prose = FENCED.sub("", text(document))
    paths = [words for words in CODE.findall(prose) if re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", words)]
    ours = [path for path in paths if "/" in path and path.partition("/")[0] in TOPS | {"tests", "src"}]
    made = set(WRITTEN.findall(prose)) | ignored(ours)
    assert [path for path in ours if path not in made and not exists(path)] == []


def ignored(paths: list[str]) -> set[str]:
    """Paths that a command writes and git ignores, such as those of runs and submissions."""
    if not paths:
        return set()
    listing = subprocess.run(
        ["git", "check-ignore", "--no-index", *paths], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return set(listing.stdout.splitlines())


def test_commands_are_those_of_the_command_line(document):
    shell = "\n".join(code for language, code in FENCED.findall(text(document)) if language == "bash")
    named = re.findall(r"(?:^|; )(?:\./run\.sh )?gap ([\w-]+)", shell, re.MULTILINE)
    named += [words.split()[1] for words in CODE.findall(text(document)) if re.match(r"gap \w", words)]
    assert set(named) <= COMMANDS
