"""Files of the bundled recipes; nothing that they name is imported."""

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from gapstack.errors import RecipeError, shown
from gapstack.members.part import labelled
from gapstack.registry import unknown

_RECIPES = resources.files("gapstack.runs") / "recipes"


def available() -> list[str]:
    """Names of the bundled recipes, sorted."""
    names = (entry.name for entry in _RECIPES.iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def text_of(name: str) -> str:
    """TOML of a bundled recipe; RecipeError, with the closest match, if there is none."""
    names = available()
    if name not in names:
        raise RecipeError(f"{unknown('recipe', name, names)} (or give a .toml file)")
    return (_RECIPES / f"{name}.toml").read_text(encoding="utf-8")


def with_base(table: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Fill in missing keys from the recipe named by ``like``; RecipeError, at ``where``, if there is no such recipe."""
    if "like" not in table:
        return table
    base = table["like"]
    if not isinstance(base, str):
        raise RecipeError(f"{where}: key 'like': found {shown(base)}, expected a recipe's name")
    return tomllib.loads(text_of(base)) | {key: value for key, value in table.items() if key != "like"}


def table_of(name: str) -> Mapping[str, Any]:
    """A recipe's table, with the missing keys from the recipe that it is ``like``; RecipeError if there is none."""
    return with_base(tomllib.loads(text_of(name)), name)


def listing() -> list[tuple[str, str, list[str]]]:
    """Name, title and member labels of each bundled recipe."""
    tables = [(name, table_of(name)) for name in available()]
    return [
        (name, table["title"], [label for part in table["members"] for label, _ in labelled(part)])
        for name, table in tables
    ]
