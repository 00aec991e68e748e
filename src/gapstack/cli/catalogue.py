"""Commands that list recipes and members."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gapstack.cli import complete
from gapstack.cli.common import JsonOption, print_line
from gapstack.errors import DataError, Place
from gapstack.files import write_text

app = typer.Typer()


@app.command("recipes")
def recipes_command(
    name: Annotated[
        str | None, typer.Argument(help="A recipe, to see it as TOML.", autocompletion=complete.recipes)
    ] = None,
    export: Annotated[
        bool, typer.Option("--export", help="Write it to NAME.toml here, to be changed and run.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the recipes that come with the package, or show or export one."""
    from gapstack.runs import Recipe, available
    from gapstack.runs.recipe import text_of

    if name is None:
        if export:
            raise typer.BadParameter("needs the name of a recipe", param_hint="--export")
        recipes = [Recipe.load(each) for each in available()]
        if as_json:
            print(json.dumps([recipe.as_dict() for recipe in recipes], indent=2))
            return
        for recipe in recipes:
            members = ", ".join(part.label for part in recipe.members)
            print(f"{recipe.name:14} {recipe.title}\n{'':14} {members}")
        return
    text = text_of(name)
    if export:
        path = Path(f"{name}.toml")
        if path.exists():
            raise DataError("file exists", place=Place(path), remedy="Move it away; it is never overwritten")
        write_text(path, text)
        print_line(f"{path}: edit its name and settings, then: gap run {path}")
    elif as_json:
        print(json.dumps(Recipe.load(name).as_dict(), indent=2))
    else:
        print(text, end="")


@app.command("members")
def members_command(
    name: Annotated[
        str | None, typer.Argument(help="A member, to see its settings.", autocompletion=complete.members)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List all members, or one member's settings: type, range, default, published value."""
    from gapstack.cli.descriptions import member_record, member_text, members_record, members_text
    from gapstack.members import MEMBERS

    if name is None:
        print(json.dumps(members_record(), indent=2) if as_json else members_text())
        return
    MEMBERS.entry(name)
    print(json.dumps(member_record(name), indent=2) if as_json else member_text(name))
