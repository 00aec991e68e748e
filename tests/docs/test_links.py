"""Documents lead somewhere: links, paths and the files of the members."""

import re
import shlex
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
COMMANDS = typer.main.get_command(app).commands


@pytest.fixture(params=DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def document(request):
    return request.param


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def adds_to_the_package(path: Path) -> bool:
    """True for a how-to whose steps create modules; ``test_how_to.py`` follows it in a copy of the package."""
    return "Create `src/" in text(path)


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


def test_commands_exist_and_take_their_options(document):
    for code in (code for language, code in FENCED.findall(text(document)) if language == "bash"):
        lines = [line.partition(" #")[0] for line in code.replace("./run.sh gap ", "gap ").splitlines()]
        for command in (part for line in lines for part in re.split(r"; | && | < ", line)):
            words = shlex.split(command)
            if len(words) > 1 and words[0] == "gap" and not words[1].startswith("-"):
                known = COMMANDS[words[1]]
                known.make_parser(typer.Context(known)).parse_args(words[2:])
    named = [words.split()[1] for words in CODE.findall(text(document)) if re.match(r"gap [a-z]", words)]
    assert set(named) <= set(COMMANDS)


def test_files_of_the_systems_are_there():
    members, ensemble = PACKAGE / "members", PACKAGE / "ensemble"
    files = re.findall(r"`(?:ensemble/)?(\w+\.py)`", text(ROOT / "docs/papers/systems.md"))
    assert len(files) > 10
    assert [name for name in files if not (members / name).exists() and not (ensemble / name).exists()] == []
