"""Recipes: validated, frozen descriptions of runs, read from TOML."""

from __future__ import annotations

import tomllib
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, Self

from gapstack.corpus.cells import plain_stem
from gapstack.corpus.sources import SPLITS, STAGE2
from gapstack.ensemble import STACKERS
from gapstack.errors import MemberError, RecipeError
from gapstack.files import fingerprint
from gapstack.kinds import CalibratorName, Folds, HeldOutName, Label, LabelSetName, Seed, SplitName
from gapstack.members import MEMBERS, create
from gapstack.members.part import Part, merged, spelled_out
from gapstack.registry import Registry, unknown
from gapstack.runs.folder import STACK, RunFolder, find_run, run_names
from gapstack.settings import SettingError, check, check_all, shown
from gapstack.signatures import settings_of

_PARTS: Mapping[str, Registry[Any]] = {"members": MEMBERS, "stackers": STACKERS}
_LONGEST_FILE = 1_000_000
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides a run's results.

    Values are checked against the annotations of its fields and of the members' settings, without heavy imports.

    Attributes
    ----------
    name : str
        Also the run folder's and the submission's name.
    train, test : tuple of str
        Splits of GAP, or files of rows like GAP's (``.tsv``, ``.tsv.gz``, ``.tsv.xz``), to cross-validate on, and
        to hold out; or ``stage2`` to hold out, which has no labels.
    labels : str
        Label set.
    folds, seed : int
        Number of URL-grouped folds and the seed of their assignment.
    members, stackers : tuple of Part
        Members to cross-validate; stackers to choose from, the simplest first (none: no stack).
    calibrators : tuple of str
        Calibrators to choose from, the simplest first.
    title, note : str
        What it is, in a line; and what a reader of its figures must know, printed when it is run.

    Raises
    ------
    RecipeError
        If a value is of another type or out of range, or the recipe could not run.
    """

    name: Label
    members: tuple[Part, ...]
    stackers: tuple[Part, ...] = ()
    train: tuple[SplitName, ...] = ("development", "validation")
    test: tuple[HeldOutName, ...] = ("test",)
    labels: LabelSetName = "official"
    folds: Folds = 5
    seed: Seed = 2019
    title: str = ""
    calibrators: tuple[CalibratorName, ...] = ("none",)
    note: str = ""

    def __post_init__(self) -> None:
        """Check everything that can be checked before anything is computed."""
        where = f"recipe {self.name if isinstance(self.name, str) and self.name.isprintable() else shown(self.name)}"
        _check(asdict(self), where)
        if not self.members:
            raise RecipeError(f"{where} has no members")
        if not self.train or not self.test:
            raise RecipeError(f"{where}: {'train' if not self.train else 'test'} has no split")
        twice = [split for split, n in Counter((*self.train, *self.test)).items() if n > 1]
        if set(self.train) & set(self.test):
            raise RecipeError(f"{where}: {', '.join(twice)} would be both trained and scored on")
        if twice:
            raise RecipeError(f"{where}: {', '.join(twice)} is named twice")
        if STAGE2 in self.test and len(self.test) > 1:
            raise RecipeError(f"{where}: {STAGE2} has no labels; hold it out alone")
        labels = [part.label for part in self.members]
        if STACK in map(_alike, labels):
            raise RecipeError(f"{where}: {STACK!r} is what the stack is called; choose another label")
        # as file systems that ignore case and the encoding of accents see them
        clashing = [label for label in labels if Counter(map(_alike, labels))[_alike(label)] > 1]
        if clashing:
            raise RecipeError(
                f"{where}: label {' and '.join(dict.fromkeys(clashing))} is used twice, or differs in case alone; "
                "give each member its own"
            )

    @classmethod
    def parse(cls, table: Mapping[str, Any], where: str) -> Self:
        """Create a recipe from a parsed TOML document, which errors call ``where``.

        Raises
        ------
        RecipeError
            As the class does.
        """
        table = _spelled_out(table, where)
        _check(table, where)
        missing = [key for key in ("name", "members") if key not in table]
        if missing:
            raise RecipeError(f"{where}: a recipe needs {' and '.join(missing)}")
        fields: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list | tuple) else value for key, value in table.items()
        }
        return cls(**fields | {key: tuple(map(Part.of, table.get(key, ()))) for key in _PARTS})

    @classmethod
    def load(cls, name: str) -> Self:
        """Load a recipe of the package by name, a TOML file by path, or the recipe of a run by its folder.

        Raises
        ------
        RecipeError
            If there is none, it is not TOML, or it cannot run.
        """
        if not name.endswith(".toml"):
            if name not in available() and Path(name).is_dir():
                return cls.of_run(RunFolder(Path(name)))
            return cls.parse(tomllib.loads(text_of(name)), name)
        path = Path(name)
        if not path.is_file():
            raise RecipeError(f"no recipe file {shown(name)}")
        if path.stat().st_size > _LONGEST_FILE:
            raise RecipeError(
                f"{name}: too long for a recipe; expected at most {_LONGEST_FILE:,} bytes of TOML"
            )
        content = path.read_bytes()
        try:
            table = tomllib.loads(content.decode("utf-8"))
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            raise RecipeError(
                f"{name}, line {line}: found the byte {content[error.start]:#04x}, expected UTF-8"
            ) from None
        except (ValueError, RecursionError) as error:  # numbers of thousands of digits, nested lists
            problem = "too deep" if isinstance(error, RecursionError) else str(error)
            raise RecipeError(f"{name}: not valid TOML: {problem}") from None
        return cls.parse(table, name)

    @classmethod
    def of_run(cls, folder: RunFolder) -> Self:
        """Load the recipe of a run; DataError if the folder is no run."""
        return cls.parse(folder.manifest().get("recipe", {}), str(folder.manifest_path))

    @property
    def trained_on(self) -> str:
        """The rows that it is trained on, in words."""
        splits = [name for name in self.train if name in SPLITS]
        files = [Path(name).name for name in self.train if name not in SPLITS]
        return " and ".join([*([f"GAP {' and '.join(splits)}"] if splits else ()), *files])

    @property
    def stacked(self) -> bool:
        """Whether the members are stacked."""
        return bool(self.stackers) and len(self.members) > 1

    @property
    def best(self) -> str:
        """Label of the run's predictor: the stack, or the last member without one."""
        return STACK if self.stacked else self.members[-1].label

    def contaminated_by(self) -> dict[str, tuple[str, ...]]:
        """Test sets that share rows with training data other than GAP, by member and for the stack."""
        from gapstack.members.member import each_once

        named = {part.label: create(part.name, **part.settings).contaminated_by for part in self.members}
        return named | ({STACK: each_once(*named.values())} if self.stacked else {})

    def refuse_contaminated(self) -> None:
        """Raise RecipeError if a member trains on other data that share rows with a split that this recipe scores.

        Stage 2 has no labels, so nothing is scored there, and what its teacher says is allowed.
        """
        contaminated = self.contaminated_by()
        scored = [split for split in (*self.train, *self.test) if split != STAGE2]
        for part in self.members:
            hit = [split for split in scored if f"gap-{split}" in contaminated[part.label]]
            if hit:
                raise RecipeError(
                    f"recipe {self.name}: {part.label} trains on data that share rows with "
                    f"{', '.join(hit)}, on which it would be scored; leave those data out, or hold another split out"
                )

    def override(self, setting: str, value: Any) -> Recipe:
        """Set ``setting`` in every member that has it (``encoder``, ``parser``)."""
        members = tuple(
            Part(part.name, part.label, {**part.settings, setting: value})
            if setting in MEMBERS.kinds(part.name)
            else part
            for part in self.members
        )
        return replace(self, members=members)

    def restricted(self, labels: Sequence[str]) -> Recipe:
        """Keep the members of these labels, in the recipe's order; the name says which they are.

        Raises
        ------
        UnknownNameError
            If there is no such member; names the closest match.
        RecipeError
            If none is named.
        """
        known = [part.label for part in self.members]
        for label in labels:
            if label not in known:
                raise unknown(f"member of recipe {self.name}", label, known)
        members = tuple(part for part in self.members if part.label in labels)
        return replace(self, members=members, name=self._named(*(part.label for part in members)))

    def on_files(self, train: Sequence[Path] = (), test: Sequence[Path] = ()) -> Recipe:
        """Take files of rows like GAP's for the splits to cross-validate on, or to hold out; the name says so.

        Where no file is given, the splits stay.
        """
        names: dict[str, Any] = {
            key: tuple(str(path.resolve()) for path in paths)
            for key, paths in (("train", train), ("test", test))
            if paths
        }
        name = self._named(*(plain_stem(path) for path in train or test))
        return replace(self, **names, name=name) if names else self

    def _named(self, *parts: str) -> str:
        """Name of a variant, with a digest for what is too long."""
        name = "-".join((self.name, *parts))
        return name if len(name) <= _LONGEST_NAME else f"{self.name}-{fingerprint(name)}"

    def with_epochs(self, epochs: int) -> Recipe:
        """Train for so many epochs in every phase of every member that is trained in epochs."""
        changes = {"epochs": epochs, "training": {"epochs": epochs}, "first": {"epochs": epochs}}

        def changed(part: Part) -> Part:
            kinds = MEMBERS.kinds(part.name)
            known = {key: value for key, value in changes.items() if key in kinds}
            if not part.settings.get("first"):  # which by default is as the last phase
                known.pop("first", None)
            return replace(part, settings=merged(part.settings, known))

        return replace(self, members=tuple(map(changed, self.members)))

    def revised(self, **changes: Any) -> Recipe:
        """Replace fields by values that are not None, and validate the result."""
        return replace(self, **{key: value for key, value in changes.items() if value is not None})

    def as_dict(self) -> dict[str, Any]:
        """All fields as JSON-able values."""
        return asdict(self)


