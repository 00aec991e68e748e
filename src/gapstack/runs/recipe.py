"""Recipes: validated, frozen descriptions of runs, read from TOML."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, Self

from gapstack.data import Corpus, gap_data, sources
from gapstack.data.cells import Quarantine, plain_stem
from gapstack.data.contamination import known_test_sets
from gapstack.data.gap_files import read_gap
from gapstack.data.labels import LabelSetName
from gapstack.ensemble import STACKERS, CalibratorName
from gapstack.errors import MemberError, RecipeError, shown
from gapstack.files import fingerprint
from gapstack.members import MEMBERS, create
from gapstack.members.part import Part, expand, merged
from gapstack.registry import Registry, unknown
from gapstack.resolvers.cluster_sources import why_unavailable
from gapstack.runs.folder import SAMPLE, STACK, RunFolder, find_run, run_names
from gapstack.runs.recipe_files import available, text_of, with_base
from gapstack.settings import (
    Count,
    FoldCount,
    FolderName,
    Seed,
    SettingError,
    check,
    check_settings,
    settings_of,
)

_PARTS: Mapping[str, Registry[Any]] = {"members": MEMBERS, "stackers": STACKERS}


@dataclass(frozen=True, slots=True)
class Recipe:
    """Description of a run: members, stackers, data, labels, folds and seed.

    Raises RecipeError if a value is invalid, or the recipe could not run.
    """

    name: FolderName
    """Name of the run, its folder and its submission."""
    members: tuple[Part, ...]
    """Members to cross-validate, with their settings."""
    stackers: tuple[Part, ...] = ()
    """Stackers to choose from, the preferred first; without any, members are not stacked."""
    train: Sequence[gap_data.SplitName] = ("development", "validation")
    """Splits of GAP, or files of rows like GAP's (``.tsv``, ``.tsv.gz``, ``.tsv.xz``), to cross-validate on."""
    test: Sequence[gap_data.HeldOutName] = ("test",)
    """Splits or files to hold out; ``stage2`` is predicted and not scored."""
    labels: LabelSetName = "official"
    """Label set."""
    folds: FoldCount = 5
    """Number of folds, which are grouped by page."""
    seed: Seed = 2019
    """Seed of the folds."""
    title: str = ""
    """Description in one line."""
    calibrators: Sequence[CalibratorName] = ("none",)
    """Calibrators to choose from, the preferred first."""
    note: str = ""
    """A caveat about its results that is printed when it is run."""
    limit: Count | None = None
    """For a trial, the number of first rows to use of the training and of the held-out rows; None for all."""

    def __post_init__(self) -> None:
        """Check everything that can be checked before anything is computed."""
        where = f"recipe {self.name if isinstance(self.name, str) and self.name.isprintable() else shown(self.name)}"
        _check(asdict(self), where)
        twice = _repeated([*self.train, *self.test])
        labels = [part.label for part in self.members]
        taken = _repeated(labels) + _repeated([part.label for part in self.stackers])
        unmatched = [part.label for part in self.stackers if not self._has_weight_for_each(part)]
        both, stage2 = set(self.train) & set(self.test), gap_data.STAGE2
        for is_wrong, problem in (
            (not self.members, " has no members; add a [[members]] table"),
            (
                not self.train or not self.test,
                f": {'test' if self.train else 'train'} has no split; name one",
            ),
            (both, f": {', '.join(twice)} would be both trained and scored on; remove it from train or test"),
            (twice, f": {', '.join(twice)} is named twice; remove one"),
            (stage2 in self.test and len(self.test) > 1, f": {stage2} has no labels; hold it out alone"),
            (STACK in labels, f": {STACK!r} is what the stack is called; choose another label"),
            (taken, f": label {' and '.join(taken)} is used twice; choose another"),
            (
                unmatched,
                f": stacker {' and '.join(unmatched)} needs a weight for each of {len(labels)} members",
            ),
        ):
            if is_wrong:
                raise RecipeError(f"{where}{problem}")

    @classmethod
    def parse(cls, table: Mapping[str, Any], where: str = "recipe") -> Self:
        """Create a recipe from a parsed TOML document, which errors call ``where``; RecipeError if it is invalid."""
        table = _complete(table, where)
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
        """Load a recipe by its name in the package, its TOML file, or a run's folder; RecipeError if it is invalid."""
        if not name.endswith(".toml"):
            if name not in available() and Path(name).is_dir():
                return cls.of_run(RunFolder(Path(name)))
            return cls.parse(tomllib.loads(text_of(name)), name)
        try:
            table = tomllib.loads(Path(name).read_text(encoding="utf-8"))
        except OSError:
            raise RecipeError(
                f"there is no recipe file {shown(name)}; gap recipes lists the bundled ones"
            ) from None
        except (ValueError, RecursionError) as error:
            raise RecipeError(f"{name}: not valid TOML in UTF-8: {error}") from None
        return cls.parse(table, name)

    @classmethod
    def of_run(cls, folder: RunFolder) -> Self:
        """Load the recipe of a run; DataError if the folder is not a run."""
        return cls.parse(folder.manifest().get("recipe", {}), str(folder.manifest_path))

    @property
    def trained_on(self) -> str:
        """Description of the training rows, such as "GAP development and validation"."""
        if self.name.endswith(SAMPLE):
            return "the embedded sample"
        splits = [name for name in self.train if name in gap_data.SPLITS]
        files = [Path(name).name for name in self.train if name not in gap_data.SPLITS]
        return " and ".join([*([f"GAP {' and '.join(splits)}"] if splits else ()), *files])

    @property
    def stacked(self) -> bool:
        """True if the members are stacked."""
        return bool(self.stackers) and len(self.members) > 1

    @property
    def systems(self) -> list[str]:
        """Labels of the members, and of the stack if there is one; the last is the run's predictor."""
        return [*(part.label for part in self.members), *([STACK] if self.stacked else ())]

    @property
    def best(self) -> str:
        """Label of the run's predictor: the stack, or the last member without one."""
        return self.systems[-1]

    def contaminated_by(self) -> dict[str, tuple[str, ...]]:
        """Test sets that share rows with training data other than GAP, by member and for the stack."""
        from gapstack.members.member import unique

        named = {part.label: create(part.name, **part.settings).contaminated_by for part in self.members}
        return named | ({STACK: unique(*named.values())} if self.stacked else {})

    def refuse_contaminated(self, ids: Iterable[str] = ()) -> None:
        """Raise RecipeError if a member trains on other data that share rows with a split that is scored.

        Files are recognised by the ``ids`` of their rows.
        """
        by_ids = (name.removeprefix("gap-") for name in known_test_sets(ids))
        splits = dict.fromkeys([*self.train, *self.test, *by_ids])
        # stage 2 has no labels, so nothing is scored there and its teacher is allowed
        scored = [split for split in splits if split != gap_data.STAGE2]
        for label, contaminated in self.contaminated_by().items():
            if hit := [split for split in scored if f"gap-{split}" in contaminated]:
                raise RecipeError(
                    f"recipe {self.name}: {label} trains on data that share rows with "
                    f"{', '.join(hit)}, on which it would be scored; leave those data out, or hold another split out"
                )

    def override(self, setting: str, value: Any) -> Recipe:
        """Set ``setting`` in every member that has it (``encoder``, ``parser``)."""
        return self._with_settings(
            lambda part: {setting: value} if setting in settings_of(MEMBERS[part.name]) else {}
        )

    def _with_settings(self, changes: Callable[[Part], Mapping[str, Any]]) -> Recipe:
        parts = (replace(part, settings=merged(part.settings, changes(part))) for part in self.members)
        return replace(self, members=tuple(parts))

    def limited(self, rows: int) -> Recipe:
        """Keep the first ``rows`` training and held-out rows; the number is added to the name."""
        base = self.name.removesuffix(SAMPLE)
        return replace(self, limit=rows, name=f"{base}-first{rows}{self.name[len(base) :]}")

    def restricted(self, labels: Sequence[str]) -> Recipe:
        """Keep the members with these labels, which are added to the name; UnknownNameError for other labels."""
        known = [part.label for part in self.members]
        for label in labels:
            if label not in known:
                raise unknown(f"member of recipe {self.name}", label, known)
        kept = {number: part for number, part in enumerate(self.members) if part.label in labels}
        return replace(
            self,
            members=tuple(kept.values()),
            stackers=self.stackers_of([number] for number in kept),
            name=self._named(*(part.label for part in kept.values())),
        )

    def stackers_of(self, groups: Iterable[Sequence[int]]) -> tuple[Part, ...]:
        """The stackers for one member in place of each group (numbers of members), with the sum of its weights."""
        groups = list(groups)
        return tuple(_with_summed_weights(part, groups) for part in self.stackers)

    def _has_weight_for_each(self, stacker: Part) -> bool:
        weights = stacker.settings.get("weights")
        return not weights or len(weights) == len(self.members)

    def with_available_resolvers(self, rows: Corpus) -> tuple[Recipe, list[str]]:
        """Leave out resolvers that cannot be used for ``rows``, and members without any other; adds a line for each.

        Files of clusters are never left out.
        """
        named = {name for part in self.members for name in _resolvers(part)}
        problems = {name: why for name in sorted(named) if (why := why_unavailable(name, rows))}

        members = dict[int, Part]()
        for number, part in enumerate(self.members):
            names = _resolvers(part)
            kept = [name for name in names if name not in problems]
            changed = part
            if "clusters" in part.settings:
                changed = replace(part, settings={**part.settings, "clusters": kept})
            if not names or kept or create(changed.name, **changed.settings).get_params().get("sources"):
                members[number] = changed
        stackers = self.stackers_of([number] for number in members)
        recipe = replace(self, members=tuple(members.values()), stackers=stackers)
        return recipe, [f"left out: {line}" for line in problems.values()]

    def on_files(self, train: Sequence[Path] = (), test: Sequence[Path] = ()) -> Recipe:
        """Replace the training or held-out splits by files of rows in GAP's format, whose names extend the name."""
        if not train and not test:
            return self
        trained, held = ([str(path.resolve()) for path in paths] for paths in (train, test))
        name = self._named(*(plain_stem(path) for path in train or test))
        return replace(self, train=tuple(trained) or self.train, test=tuple(held) or self.test, name=name)

    def _named(self, *parts: str) -> str:
        """Name of a variant, shortened by a digest if it is longer than 80 characters."""
        name = "-".join((self.name, *parts))
        return name if len(name) <= 80 else f"{self.name}-{fingerprint(name)}"

    def with_epochs(self, epochs: int) -> Recipe:
        """Set the number of epochs in every phase of every member that is trained in epochs."""

        def changes(part: Part) -> Mapping[str, Any]:
            every = {"epochs": epochs, "training": {"epochs": epochs}}
            if part.settings.get("pretraining"):  # its defaults are those of the last phase
                every["pretraining"] = {"epochs": epochs}
            return {key: every[key] for key in every.keys() & settings_of(MEMBERS[part.name])}

        return self._with_settings(changes)

    def revised(
        self,
        *,
        labels: str | None = None,
        folds: int | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Recipe:
        """Replace fields by values that are not None, and validate the result."""
        changes: dict[str, Any] = {"labels": labels, "folds": folds, "seed": seed, "name": name}
        return replace(self, **{key: value for key, value in changes.items() if value is not None})


def _resolvers(part: Part) -> Sequence[str]:
    """Names of the resolvers that a member reads; ``gapstack`` is the model of running text."""
    return ["gapstack"] if part.name == "running_text" else part.settings.get("clusters", ())


def _with_summed_weights(part: Part, groups: Sequence[Sequence[int]]) -> Part:
    """A stacker whose weight for each group of members is the sum of theirs."""
    weights, sizes = part.settings.get("weights"), list(map(len, groups))
    if "weights" not in settings_of(STACKERS[part.name]) or not (weights or len(set(sizes)) > 1):
        return part
    summed = [sum(weights[n] for n in group) for group in groups] if weights else sizes
    return replace(part, settings={**part.settings, "weights": summed})


def require_run(name: str) -> tuple[RunFolder, str]:
    """Run and member ("" for all) by name; UnknownNameError, with the closest match, if there is none."""
    match = find_run(name)
    if match is None:
        raise unknown("run", name, run_names())
    folder, member = match
    systems = Recipe.of_run(folder).systems
    if member and member not in systems:
        raise unknown(f"member of run {folder.root.name}", member, systems)
    return match


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def _complete(table: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Fill in the recipe that a table is ``like``, and expand its members (see :mod:`gapstack.members.part`)."""
    table = with_base(table, where)
    if not isinstance(table.get("members"), list):
        return table
    members: list[Any] = []
    for number, part in enumerate(table["members"], 1):
        try:
            members += expand(part) if isinstance(part, Mapping) else [part]
        except MemberError as error:
            raise RecipeError(f"{where}, members {number}: {error}") from None
    return {**table, "members": members}


def _check(values: Mapping[str, Any], where: str) -> None:
    """Check a recipe's table against the fields of :class:`Recipe`, and each part against its member or stacker."""
    place = where
    try:
        check_settings(Recipe, {key: value for key, value in values.items() if key not in _PARTS})
        for key, registry in _PARTS.items():
            place = where
            check(values.get(key, ()), Sequence[Any], (key,))
            for number, part in enumerate(values.get(key, ()), 1):
                place = f"{where}, {key} {number}"
                if not isinstance(part, Mapping) or "name" not in part:
                    raise MemberError(f"found {shown(part)}, expected a table with a name")
                label = part.get("label", part["name"])
                if isinstance(label, str) and label.isprintable():
                    place += f" ({label})"
                check_settings(Part, part)
                try:
                    registry.check(part["name"], part.get("settings", {}))
                except SettingError as error:
                    raise error.within("settings") from None
    except MemberError as error:
        raise RecipeError(f"{place}: {error}") from None


def corpora(recipe: Recipe, quarantine: Quarantine | None = None) -> tuple[Recipe, Corpus, Corpus]:
    """Load the training and the held-out rows of a recipe; returns the recipe and both corpora.

    The embedded sample replaces the splits if it is chosen, or if GAP is not available. The recipe's name then ends in
    ``-sample``; a recipe with such a name always uses the sample.
    """
    splits = {
        name: gap_data.relabel(read_gap(Path(name), quarantine=quarantine), recipe.labels)
        for name in (*recipe.train, *recipe.test)
        if name not in gap_data.HELD_OUT
    }
    train, test = recipe.train, recipe.test
    if not splits.keys() >= {*train, *test}:
        chosen = sources.SAMPLE if recipe.name.endswith(SAMPLE) else None
        gap = gap_data.load_gap(chosen, label_set=recipe.labels, quarantine=quarantine)
        splits |= gap.splits
        if gap.is_sample:
            recipe = recipe.revised(name=recipe.name.removesuffix(SAMPLE) + SAMPLE)
            train, test = (
                tuple(dict.fromkeys(split if name in gap_data.HELD_OUT else name for name in names))
                for names, split in ((train, "train"), (test, "test"))
            )
        elif gap_data.STAGE2 in test:
            splits[gap_data.STAGE2] = gap_data.stage2()
    rows = [reduce(add, (splits[name] for name in names)) for names in (train, test)]
    train_rows, test_rows = (corpus if recipe.limit is None else corpus[: recipe.limit] for corpus in rows)
    return recipe, train_rows, test_rows
