"""Predictors that can be loaded: saved members and stacks, finished runs and their members, and prediction files."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np

from gapstack.data import Corpus, Label
from gapstack.data.clusters import read_clusters
from gapstack.data.corpus import one_hot
from gapstack.data.gap_data import SPLITS
from gapstack.ensemble import STACKERS, create_stacker
from gapstack.ensemble.nested import FittedStacker
from gapstack.ensemble.stacker import EVIDENCE
from gapstack.errors import DataError, DataNotFoundError, Place
from gapstack.evaluation import read_predictions
from gapstack.features import BLOCKS_READ
from gapstack.files import atomic_folder, fingerprint, sha256
from gapstack.members import create, saved
from gapstack.members.identity import Identity, identity_of, refuse_changed
from gapstack.members.learned_state import read_state
from gapstack.members.member import Member, Predictor, unique
from gapstack.progress import progress
from gapstack.records import source_digest, versions
from gapstack.registry import unknown
from gapstack.runs.folder import (
    DEFAULT,
    STACK,
    RunFolder,
    fetch,
    find_run,
    home,
    language_model,
    on_hub,
)
from gapstack.runs.recipe import Recipe
from gapstack.types import Probabilities

PROBABILITIES = (".csv", ".csv.gz", ".csv.xz")
CLUSTERS = (".jsonl", ".jsonl.gz", ".jsonl.xz")
KEPT_BYTES = 1 << 30
"""Maximum size on disk of the fitted members that a run keeps in memory; others are read again for each corpus."""
SHIPPED = "gapstack-small"
"""The default model: recipe ``small``, fitted on all of GAP by ``scripts/build_small.py``."""


def load(name: str | Path | None = None) -> Predictor:
    """Load a predictor.

    Parameters
    ----------
    name : str or Path, optional
        One of

        - ``default`` or None: the bundled model;
        - ``RUN`` or ``RUN:MEMBER``: a finished run, or one of its members;
        - the folder of a saved member or stack;
        - a file of probabilities or clusters;
        - ``owner/name``, ``owner/name:MEMBER`` or ``owner/name@REVISION``: a repository of the Hub;
        - ``prompted:MODEL`` or ``http://HOST/v1#NAME``: a language model, without examples and calibration.

    Returns
    -------
    Predictor
        With ``predict_proba(corpus)`` and ``ask(text)``.

    Raises
    ------
    DataNotFoundError
        If nothing has this name.
    DataError or MismatchError
        If it is damaged, unfinished, not a predictor, or was fitted on other inputs than are found now.
    """
    if (folder := saved_folder(name)) is not None:
        predictor = saved.load(folder)
        predictor.for_running_text = name is None or str(name) == DEFAULT
        return predictor
    path = Path(str(name))
    if (run := find_run(str(name))) is not None:
        return FittedRun(*run).check()
    if path.is_file():
        return PredictionFile(path)
    if (model := language_model(str(name))) is not None:
        from gapstack.members.prompted import Prompted  # imports a web client

        return Prompted.unfitted(model)
    if on_hub(str(name)):
        return load(fetch(str(name)))
    raise DataNotFoundError(
        f"{name} is not a run, member or file: looked for {path}, and for a run of this name in {home() / 'models'}"
    )


def save(predictor: Predictor, folder: str | Path) -> None:
    """Write a fitted member or stack into a folder, atomically and without pickle; :func:`load` reads it.

    Raises NotFittedError if it is not fitted, MemberError if the class of a member is not registered.
    """
    predictor.save(Path(folder))


def saved_folder(name: str | Path | None) -> Path | None:
    """Folder of a saved member or stack; the bundled one for ``default`` and None; None if ``name`` is neither."""
    path = shipped_model() if name is None or str(name) == DEFAULT else Path(name)
    return path if saved.is_saved(path) else None


def shipped_model() -> Path:
    """Folder of :data:`SHIPPED`, in the package or in a checkout's ``models``; DataNotFoundError if it is missing."""
    package = Path(__file__).resolve().parents[1]
    places = (package / SHIPPED, package.parents[1] / "models" / SHIPPED)
    for place in places:
        if saved.is_saved(place):
            return place
    raise DataNotFoundError(
        f"no model is named and {SHIPPED} is at none of {', '.join(map(str, places))}. Name a saved member, a run or "
        "a stack, or build it with scripts/build_small.py"
    )


