"""Recipes, members with their settings, and a trial of encoders."""

import ast
import inspect
import json
import re
from dataclasses import asdict
from pathlib import Path
from textwrap import dedent
from typing import Any

import typer
from typer import Argument

from gapstack import members
from gapstack.cli import common
from gapstack.errors import DataError, MemberError, Place
from gapstack.files import write_text
from gapstack.members import MEMBERS

app = typer.Typer()
encoders_app = typer.Typer(no_args_is_help=True, cls=common.Group)

SETTINGS = Path(members.__file__).with_name("settings.json")
"""Settings of all members of this package, written by ``scripts/describe_members.py``."""
# :class:`~gapstack.members.member.Member` is called Member, :data:`a.b.BLOCKS` a.b.BLOCKS
_ROLE = re.compile(r":\w+:`(?:~[\w.]*\.)?([^`]+)`")


@common.command(app, "gap recipes", "gap recipes quickstart --export mine.toml")
def recipes_command(
    name: str | None = Argument(
        None, help="A recipe, to see it as TOML.", autocompletion=common.complete_recipe
    ),
    export: Path | None = common.output_option("TOML file to write it to, to be changed and run."),
    as_json: common.JsonOption = False,
) -> None:
    """List the bundled recipes, or show or export one."""
    from gapstack.runs.recipe_files import available, listing, table_of, text_of

    if name is None and export is not None:
        raise typer.BadParameter("needs the name of a recipe", param_hint="--export")
    if name is None and not as_json:
        listed = listing()
        width = max(len(recipe) for recipe, _, _ in listed)
        for recipe, title, labels in listed:
            print(f"{recipe:{width}} {title}\n{'':{width}} {', '.join(labels)}")
        return
    text = text_of(name) if name else ""  # an unknown one is refused before anything heavy is imported
    if export is not None:
        if export.exists():
            raise DataError(
                "file exists", place=Place(export), remedy="Move it away; it is never overwritten"
            )
        write_text(export, text)
        if not common.is_stream(export):
            common.print_line(f"{export}: edit its name and settings, then: gap run {export}")
    elif as_json:
        recipes = [table_of(each) for each in ([name] if name else available())]
        common.print_json(recipes[0] if name else recipes)
    else:
        print(text, end="")


@common.command(app, "gap members", "gap members probert")
def members_command(
    name: str | None = Argument(
        None, help="A member, for its settings.", autocompletion=common.completion("gapstack.members:MEMBERS")
    ),
    as_json: common.JsonOption = False,
) -> None:
    """List all members, or one member's settings: type, range, default, published value."""
    if name is not None:
        record = stored_record(name)
        common.print_json(record) if as_json else print(_member_text(record))
    elif as_json:
        common.print_json({each: _about(each) for each in MEMBERS})
    else:
        for each in MEMBERS:
            entry = MEMBERS.entry(each)
            print(
                f"{each:20} {entry.about or entry.paper}\n{'':20} {entry.paper}\n{'':20} needs {entry.needs}"
            )


def _about(name: str) -> dict[str, str]:
    entry = MEMBERS.entry(name)
    return {"about": entry.about, "paper": entry.paper, "needs": entry.needs}


def stored_record(name: str) -> dict[str, Any]:
    """Return the record of :func:`member_record`, of our members without importing their libraries."""
    stored = json.loads(SETTINGS.read_text(encoding="utf-8"))
    if MEMBERS.entry(name).package or name not in stored:
        return member_record(name)
    return {"name": name, **_about(name), "settings": stored[name]}


def member_record(name: str) -> dict[str, Any]:
    """Settings of one member, each with its type and range in words, default, description and published value."""
    about = _about(name)
    from gapstack.members import published
    from gapstack.settings import describe, settings_of

    kind = MEMBERS[name]
    try:
        paper = published(name)
    except MemberError:
        paper = {}
    words = descriptions_of(kind)
    defaults = inspect.signature(kind).parameters
    settings = {
        key: {
            "expected": describe(setting),
            "default": defaults[key].default,
            **({"published": paper[key]} if key in paper else {}),
            "description": words.get(key, ""),
        }
        for key, setting in settings_of(kind).items()
    }
    return {"name": name, **about, "settings": settings}


def _member_text(record: dict[str, Any]) -> str:
    """Settings of one member, two or three lines each."""

    def plain(value: Any) -> str:
        return "none" if value is None else json.dumps(value)

    settings = record["settings"]
    lines = [f"{record['name']}: {record['about']}", f"paper: {record['paper']}", f"needs: {record['needs']}"]
    lines.append("")
    for key, setting in settings.items():
        published = f"   (published: {plain(setting['published'])})" if "published" in setting else ""
        lines += [f"{key} = {plain(setting['default'])}{published}", f"    {setting['expected']}"]
        if setting["description"]:
            lines.append(f"    {setting['description']}")
    if any("published" in setting for setting in settings.values()):
        whole = f'name = "{record["name"]}", settings = "published"'
        lines += ["", f"All published settings in a recipe: {whole}"]
    return "\n".join(lines)


def descriptions_of(kind: type) -> dict[str, str]:
    """Descriptions of a class's settings: the text below a setting, or that of its base class."""
    from gapstack.settings import Configured

    descriptions: dict[str, str] = {}
    for owner in reversed([base for base in kind.__mro__ if issubclass(base, Configured)]):
        tree: Any = ast.parse(dedent(inspect.getsource(owner)))
        names: list[str] = []
        for line in tree.body[0].body:
            if isinstance(line, ast.AnnAssign):
                names.append(ast.unparse(line.target))
                continue
            if isinstance(line, ast.Expr) and names:
                words = " ".join(ast.literal_eval(line.value).split())
                text = _ROLE.sub(r"\1", words).replace("``", "")
                descriptions |= {
                    name: text for name in names if name == names[-1] or name not in descriptions
                }
            names = []
    return descriptions


@encoders_app.callback()  # with one command alone, typer would make the group that command
def _encoders() -> None:
    """Try a pre-trained encoder before training with it."""


@common.command(encoders_app, "gap encoders check microsoft/deberta-v3-large")
def check_command(
    name: str = Argument(metavar="NAME", help="Folder, hub name, name@revision, minilm or gapstack-text."),
    as_json: common.JsonOption = False,
) -> None:
    """Print what an encoder is, its speed and memory here, and which members work with it.

    Each member is fitted on some 30 short rows of the embedded sample, for one epoch.
    """
    from gapstack.runs.encoder_check import check_encoder

    found = check_encoder(name)

    def parts() -> list[str]:
        works = [member for member, reason in found.members.items() if not reason]
        gigabytes = [memory / 1e9 for memory in (found.frozen_memory, found.tuned_memory)]
        lines = [
            f"{found.name}: {found.model_type}, {found.parameters / 1e6:,.0f} million parameters, {found.layers} "
            f"layers of {found.width}, texts of up to {found.longest} word pieces.",
            "Causal: each text is read twice, and the second copy counts." if found.is_causal else "",
            f"Frozen: {found.rows_per_second:.1f} short rows per second on this machine, {gigabytes[0]:.1f} GB of "
            "weights.",
            f"Fine-tuned: learning rate {found.learning_rate:g} by its size; {gigabytes[1]:.1f} GB with gradients and "
            "optimizer, and activations beyond that.",
            f"Works with {len(works)} of {len(found.members)} members: {', '.join(works)}.",
            *(f"{member} refuses: {reason}" for member, reason in found.members.items() if reason),
        ]
        return ["\n".join(filter(None, lines))]

    common.print_result(as_json, parts, lambda: asdict(found))
