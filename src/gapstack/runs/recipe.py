"""Recipes: what a run does, as a validated, frozen record read from TOML."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any, Self

from gapstack.ensemble import create_calibrator, create_stacker
from gapstack.errors import MemberError, RecipeError
from gapstack.members import create
from gapstack.members.base import each_once
from gapstack.runs.folder import STACK, RunFolder


@dataclass(frozen=True, slots=True)
class Part:
    """One member or stacker of a recipe.

    ``name`` is its kind, ``label`` what this run calls it (its name unless given), ``settings`` its
    hyper-parameters where they are not the defaults.
    """

    name: str
    label: str
    settings: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, table: Any, where: str) -> Self:
        """Read one TOML table; RecipeError names ``where`` when it is not one."""
        if not isinstance(table, dict) or not isinstance(table.get("name"), str):
            raise RecipeError(f"{where}: expected a table with a name, found {table!r}")
        unknown = sorted(set(table) - {"name", "label", "settings"})
        if unknown:
            raise RecipeError(f"{where}: unknown key {', '.join(unknown)}; expected name, label, settings")
        return cls(table["name"], str(table.get("label", table["name"])), dict(table.get("settings", {})))


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides a run's numbers.

    Attributes
    ----------
    name : str
        Also the run folder's and the submission's name.
    train, test : tuple of str
        Splits to cross-validate on, and splits to hold out.
    labels : str
        Label set.
    folds, seed : int
        Number of URL-grouped folds and the seed of their assignment.
    members, stackers : tuple of Part
        What is cross-validated; what the stack is chosen from, the simplest first (none: no stack).
    calibrators : tuple of str
        What the stack's last step is chosen from, the simplest first.
    """

    name: str
    members: tuple[Part, ...]
    stackers: tuple[Part, ...] = ()
    train: tuple[str, ...] = ("development", "validation")
    test: tuple[str, ...] = ("test",)
    labels: str = "official"
    folds: int = 5
    seed: int = 2019
    title: str = ""
    calibrators: tuple[str, ...] = ("none",)

    def __post_init__(self) -> None:
        """Refuse what could not run, before anything is computed."""
        for name in (self.name, *(part.label for part in self.members)):
            if not name or Path(name).name != name or name.startswith("."):
                raise RecipeError(f"recipe {self.name}: {name!r} cannot name a folder")
            if name == STACK:
                raise RecipeError(
                    f"recipe {self.name}: 'stack' is what the stack is called; choose another label"
                )
        if not self.members:
            raise RecipeError(f"recipe {self.name} has no members")
        if self.folds < 3:
            raise RecipeError(f"recipe {self.name}: folds must be at least 3, found {self.folds}")
        shared = sorted(set(self.train) & set(self.test))
        if shared:
            raise RecipeError(f"recipe {self.name}: {', '.join(shared)} would be both trained and scored on")
        twice = [label for label, n in Counter(part.label for part in self.members).items() if n > 1]
        if twice:
            raise RecipeError(
                f"recipe {self.name}: label {', '.join(twice)} is used twice; give each its own"
            )
        try:
            for part in self.members:
                create(part.name, **part.settings)
            for part in self.stackers:
                create_stacker(part.name, **part.settings)
            for kind in self.calibrators:
                create_calibrator(kind)
        except MemberError as error:
            raise RecipeError(f"recipe {self.name}: {error}") from error

    @classmethod
    def parse(cls, table: dict[str, Any], where: str) -> Self:
        """Make a recipe of a parsed TOML document; ``where`` is what errors call it."""
        known = {
            "name",
            "title",
            "train",
            "test",
            "labels",
            "folds",
            "seed",
            "members",
            "stackers",
            "calibrators",
        }
        unknown = sorted(set(table) - known)
        if unknown:
            raise RecipeError(
                f"{where}: unknown key {', '.join(unknown)}; known are {', '.join(sorted(known))}"
            )
        expected = {"name": str, "title": str, "labels": str, "folds": int, "seed": int}
        for key, kind in expected.items():
            if key in table and not isinstance(table[key], kind):
                raise RecipeError(f"{where}: {key} must be {kind.__name__}, found {table[key]!r}")
        lists = ("train", "test", "calibrators")
        for key in lists:
            value = table.get(key, [])
            if not isinstance(value, list | tuple) or not all(isinstance(split, str) for split in value):
                raise RecipeError(f"{where}: {key} must be a list of names, found {value!r}")
        parts: dict[str, Any] = {
            key: tuple(
                Part.parse(entry, f"{where}, {key} {i}") for i, entry in enumerate(table.get(key, []), 1)
            )
            for key in ("members", "stackers")
        }
        if "name" not in table:
            raise RecipeError(f"{where}: a recipe needs a name")
        fields: dict[str, Any] = {key: table[key] for key in expected if key in table}
        fields |= {key: tuple(table[key]) for key in lists if key in table}
        return cls(**fields, **parts)

    @classmethod
    def load(cls, name: str) -> Self:
        """Read a recipe of the package by name, any TOML file by path, or that of a run by its folder.

        Raises
        ------
        RecipeError
            If there is none, it is not TOML, or it cannot run.
        """
        if name.endswith(".toml"):
            path = Path(name)
            if not path.is_file():
                raise RecipeError(f"no recipe file {name}")
            text = path.read_text(encoding="utf-8")
        else:
            known = available()
            if name not in known and Path(name).is_dir():
                return cls.of_run(RunFolder(Path(name)))
            if name not in known:
                raise RecipeError(
                    f"no recipe is called {name!r}; there are: {', '.join(known)}; or give a .toml file"
                )
            text = (_folder() / f"{name}.toml").read_text(encoding="utf-8")
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise RecipeError(f"{name}: not valid TOML: {error}") from error
        return cls.parse(table, name)

    @classmethod
    def of_run(cls, folder: RunFolder) -> Self:
        """Read back the recipe of a run; DataError if the folder is none."""
        return cls.parse(folder.manifest()["recipe"], str(folder.manifest_path))

    @property
    def stacked(self) -> bool:
        """Whether the members are stacked."""
        return bool(self.stackers) and len(self.members) > 1

    @property
    def best(self) -> str:
        """Label of what answers for the run: the stack, or the last member if there is none."""
        return STACK if self.stacked else self.members[-1].label

    def not_for(self) -> dict[str, tuple[str, ...]]:
        """Name, by member and for the stack, the test sets that share rows with what it learns from beside GAP."""
        named = {part.label: create(part.name, **part.settings).contaminates() for part in self.members}
        return named | ({STACK: each_once(*named.values())} if self.stacked else {})

    def refuse_contaminated(self) -> None:
        """Check that no member learns from data that share rows with a split of this recipe.

        Raises
        ------
        RecipeError
            If one does; its score there would be worth nothing.
        """
        not_for = self.not_for()
        for part in self.members:
            hit = [split for split in (*self.train, *self.test) if f"gap-{split}" in not_for[part.label]]
            if hit:
                raise RecipeError(
                    f"recipe {self.name}: {part.label} learns from data that share rows with "
                    f"{', '.join(hit)}, on which it would be scored; leave those data out, or hold another split out"
                )

    def override(self, setting: str, value: Any) -> Recipe:
        """Give ``setting`` this value in every member that has it (``encoder``, ``parser``)."""
        members = tuple(
            Part(part.name, part.label, {**part.settings, setting: value})
            if setting in create(part.name).get_params()
            else part
            for part in self.members
        )
        return replace(self, members=members)

    def revised(self, **changes: Any) -> Recipe:
        """Change the fields whose new value is not None; the result is validated as any recipe."""
        return replace(self, **{key: value for key, value in changes.items() if value is not None})

    def as_dict(self) -> dict[str, Any]:
        """Give all fields as JSON-able values."""
        return asdict(self)


def _folder() -> Any:
    return resources.files("gapstack.runs") / "recipes"


def available() -> list[str]:
    """Names of the recipes that come with the package."""
    return sorted(
        entry.name.removesuffix(".toml") for entry in _folder().iterdir() if entry.name.endswith(".toml")
    )
