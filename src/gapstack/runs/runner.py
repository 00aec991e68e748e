"""A run, from recipe to submission.

Members are cross-fitted on the training rows, a stacker chosen by nested cross-validation is fitted on their
out-of-fold predictions, and held-out rows are predicted by each fold's members, stacked, averaged over folds.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.data import Corpus
from gapstack.data.folds import Folds, make_folds
from gapstack.data.gap_files import write_submission
from gapstack.ensemble import create_stacker
from gapstack.ensemble.nested import choose_stack
from gapstack.ensemble.stack import CrossFit, Executor, FitStore, FitTask, FoldFit, cross_fit, in_order
from gapstack.errors import DataError, ExtraError, MemberError, MismatchError
from gapstack.files import atomic_folder, fingerprint, sweep
from gapstack.members import create
from gapstack.members.identity import Identity, changes, key_of, of_rows
from gapstack.members.store import save, write_state
from gapstack.runs.folder import STACK, RunFolder, home, read_probabilities, write_probabilities
from gapstack.runs.identity import again, of_part, of_stack
from gapstack.runs.recipe import Part, Recipe, corpora
from gapstack.sealed import seal
from gapstack.training.checkpoints import NAME as CHECKPOINT
from gapstack.training.checkpoints import checkpoint_context
from gapstack.training.devices import started_together
from gapstack.types import Probabilities
from gapstack.versions import versions

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Result:
    """Probabilities of one member, or of the stack: ``out_of_fold`` (n_train, 3) and ``test`` (n_test, 3).

    ``parameters`` counts the parameters of one fold's fit; ``contaminated_by`` names test sets that share rows with
    its training data.
    """

    label: str
    out_of_fold: Probabilities
    test: Probabilities
    seconds: float
    parameters: int = 0
    contaminated_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """A finished run; ``reused`` counts the folds that were done before."""

    recipe: Recipe
    folder: RunFolder
    train: Corpus
    test: Corpus
    members: tuple[Result, ...]
    stack: Result | None
    stack_note: str
    submission: Path
    reused: int


@dataclass(frozen=True)
class RunStore(FitStore):
    """A run's folder as the store of its members' fits (:class:`~gapstack.ensemble.stack.FitStore`).

    ``checkpoint_seconds`` and ``tensorboard`` are those of :class:`~gapstack.training.CheckpointContext`.
    """

    folder: RunFolder
    parts: Mapping[str, Part]
    train: Corpus
    test: Corpus
    folds: Folds
    checkpoint_seconds: float = 120.0
    tensorboard: bool = False
    _started: dict[str, Identity] = field(default_factory=dict)

    def identity(self, label: str) -> Identity:
        """Everything that decides a member's results, except the fold."""
        return of_rows(self.train, self.test, self.folds) | of_part(self.parts[label])

    def is_done(self, label: str, fold: int) -> bool:
        """Whether the folder holds a fit of the current identity."""
        record = self.folder.job(label, fold)
        return record is not None and record["key"] == key_of(self.identity(label), fold)

    @contextmanager
    def training(self, label: str, fold: int) -> Iterator[None]:
        """Let trainings within the block write checkpoints and continue from them."""
        self._started[label] = self.identity(label)
        place = self._unfinished(label, fold)
        with checkpoint_context(
            place, checkpoint_seconds=self.checkpoint_seconds, tensorboard=self.tensorboard
        ):
            yield

    def put(self, label: str, fold: int, fit: FoldFit) -> None:
        """Store a fit and its predictions; MismatchError if its inputs changed since the training began."""
        identity = self._started[label]
        changed = changes(identity, self.identity(label))
        if changed:
            raise MismatchError(
                f"{' and '.join(changed)} changed while {label} was running; its result was discarded, run again"
            )
        record = {
            "key": key_of(identity, fold),
            "seconds": fit.seconds,
            "fold": fold,
            "parameters": fit.member.parameters(),
            "identity": identity,
            "versions": versions(),
        }
        place = self._unfinished(label, fold)
        with atomic_folder(self.folder.fold(label, fold)) as done:
            write_probabilities(done / "held.parquet", self._held(fold), fit.held)
            write_probabilities(done / "test.parquet", self.test.ids, fit.new)
            save(fit.member, self.parts[label].name, done / "member")
            seal(done / "job.json", record, beside=True)
            for checkpoint in place.rglob(CHECKPOINT):
                checkpoint.unlink()
            if place.is_dir():  # evaluations during training, for information only: no digest
                place.replace(done / "training")
        shutil.rmtree(place.parent, ignore_errors=True)

    def predictions(self, label: str, fold: int) -> tuple[Probabilities, Probabilities]:
        """Read the probabilities of the fold's rows and of the held-out rows."""
        place = self.folder.fold(label, fold)
        held = read_probabilities(place / "held.parquet", self._held(fold))
        return held, read_probabilities(place / "test.parquet", self.test.ids)

    def _held(self, fold: int) -> list[str]:
        return self.train.take(self.folds.split(fold)[1]).ids

    def _unfinished(self, label: str, fold: int) -> Path:
        return self.folder.unfinished(label, fold) / key_of(self._started[label], fold)