class FittedRun(Predictor):
    """One system of a finished run, by default its best; predictions are the mean over the fits of ``folds`` folds."""

    def __init__(self, folder: RunFolder, label: str = "", *, folds: int | None = None):
        self.folder, self.recipe = folder, Recipe.of_run(folder)
        if label and label not in self.recipe.systems:
            raise unknown(f"member of run {folder.root.name}", label, self.recipe.systems)
        self.label = label or self.recipe.best
        self.folds = self.recipe.folds if folds is None else min(folds, self.recipe.folds)
        self._kept: dict[Path, Member] = {}
        self._base: dict[tuple[str, str], list[Probabilities]] = {}

    @property
    def systems(self) -> dict[str, FittedRun]:
        """All systems of the run, by label; they share fits and base predictions."""
        systems = {label: FittedRun(self.folder, label, folds=self.folds) for label in self.recipe.systems}
        for system in systems.values():
            system._kept, system._base = self._kept, self._base
        return systems

    @property
    def members(self) -> list[str]:
        """Labels of the members whose predictions are needed: for the stack, all."""
        return self.recipe.systems[:-1] if self.label == STACK else [self.label]

    def check(self) -> Self:
        """Return self; DataError if a needed fit is damaged or unfinished, MismatchError if its inputs have changed."""
        rows = self.folder.manifest()["identity"]
        for part in (part for part in self.recipe.members if part.label in self.members):
            now = rows | identity_of(create(part.name, **part.settings), fitted=True)
            for fold in range(self.folds):
                job = self.folder.job(part.label, fold, check=["member"])
                if job is None:
                    place = Place(self.folder.fold(part.label, fold))
                    raise DataError("the run is not finished", place=place, remedy=self.folder.remedy)
                refuse_changed(f"{self.recipe.name}:{part.label}", job, now)
        self._stack = self._load_stack(rows) if self.label == STACK else None
        return self

    @cached_property
    def _stack(self) -> FittedStacker | None:
        return self.check()._stack

    def _load_stack(self, rows: Identity) -> FittedStacker:
        """The fitted stack; DataError if there is none of these members, MismatchError if its inputs have changed."""
        place, record = self.folder.member(STACK), self.folder.stack(check=None)
        # after a change of the recipe, a run that was killed before stacking has an older stack
        if record is None or record["members"] != self.members:
            raise DataError(
                f"the run has no stack of {', '.join(self.members)} yet",
                place=Place(place / "stack.json"),
                remedy=self.folder.remedy,
            )
        before = {key: value for key, value in record["identity"].items() if key != "base_predictions"}
        now = rows | stack_identity(self.recipe)
        refuse_changed(f"{self.recipe.name}:{STACK}", record | {"identity": before}, now)
        return FittedStacker.restored(
            record["stacker"], record["settings"], record["calibration"], read_state(place)
        )

    @property
    def contaminated_by(self) -> tuple[str, ...]:
        """Test sets that share rows with the training data, including GAP's splits."""
        by_name = [f"gap-{name}" for name in self.recipe.train if name in SPLITS]
        rows = self.folder.manifest().get("contaminated_by", by_name)  # older runs have no such line
        return unique(self.recipe.contaminated_by()[self.label], rows)

    @cached_property
    def identity(self) -> Mapping[str, str]:
        """The system, and a digest of all files that determine its probabilities: recipe, stack and members' fits."""
        places = [self._place(label, fold) for label in self.members for fold in range(self.folds)]
        places += [self.folder.member(STACK)] if self.label == STACK else []
        files = [path for place in places for path in sorted(place.iterdir()) if path.is_file()]
        files.append(self.folder.manifest_path)
        digest = fingerprint([(str(path.relative_to(self.folder.root)), sha256(path)) for path in files])
        return {"run": f"{self.recipe.name} {digest}", "system": self.label}

    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Return (n, 3) probabilities: the mean over folds of the member, or of the stack over each fold's members."""
        stack = self._stack
        base = self._base_predictions(corpus)
        if stack is not None:
            return stack.predict_proba([np.stack(fold, axis=1) for fold in zip(*base, strict=True)], corpus)
        mean: Probabilities = np.mean(base[0], axis=0)
        return mean

    def _base_predictions(self, corpus: Corpus) -> list[list[Probabilities]]:
        """Probabilities (n, 3) of each member and fold; kept until the next corpus."""
        rows = corpus.fingerprint
        for key in [key for key in self._base if key[0] != rows]:
            del self._base[key]
        missing = [label for label in self.members if (rows, label) not in self._base]
        with progress("predicting", len(missing) * self.folds) as ticker:
            for label in missing:
                predictions = []
                for fold in range(self.folds):
                    member = self._fit(label, fold)
                    if fold == 0:
                        member.prepare(corpus)
                    predictions.append(member.predict_proba(corpus))
                    ticker.advance(note=label)
                self._base[rows, label] = predictions
        return [self._base[rows, label] for label in self.members]

    def _place(self, label: str, fold: int) -> Path:
        return self.folder.fold(label, fold) / "member"

    def _fit(self, label: str, fold: int) -> Member:
        """A fitted member; it is kept in memory if all kept members have at most :data:`KEPT_BYTES`."""
        place = self._place(label, fold)
        if place in self._kept:
            return self._kept[place]
        member = saved.load(place)
        if sum(file.stat().st_size for kept in (*self._kept, place) for file in kept.iterdir()) <= KEPT_BYTES:
            self._kept[place] = member
        return member

    def save(self, folder: Path) -> None:
        """Copy the run atomically; ``load("FOLDER:LABEL")`` reads one of its systems."""
        with atomic_folder(folder) as temporary:
            ignore = shutil.ignore_patterns(".lock")
            shutil.copytree(self.folder.root, temporary, dirs_exist_ok=True, ignore=ignore)


