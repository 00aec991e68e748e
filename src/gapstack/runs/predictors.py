"""Predictors that can be loaded: saved members and stacks, finished runs and their members, and prediction files."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from gapstack.data import Corpus, Label
from gapstack.data.corpus import one_hot
from gapstack.data.sources import SPLITS
from gapstack.ensemble import STACKERS, create_stacker
from gapstack.ensemble.nested import FittedStacker
from gapstack.ensemble.stacker import EVIDENCE
from gapstack.errors import DataError, DataNotFoundError, Place
from gapstack.evaluation import read_predictions
from gapstack.files import atomic_folder, fingerprint, sha256
from gapstack.members import create, store
from gapstack.members.member import Member, Predictor, each_once
from gapstack.members.store import READS, Identity, identity_of, refuse_changed
from gapstack.progress import progress
from gapstack.records import source_digest, versions
from gapstack.registry import unknown
from gapstack.resolvers.clusters import read_clusters
from gapstack.runs.folder import DEFAULT, STACK, RunFolder, fetch, find_run, home, is_repository
from gapstack.runs.recipe import Recipe
from gapstack.types import Probabilities

PROBABILITIES = (".csv", ".csv.gz", ".csv.xz")
CLUSTERS = (".jsonl", ".jsonl.gz", ".jsonl.xz")
KEPT_BYTES = 1 << 30
"""Bytes on disk of the fitted members that a run keeps in memory; others are read again for each corpus."""
SHIPPED = "gapstack-small"
"""The default model: recipe ``small``, fitted on all of GAP by ``scripts/build_small.py``."""


def load(name: str | Path | None = None, *, keep: bool = False) -> Predictor:
    """Load a predictor: a saved member's folder, ``RUN`` or ``RUN:MEMBER``, a prediction file, or ``owner/name``.

    The last is a repository of the Hub with a saved member or a run (``owner/name:MEMBER``; of a revision,
    ``owner/name@REVISION``). Without a name, or for ``default``, it is the model that comes with gapstack,
    :data:`SHIPPED`. ``keep`` keeps a run's fitted members in memory, for many predictions. Raises DataNotFoundError if
    there is nothing of this name; DataError or MismatchError if it is damaged, not finished, not a predictor, or fitted
    on other inputs than are found now.
    """
    if (saved := saved_folder(name)) is not None:
        predictor = store.load(saved)
        predictor.for_running_text = name is None or str(name) == DEFAULT
        return predictor
    path = Path(str(name))
    if (run := find_run(str(name))) is not None:
        folder, label = run
        fitted = FittedRun(folder, [label] if label else (), keep=keep)
        return fitted.systems[label] if label else fitted
    if path.is_file():
        return prediction_file(path)
    repository, colon, label = str(name).partition(":")
    if is_repository(repository) and not path.exists():
        return load(f"{fetch(repository)}{colon}{label}", keep=keep)
    raise DataNotFoundError(
        f"{name} is not a run, member or file: looked for {path}, and for a run of this name in {home() / 'models'}"
    )


def save(predictor: Predictor, folder: str | Path) -> None:
    """Write a predictor into ``folder``; :func:`load` reads it. Raises as the predictor's own ``save``."""
    predictor.save(Path(folder))


def saved_folder(name: str | Path | None) -> Path | None:
    """Folder of a saved member or stack, for ``default`` and None the one that comes along; None if it is not one."""
    path = shipped_model() if name is None or str(name) == DEFAULT else Path(name)
    return path if store.is_saved(path) else None


def shipped_model() -> Path:
    """Folder of :data:`SHIPPED`, in the package or in a checkout's ``models``; DataNotFoundError if it is missing."""
    package = Path(__file__).resolve().parents[1]
    places = (package / SHIPPED, package.parents[1] / "models" / SHIPPED)
    for place in places:
        if store.is_saved(place):
            return place
    raise DataNotFoundError(
        f"no model is named and {SHIPPED} is at none of {', '.join(map(str, places))}. Name a saved member, a run or "
        "a stack, or build it with scripts/build_small.py"
    )


