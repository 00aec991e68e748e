"""Write the reference pages of the documentation site from the code; mkdocs runs this (``scripts/mkdocs.yml``)."""

import inspect
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import mkdocs_gen_files
import typer

import gapstack
from gapstack.audits import SUITES
from gapstack.cli import app
from gapstack.cli.catalogue import descriptions_of, member_record
from gapstack.data import sources
from gapstack.data.augment import AUGMENTATIONS
from gapstack.data.extra import EXTRA
from gapstack.data.labels import LABEL_SETS
from gapstack.ensemble import CALIBRATORS, STACKERS
from gapstack.features import BLOCKS
from gapstack.members import MEMBERS
from gapstack.papers.debiasers import DEBIASERS
from gapstack.registry import Registry
from gapstack.resolvers.formats import FORMATS
from gapstack.resolvers.live import ADAPTERS
from gapstack.runs.recipe import Recipe, available
from gapstack.settings import describe, settings_of

ROOT = Path(__file__).resolve().parents[1]
CLASSES = {
    "Results": (
        "gapstack.runs.stored_results.Run",
        "gapstack.runs.stored_results.Result",
        "gapstack.runs.cross_validation.OutOfFold",
        "gapstack.evaluation.scores.Scores",
        "gapstack.comparison.analysis.Comparison",
        "gapstack.audits.audit_report.Audit",
        "gapstack.data.gap_data.GapData",
        "gapstack.running_text.answer.Answers",
        "gapstack.running_text.answer.Answer",
        "gapstack.running_text.answer.Candidate",
    ),
    "Base classes": (
        "gapstack.members.member.Predictor",
        "gapstack.members.member.Member",
        "gapstack.ensemble.stack.Stack",
        "gapstack.ensemble.stacker.Stacker",
        "gapstack.ensemble.calibration.Calibrator",
        "gapstack.audits.suite.Suite",
    ),
}


def write(page: str, *parts: str) -> None:
    """Write a page of the reference."""
    with mkdocs_gen_files.open(f"reference/{page}", "w") as stream:
        stream.write("\n\n".join(part for part in parts if part) + "\n")


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table, or nothing if there are no rows."""
    rows = list(rows)
    cells = (
        [str(cell).replace("|", "\\|").replace("\n", " ") for cell in line]
        for line in (head, ["---"] * len(head), *rows)
    )
    return "\n".join(f"| {' | '.join(line)} |" for line in cells) if rows else ""


def leaves(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Commands and those of groups, with their full names."""
    for key, one in getattr(command, "commands", {}).items():
        yield from leaves(one, f"{name} {key}")
    if not hasattr(command, "commands"):
        yield name, command