def require_run(name: str) -> tuple[RunFolder, str]:
    """Find the run and the member of a name, as :func:`~gapstack.runs.folder.find_run` does.

    Raises
    ------
    UnknownNameError
        If there is no such run, or it has no such member; names the closest match.
    """
    match = find_run(name)
    if match is None:
        raise unknown("run", name, run_names())
    folder, member = match
    recipe = Recipe.of_run(folder)
    labels = [*(part.label for part in recipe.members), *([STACK] if recipe.stacked else ())]
    if member and member not in labels:
        raise unknown(f"member of run {folder.root.name}", member, labels)
    return match


def _spelled_out(table: Any, where: str) -> Any:
    """A recipe's table with what it shares with another recipe of the package (``like``), and its members spelled out.

    See :func:`~gapstack.members.part.spelled_out`.
    """
    if isinstance(table, Mapping) and "like" in table:
        other = table["like"]
        if not isinstance(other, str):
            raise RecipeError(f"{where}: key 'like': found {shown(other)}, expected a recipe's name")
        own = {key: value for key, value in table.items() if key != "like"}
        table = tomllib.loads(text_of(other)) | own
    if not isinstance(table, Mapping) or not isinstance(table.get("members"), list):
        return table
    members: list[Any] = []
    for number, part in enumerate(table["members"], 1):
        try:
            members += spelled_out(part) if isinstance(part, Mapping) else [part]
        except MemberError as error:
            raise RecipeError(f"{where}, members {number}: {error}") from None
    return {**table, "members": members}