def stack_identity(recipe: Recipe) -> Identity:
    """Identity of a recipe's stack without its base predictions; see :mod:`gapstack.members.identity`."""
    stackers = [(part.name, part.settings) for part in recipe.stackers]
    identity = {
        "settings": fingerprint(stackers, recipe.calibrators),
        "package": f"gapstack {versions()['gapstack']}",
    }
    if any(create_stacker(name, **settings).READS_EVIDENCE for name, settings in stackers):
        identity["parser"] = BLOCKS_READ.digest(EVIDENCE)
    if sources := [source_digest(STACKERS[name], "gapstack.ensemble") for name, _ in stackers]:
        identity["source"] = fingerprint(sources)
    return identity


class PredictionFile(Predictor):
    """Stored predictions by row id: probabilities (CSV) or a resolver's clusters (JSONL), with unknown training data.

    Clusters become probabilities 0 and 1: the name in the pronoun's cluster is right; both or none mean NEITHER. Raises
    DataError for a suffix other than :data:`PROBABILITIES` and :data:`CLUSTERS`.
    """

    stored = True

    def __init__(self, path: Path):
        self.path, self._has_clusters = Path(path), path.name.endswith(CLUSTERS)
        if not path.name.endswith((*PROBABILITIES, *CLUSTERS)):
            expected = ", ".join((*PROBABILITIES, *CLUSTERS))
            raise DataError("unrecognised prediction file extension", place=Place(path), expected=expected)

    @property
    def identity(self) -> Mapping[str, str]:
        """Digest of the file."""
        return {"file": f"{self.path.name} {sha256(self.path)}"}

    def save(self, folder: Path) -> None:
        """Copy the file."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        shutil.copy2(self.path, Path(folder) / self.path.name)

    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Read (n, 3) probabilities of ``corpus``; DataError for bare decisions, or other ids or texts."""
        if not self._has_clusters:
            return file_probabilities(self.path, corpus)
        a, b = read_clusters(self.path, corpus).decide(corpus).T
        return one_hot(np.select([a & ~b, b & ~a], [Label.A, Label.B], Label.NEITHER))

    def remark(self, corpus: Corpus) -> str:
        """For clusters, the resolver, the rows that it covers, and those with both names in the pronoun's cluster."""
        if not self._has_clusters:
            return ""
        clusters = read_clusters(self.path, corpus)
        covered, both = clusters.covers(corpus).sum(), clusters.decide(corpus).all(axis=1).sum()
        return (
            f"has the clusters of {clusters.name} for {covered:,} of {len(corpus):,} rows, with both names in the "
            f"pronoun's cluster in {both:,}; both names, no name and no clusters count as NEITHER"
        )


def file_probabilities(path: Path, corpus: Corpus) -> Probabilities:
    """Probabilities (n, 3) of a submission CSV; DataError for decisions without probabilities, or other ids."""
    probabilities = read_predictions(path, corpus).probabilities
    if probabilities is None:
        raise DataError("decisions without probabilities", place=Place(path), expected="a submission CSV")
    return probabilities