def run(
    recipe: Recipe | str | Path,
    train: Corpus | None = None,
    test: Corpus | None = None,
    *,
    data: str | None = None,
    root: Path | None = None,
    fresh: bool = False,
    executor: Executor = in_order,
    checkpoint_seconds: float = 120.0,
    tensorboard: bool = False,
    on_fold: Callable[[RunFolder, str, int], None] | None = None,
) -> Run:
    """Execute a recipe; continues an earlier, perhaps killed, call, and repeats damaged results.

    Progress and damaged results are logged at INFO.

    Parameters
    ----------
    recipe : Recipe, str or Path
        Or the name of one that comes with the package, a TOML file, or the folder of a run.
    train, test : Corpus, optional
        Labelled corpus to cross-validate on, and rows to hold out (their labels are not used here). Both or neither:
        by default the recipe's splits of GAP, as :func:`~gapstack.runs.recipe.corpora` loads them.
    data : str, optional
        Folder to look for GAP in first, or ``sample`` for the embedded sample.
    root : Path, optional
        Folder for ``models/`` and ``submissions/``; :func:`~gapstack.runs.folder.home` by default.
    fresh : bool
        Discard an earlier run of this name.
    executor : Executor
        Executes the fits; this process by default. Results do not depend on it.
    checkpoint_seconds : float
        Minimum time between two checkpoints of a fine-tuned member.
    tensorboard : bool
        Write TensorBoard event files for each member that is fine-tuned.
    on_fold : callable, optional
        Called in this process with the run's folder, the member's label and the fold for each finished fold, those
        of an earlier call first.

    Raises
    ------
    MismatchError
        If the run's folder holds results on other corpora, labels or folds.
    RecipeError
        If there is no such recipe, or a member trains on other data that share rows with its test splits.
    DataError
        If one of ``train`` and ``test`` is given without the other.
    MemberError
        If TensorBoard is not installed, a worker is lost, or ``torchrun`` started several processes.
    """
    if not isinstance(recipe, Recipe):
        recipe = Recipe.load(str(recipe))
    if (train is None) != (test is None):
        raise DataError("train or test is missing", expected="both, or neither to load the recipe's splits")
    if train is None or test is None:
        recipe, train, test = corpora(recipe, data)
    recipe.refuse_contaminated()
    if started_together() > 1:
        raise MemberError(
            f"{started_together()} processes were started together for one run; start it without torchrun or "
            "accelerate launch, and use --workers for several processes"
        )
    if tensorboard and find_spec("tensorboard") is None:
        raise ExtraError("TensorBoard", "tensorboard")
    root = root or home()
    folder = RunFolder(root / "models" / recipe.name)
    with folder.locked():
        folds = make_folds(train, recipe.folds, seed=recipe.seed)
        labels = [part.label for part in recipe.members]
        damaged = folder.claim(_manifest(recipe, train, test, folds), fresh=fresh)
        damaged += folder.repair(labels, folds.k)
        if damaged:
            _log.info("damaged, will be recomputed: %s", ", ".join(damaged))
        folds.save(folder.root / "folds.json")
        parts = {part.label: part for part in recipe.members}
        store = RunStore(folder, parts, train, test, folds, checkpoint_seconds, tensorboard)
        fits, reused = _cross_fit(store, executor, on_fold)
        members = []
        for part in recipe.members:
            records = [folder.job(part.label, fold) or {} for fold in range(folds.k)]
            member = Result(
                part.label,
                fits.out_of_fold[part.label],
                np.mean(fits.new[part.label], axis=0),
                sum(record["seconds"] for record in records),
                records[-1]["parameters"],
                create(part.name, **part.settings).contaminated_by,
            )
            _write(member, train, test, folder.member(part.label))
            members.append(member)
        stack, note = _stack(recipe, fits, store) if recipe.stacked else (None, "")
        best = stack or members[-1]
        submission = root / "submissions" / f"{recipe.name}.csv"
        sweep(submission.parent)
        write_submission(submission, test.ids, best.test)
    return Run(recipe, folder, train, test, tuple(members), stack, note, submission, reused)