class FittedRun(Predictor):
    """The fits of a finished run; predicts as its stack, or its last member if it has none.

    Each fold's fits are a whole system; their probabilities are averaged. ``systems`` has each member and the stack as
    a predictor, or those named in ``only``; ``folds`` is the number of folds that predict, all by default. Raises
    MemberError if the run has no such member; DataError if what is needed is damaged or not finished; MismatchError if
    it was fitted on other inputs (encoder, parser, ...) than are found now.
    """

    def __init__(
        self, folder: RunFolder, only: Collection[str] = (), *, folds: int | None = None, keep: bool = False
    ):
        self.folder, self.recipe = folder, Recipe.of_run(folder)
        self.folds = self.recipe.folds if folds is None else min(folds, self.recipe.folds)
        self._kept: dict[tuple[str, int], Member] = {}
        self._room = KEPT_BYTES if keep else 0
        self._base: dict[str, list[Probabilities]] = {}
        self._base_rows = ""
        for label in only:
            if label not in self.recipe.systems:
                raise unknown(f"member of run {folder.root.name}", label, self.recipe.systems)
        self.systems: Mapping[str, RunSystem] = {
            label: RunSystem(lambda: self, label)
            for label in self.recipe.systems
            if not only or label in only
        }
        parts = [p for p in self.recipe.members if STACK in self.systems or p.label in self.systems]
        self.members = [part.label for part in parts]
        rows = folder.manifest()["identity"]
        for part in parts:
            now = rows | identity_of(create(part.name, **part.settings), fitted=True)
            for fold in range(self.folds):
                job = folder.job(part.label, fold, check=["member"])
                if job is None:
                    place = Place(folder.fold(part.label, fold))
                    raise DataError("the run is not finished", place=place, remedy=folder.remedy)
                refuse_changed(f"{self.recipe.name}:{part.label}", job, now)
        self._stack = self._load_stack(rows) if STACK in self.systems else None

    def _load_stack(self, rows: Identity) -> FittedStacker:
        """The run's stack, if it was fitted on the recipe's members and on the current inputs."""
        place, record = self.folder.member(STACK), self.folder.stack(check=None)
        # another stack is there if the recipe changed and the run was killed before stacking
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
            record["stacker"], record["settings"], record["calibration"], store.read_state(place)
        )

    @property
    def best(self) -> RunSystem:
        """The stack if it is there, else the last member."""
        return list(self.systems.values())[-1]

    @property
    def contaminated_by(self) -> tuple[str, ...]:
        """As of the best system."""
        return self.best.contaminated_by

    @cached_property
    def identity(self) -> Mapping[str, str]:
        """Digest of all files that decide the probabilities: the recipe, the stack and each member's fits."""
        places = [
            self.folder.fold(label, fold) / "member" for label in self.members for fold in range(self.folds)
        ]
        if self._stack is not None:
            places.append(self.folder.member(STACK))
        files = [path for place in places for path in sorted(place.iterdir()) if path.is_file()]
        files.append(self.folder.manifest_path)
        digest = fingerprint([(str(path.relative_to(self.folder.root)), sha256(path)) for path in files])
        return {"run": f"{self.recipe.name} {digest}"}

    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Return (n, 3) of the best system."""
        return self.predict_as(self.best.label, corpus)

    def predict_as(self, label: str, corpus: Corpus) -> Probabilities:
        """Return (n, 3) of one system: a member's mean over folds, or the mean of each fold's stack."""
        if label != STACK or self._stack is None:
            mean: Probabilities = np.mean(self._base_predictions(corpus, [label])[label], axis=0)
            return mean
        base = self._base_predictions(corpus, self.members)
        by_fold = zip(*(base[member] for member in self.members), strict=True)
        return self._stack.predict_proba([np.stack(each, axis=1) for each in by_fold], corpus)

    def _base_predictions(self, corpus: Corpus, labels: Collection[str]) -> dict[str, list[Probabilities]]:
        """By member, (n, 3) of each fold's fit; kept until the next corpus."""
        if corpus.fingerprint != self._base_rows:
            self._base, self._base_rows = {}, corpus.fingerprint
        missing = [label for label in labels if label not in self._base]
        with progress("predicting", len(missing) * self.folds) as ticker:
            for label in missing:
                predictions = []
                for fold in range(self.folds):
                    member = self._member(label, fold)
                    if fold == 0:
                        member.prepare(corpus)
                    predictions.append(member.predict_proba(corpus))
                    ticker.advance(note=label)
                self._base[label] = predictions
        return self._base

    def _member(self, label: str, fold: int) -> Member:
        if (label, fold) in self._kept:
            return self._kept[label, fold]
        place = self.folder.fold(label, fold) / "member"
        member = store.load(place)
        size = sum(path.stat().st_size for path in place.iterdir())
        if size <= self._room:
            self._room -= size
            self._kept[label, fold] = member
        return member

    def save(self, folder: Path) -> None:
        """Copy the run, whole or not at all."""
        with atomic_folder(folder) as temporary:
            ignore = shutil.ignore_patterns(".lock")
            shutil.copytree(self.folder.root, temporary, dirs_exist_ok=True, ignore=ignore)