def _check(values: object, where: str) -> None:
    """Check a recipe's table against the fields of :class:`Recipe`, and each part against its member or stacker."""
    if not isinstance(values, Mapping):
        raise RecipeError(f"{where}: found {shown(values)}, expected a table")
    kinds = {key: setting.kind for key, setting in settings_of(f"{__name__}:Recipe").items()}
    try:
        # parts come one by one, since their errors give number and label
        check_all({key: () if key in _PARTS else value for key, value in values.items()}, kinds, called="key")
        for key in _PARTS:
            check(values.get(key, ()), Sequence[Any], (key,))
    except SettingError as error:
        raise RecipeError(f"{where}: {error}") from None
    for key, registry in _PARTS.items():
        for number, part in enumerate(values.get(key, ()), 1):
            _check_part(part, f"{where}, {key} {number}", registry)


def _check_part(part: object, where: str, registry: Registry[Any]) -> None:
    if not isinstance(part, Mapping) or "name" not in part:
        raise RecipeError(f"{where}: found {shown(part)}, expected a table with a name")
    kinds = {key: setting.kind for key, setting in settings_of("gapstack.members.part:Part").items()}
    called = part.get("label", part["name"])
    if isinstance(called, str) and called.isprintable():
        where += f" ({called})"
    try:
        check_all(part, kinds, called="key")
        registry.entry(part["name"])
        try:
            registry.check(part["name"], part.get("settings", {}))
        except SettingError as error:
            raise error.within("settings") from None
    except MemberError as error:
        raise RecipeError(f"{where}: {error}") from None


def _alike(label: str) -> str:
    return unicodedata.normalize("NFC", label).casefold()


def _folder() -> Any:
    return resources.files("gapstack.runs") / "recipes"


def text_of(name: str) -> str:
    """TOML of a recipe that comes with the package; RecipeError, with the closest match, if there is none."""
    names = available()
    if name not in names:
        raise RecipeError(f"{unknown('recipe', name, names)} (or give a .toml file)")
    return str((_folder() / f"{name}.toml").read_text(encoding="utf-8"))


def available() -> list[str]:
    """Names of the recipes that come with the package."""
    return sorted(
        entry.name.removesuffix(".toml") for entry in _folder().iterdir() if entry.name.endswith(".toml")
    )