def _manifest(recipe: Recipe, train: Corpus, test: Corpus, folds: Folds) -> dict[str, Any]:
    return {
        "format": 1,
        "recipe": recipe.as_dict(),
        "identity": of_rows(train, test, folds),
        "rows": {"train": [train.name, len(train)], "test": [test.name, len(test)]},
        "versions": versions(),
    }


def _cross_fit(
    store: RunStore,
    executor: Executor,
    on_fold: Callable[[RunFolder, str, int], None] | None,
) -> tuple[CrossFit, int]:
    """Cross-fit the members; returns their probabilities and the number of folds that were done before."""
    folder, counts = store.folder, Counter[str]()
    keys, outdated = set(), []
    for label in store.parts:
        identity = store.identity(label)
        for fold in range(store.folds.k):
            keys.add(key_of(identity, fold))
            if store.is_done(label, fold):
                if on_fold:
                    on_fold(folder, label, fold)
            else:
                counts[label] += 1
                outdated.append((label, folder.job(label, fold), identity))
    folder.sweep(keys)
    if reasons := again(outdated):
        _log.info("%s", reasons)
    if counts:
        _log.info("%d folds of %d members", counts.total(), len(counts))

    def finished(task: FitTask) -> None:
        for fold in task.folds:
            if on_fold:
                on_fold(folder, task.label, fold)
            if not store.is_done(task.label, fold):
                raise MismatchError(
                    f"{task.name} was computed with other inputs than this process has; workers need the same files, "
                    "package and environment"
                )
        counts[task.label] -= len(task.folds)
        if not counts[task.label]:
            _log.info("%s: all folds finished", task.label)

    reused = store.folds.k * len(store.parts) - counts.total()
    members = {label: create(part.name, **part.settings) for label, part in store.parts.items()}
    fits = cross_fit(
        members, store.train, store.folds, store, new=store.test, execute=executor, finished=finished
    )
    return fits, reused


def _write(result: Result, train: Corpus, test: Corpus, place: Path) -> None:
    write_probabilities(place / "out_of_fold.parquet", train.ids, result.out_of_fold)
    write_probabilities(place / "test.parquet", test.ids, result.test)


def _stack(recipe: Recipe, fits: CrossFit, store: RunStore) -> tuple[Result, str]:
    """Choose, fit and apply the stacker, or reuse that of an earlier call if nothing changed."""
    folder, folds, train, test = store.folder, store.folds, store.train, store.test
    place, labels = folder.member(STACK), list(store.parts)
    jobs = [[folder.job(label, fold) for fold in range(folds.k)] for label in labels]
    identity = of_rows(train, test, folds) | {"base_predictions": fingerprint(jobs)} | of_stack(recipe)
    record = folder.stack() or {}
    if record.get("key") != key_of(identity):
        changed = changes(record.get("identity", {}), identity) if record else []
        if changed and "base_predictions" not in changed:  # changed members have been logged already
            _log.info("%s changed: the stack again", " and ".join(changed))
        _log.info("stacking")
        started = time.perf_counter()
        candidates = {part.label: create_stacker(part.name, **part.settings) for part in recipe.stackers}
        nested = choose_stack(candidates, recipe.calibrators, fits.base_predictions, train, folds.assignment)
        by_fold = [np.stack([fits.new[label][fold] for label in labels], axis=1) for fold in range(folds.k)]
        probabilities = nested.fitted.predict_proba(by_fold, test)
        kind = next(part for part in recipe.stackers if part.label == nested.name)
        record = {
            "key": key_of(identity),
            "stacker": kind.name,
            "settings": kind.settings,
            "seconds": time.perf_counter() - started,
            "calibration": nested.calibration,
            "note": nested.describe(),
            "members": labels,
            "identity": identity,
            "versions": versions(),
        }
        with atomic_folder(place) as done:
            write_state(nested.fitted.state(), done)
            _write(Result(STACK, nested.out_of_fold, probabilities, 0.0), train, test, done)
            seal(done / "stack.json", record, beside=True)
    out_of_fold = read_probabilities(place / "out_of_fold.parquet", train.ids)
    held_out = read_probabilities(place / "test.parquet", test.ids)
    contaminated_by = recipe.contaminated_by()[STACK]
    result = Result(STACK, out_of_fold, held_out, record["seconds"], contaminated_by=contaminated_by)
    return result, record["note"]