class RunSystem(Predictor):
    """A member or the stack of a finished run; ``run`` returns the run, which is checked on first use."""

    def __init__(self, run: Callable[[], FittedRun], label: str):
        self._run, self.label = run, label

    @property
    def contaminated_by(self) -> tuple[str, ...]:
        """Its training data other than GAP, and GAP's splits that the run trained on."""
        recipe = self._run().recipe
        splits = (f"gap-{name}" for name in recipe.train if name in SPLITS)
        return each_once(recipe.contaminated_by()[self.label], splits)

    @property
    def identity(self) -> Mapping[str, str]:
        """That of the run, and the label."""
        return {**self._run().identity, "system": self.label}

    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Return (n, 3), from base predictions that the run's systems share."""
        return self._run().predict_as(self.label, corpus)

    def save(self, folder: Path) -> None:
        """Copy the run; ``load("FOLDER:LABEL")`` reads the system."""
        self._run().save(folder)


def stack_identity(recipe: Recipe) -> Identity:
    """Everything that decides a recipe's stack except its base predictions; see :mod:`gapstack.members.store`."""
    stackers = [(part.name, part.settings) for part in recipe.stackers]
    identity = {
        "settings": fingerprint(stackers, recipe.calibrators),
        "package": f"gapstack {versions()['gapstack']}",
    }
    if any(create_stacker(name, **settings).READS_EVIDENCE for name, settings in stackers):
        identity["parser"] = READS["blocks"](EVIDENCE)
    if sources := [source_digest(STACKERS[name], "gapstack.ensemble") for name, _ in stackers]:
        identity["source"] = fingerprint(sources)
    return identity


class PredictionFile(Predictor):
    """Base of files with predictions of stored rows, known by their ids; their training data are unknown."""

    stored = True

    def __init__(self, path: Path):
        self.path = Path(path)

    @property
    def identity(self) -> Mapping[str, str]:
        """Digest of the file."""
        return {"file": f"{self.path.name} {sha256(self.path)}"}

    def save(self, folder: Path) -> None:
        """Copy the file."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        shutil.copy2(self.path, Path(folder) / self.path.name)


class FileOfProbabilities(PredictionFile):
    """A CSV of probabilities (ID,A,B,NEITHER)."""

    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Read the rows of ``corpus``; DataError for decisions without probabilities, or other ids."""
        probabilities = read_predictions(self.path, corpus).probabilities
        if probabilities is None:
            place = Place(self.path)
            raise DataError("decisions without probabilities", place=place, expected="a submission CSV")
        return probabilities


class FileOfClusters(PredictionFile):
    """A JSONL of a resolver's clusters: the name in the pronoun's cluster is the answer, both or none are NEITHER."""

    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Decide each row with certainty; DataError for clusters of other texts."""
        a, b = read_clusters(self.path, corpus).decide(corpus).T
        return one_hot(np.select([a & ~b, b & ~a], [Label.A, Label.B], Label.NEITHER))

    def remark(self, corpus: Corpus) -> str:
        """Which resolver, how many rows it covers, and in how many both names are in the pronoun's cluster."""
        clusters = read_clusters(self.path, corpus)
        covered, both = clusters.covers(corpus).sum(), clusters.decide(corpus).all(axis=1).sum()
        return (
            f"is what {clusters.name} decided: clusters of {covered:,} of {len(corpus):,} rows, both names in "
            f"{both:,} of them; both, none and saying nothing count as neither"
        )


def prediction_file(path: Path) -> PredictionFile:
    """Return the predictor of a file by its suffix, of :data:`PROBABILITIES` or :data:`CLUSTERS`; else DataError."""
    if path.name.endswith(PROBABILITIES):
        return FileOfProbabilities(path)
    if path.name.endswith(CLUSTERS):
        return FileOfClusters(path)
    expected = ", ".join((*PROBABILITIES, *CLUSTERS))
    raise DataError("unrecognised prediction file extension", place=Place(path), expected=expected)