def commands() -> None:
    """One section per command: description, usage, arguments, options and examples."""
    found = []
    for name, command in leaves(typer.main.get_command(app), "gap"):
        context = typer.Context(command, info_name=name)
        rows: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
        for one in command.params:
            is_option = one.param_type_name == "option"
            names = [*one.opts, *one.secondary_opts] if is_option else [one.metavar or str(one.name).upper()]
            words = str(getattr(one, "help", "") or "")
            if isinstance(one.default, str | int | float) and not isinstance(one.default, bool):
                words += f" Default: {one.default}."
            if one.name != "help":
                rows[one.param_type_name].append((f"`{', '.join(names)}`", words))
        found += [
            f"## {name}",
            inspect.cleandoc(command.help or ""),
            f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```",
            table(("Argument", "Meaning"), rows["argument"]),
            table(("Option", "Meaning"), rows["option"]),
            f"```bash\n{inspect.cleandoc((command.epilog or '').removeprefix('Examples:'))}\n```"
            if command.epilog
            else "",
        ]
    write("commands.md", "# Commands", *found)


def shown(value: Any) -> str:
    """A setting's value as code."""
    return f"`{json.dumps(value, default=str)}`"


def members() -> None:
    """One section per member, with its settings."""
    found = []
    for name in MEMBERS:
        entry, record = MEMBERS.entry(name), member_record(name)
        settings = [
            (
                f"`{setting}`",
                one["expected"],
                shown(one["default"]),
                shown(one["published"]) if "published" in one else "",
                one["description"],
            )
            for setting, one in record["settings"].items()
        ]
        about = f"{entry.about[:1].upper()}{entry.about[1:]}. {entry.paper}. Needs: {entry.needs}."
        found += [
            f"## {name}",
            about,
            table(("Setting", "Type", "Default", "In the paper", "Meaning"), settings),
        ]
    write("members.md", "# Members and settings", *found)


def recipes() -> None:
    """One row per recipe, and each in full."""
    rows, found = [], []
    for name in available():
        recipe = Recipe.load(name)
        rows.append((f"[{name}](#{name})", recipe.title, len(recipe.members)))
        text = (ROOT / "src/gapstack/runs/recipes" / f"{name}.toml").read_text(encoding="utf-8")
        found += [f"## {name}", f"```toml\n{text}```"]
    fields = settings_of(Recipe)
    keys = (
        (f"`{key}`", describe(kind)) for key, kind in fields.items() if key not in ("members", "stackers")
    )
    write(
        "recipes.md",
        "# Recipes",
        table(("Recipe", "Contents", "Members"), rows),
        "## Keys",
        table(("Key", "Value"), keys),
        "`[[members]]` and `[[stackers]]` are tables with `name`, and optionally `label`, `settings` and `each`.",
        *found,
    )


def registered(registry: Registry[Any]) -> str:
    """A table of a registry's names."""
    entries = ((f"`{name}`", registry.entry(name).about, registry.entry(name).paper) for name in registry)
    return table(("Name", "Contents", "Source"), entries)


def registries() -> None:
    """Everything else that settings and options name, and the settings of stackers."""
    settings = []
    for name in STACKERS:
        kind = STACKERS[name]
        words, defaults = descriptions_of(kind), inspect.signature(kind).parameters
        rows = [
            (f"`{key}`", describe(one), shown(defaults[key].default), words.get(key, ""))
            for key, one in settings_of(kind).items()
        ]
        settings += [f"### {name}", table(("Setting", "Type", "Default", "Meaning"), rows) or "No settings."]
    resolvers = ((f"`{name}`", one.package, one.needs) for name, one in ADAPTERS.items())
    write(
        "names.md",
        "# Stackers and other names",
        "## Stackers",
        registered(STACKERS),
        *settings,
        "## Calibrators",
        registered(CALIBRATORS),
        "## Feature blocks",
        registered(BLOCKS),
        "## Debiasers",
        registered(DEBIASERS),
        "## Augmentations",
        f"{', '.join(f'`{name}`' for name in AUGMENTATIONS)}: see [augmentation](../how-to/more-data.md#augmentation).",
        "## Resolvers of `gap resolve`",
        table(("Name", "Package", "Model"), resolvers),
        "## Formats of resolvers' files",
        ", ".join(f"`{name}`" for name in FORMATS),
    )


def data_sets() -> None:
    """Data sets, label sets, extra corpora and suites."""
    known = sources.DATASETS.values()
    data = ((f"`{one.name}`", one.rows or "", one.licence, one.upstream) for one in known)
    extra = (
        (
            f"`{name}`",
            ", ".join(f"`{each}`" for each in one.datasets),
            ", ".join(one.contaminates) or "nothing",
        )
        for name, one in EXTRA.items()
    )
    suites = ((f"`{name}`", suite.title, suite.paper) for name, suite in SUITES.items())
    write(
        "data-sets.md",
        "# Data sets and suites",
        "## Data sets",
        "`gap data status` shows where each is found, and `gap data fetch` downloads those with a public file.",
        table(("Name", "Rows", "Licence", "Source"), data),
        "## Label sets",
        table(("Name", "Labels of GAP"), ((f"`{name}`", about) for name, about in LABEL_SETS.items())),
        "## Extra corpora",
        "Values of the setting `extra`. A member that was trained on one is not scored on what it contaminates.",
        table(("Name", "Data sets", "Contaminates"), extra),
        "## Suites of the audit",
        table(("Name", "Suite", "Paper"), suites),
    )


def api() -> None:
    """The public names and what they return, rendered from their docstrings by mkdocstrings."""
    names = [getattr(gapstack, name) for name in gapstack.__all__ if not name.startswith("_")]
    found = [f"::: {one.__module__}.{one.__name__}\n    options:\n      heading_level: 3" for one in names]
    for title, classes in CLASSES.items():
        found += [f"## {title}", *(f"::: {one}\n    options:\n      heading_level: 3" for one in classes)]
    found += ["## Errors", "::: gapstack.errors\n    options:\n      heading_level: 3"]
    write("api.md", "# Python API", "## gapstack", "These names are imported from `gapstack`.", *found)


commands()
members()
recipes()
registries()
data_sets()
api()
