"""Write the reference pages of the documentation site from the code; mkdocs runs this (``scripts/mkdocs.yml``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import mkdocs_gen_files
import typer

import gapstack
from gapstack.audits import SUITES
from gapstack.cli import app
from gapstack.cli.catalogue import member_record
from gapstack.data import sources
from gapstack.ensemble import CALIBRATORS, STACKERS
from gapstack.features.blocks import BLOCKS
from gapstack.members import MEMBERS
from gapstack.runs.recipe import Recipe, available

ROOT = Path(__file__).resolve().parents[1]


def write(page: str, *parts: str) -> None:
    """Write a page of the reference."""
    with mkdocs_gen_files.open(f"reference/{page}", "w") as stream:
        stream.write("\n\n".join(parts) + "\n")


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    cells = ([str(cell).replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def commands() -> None:
    """One section per command, with its options."""
    found = []
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        options = [
            (f"`{', '.join(one.opts)}`", getattr(one, "help", "") or "")
            for one in command.params
            if one.name != "help"
        ]
        found += [f"## gap {name}", str(command.help or ""), table(("Option", "Meaning"), options)]
    write("commands.md", "# Commands", *found)


def members() -> None:
    """One section per member, with its settings."""
    found = []
    for name in MEMBERS:
        entry, record = MEMBERS.entry(name), member_record(name)
        settings = [
            (f"`{setting}`", one["expected"], f"`{one['default']}`", one["description"])
            for setting, one in record["settings"].items()
        ]
        about = f"{entry.about[:1].upper()}{entry.about[1:]}. {entry.paper}. Needs: {entry.needs}."
        found += [f"## {name}", about, table(("Setting", "Type", "Default", "Meaning"), settings)]
    write("members.md", "# Members and settings", *found)


def recipes() -> None:
    """One row per recipe, and each in full."""
    rows, found = [], []
    for name in available():
        recipe = Recipe.load(name)
        rows.append((f"[{name}](#{name})", recipe.title, len(recipe.members)))
        text = (ROOT / "src/gapstack/runs/recipes" / f"{name}.toml").read_text(encoding="utf-8")
        found += [f"## {name}", f"```toml\n{text}```"]
    write("recipes.md", "# Recipes", table(("Recipe", "Contents", "Members"), rows), *found)


def registries() -> None:
    """Stackers, calibrators, feature blocks, suites and data sets."""
    found = []
    for title, registry in (
        ("Stackers", STACKERS),
        ("Calibrators", CALIBRATORS),
        ("Feature blocks", BLOCKS),
    ):
        entries = ((f"`{name}`", registry.entry(name).about, registry.entry(name).paper) for name in registry)
        found += [f"## {title}", table(("Name", "Contents", "Source"), entries)]
    write("names.md", "# Stackers, calibrators, feature blocks", *found)
    known = sources.DATASETS.values()
    data = ((f"`{one.name}`", one.rows or "", one.licence, one.upstream) for one in known)
    suites = ((f"`{name}`", suite.title, suite.paper) for name, suite in SUITES.items())
    write(
        "data-sets.md",
        "# Data sets and suites",
        "## Data sets",
        table(("Name", "Rows", "Licence", "Source"), data),
        "## Suites of the audit",
        table(("Name", "Suite", "Paper"), suites),
    )


def api() -> None:
    """The public names, rendered from their docstrings by mkdocstrings."""
    names = [name for name in gapstack.__all__ if not name.startswith("_")]
    found = []
    for name in names:
        public = getattr(gapstack, name)
        module = import_module(public.__module__).__name__
        found.append(f"::: {module}.{public.__name__}\n    options:\n      heading_level: 2")
    write("api.md", "# Python API", "Everything here is importable from `gapstack`.", *found)


commands()
members()
recipes()
registries()
api()
