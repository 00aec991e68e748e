"""A run, from recipe to submission.

Members are cross-fitted on the training rows. A stacker, chosen by nested cross-validation, is fitted on their
out-of-fold predictions. Held-out rows are predicted by the members of each fold, stacked, and averaged over folds.
"""

import logging
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from gapstack.data import Corpus
from gapstack.data.contamination import known_test_sets
from gapstack.data.folds import Folds, make_folds
from gapstack.data.gap_files import write_submission
from gapstack.data.sources import searches_data
from gapstack.ensemble import create_stacker
from gapstack.ensemble.nested import fit_nested
from gapstack.ensemble.stack import CrossFit, FitStore, FitTask, FoldFit, cross_fit, small_fits_in_forks
from gapstack.errors import DataError, MemberError, MismatchError, counted
from gapstack.files import atomic_folder, discard, fingerprint, locked, require_writable, sweep
from gapstack.members import create
from gapstack.members.identity import Identity, changes, identity_of, key_of
from gapstack.members.learned_state import write_state
from gapstack.members.saved import save
from gapstack.processes import Executor, create_executor
from gapstack.progress import print_note
from gapstack.records import seal, versions
from gapstack.runs.folder import STACK, RunFolder, home, read_probabilities, write_probabilities
from gapstack.runs.predictors import stack_identity
from gapstack.runs.recipe import Part, Recipe, corpora
from gapstack.runs.stored_results import Run, stored_run
from gapstack.training.checkpoints import NAME as CHECKPOINT
from gapstack.training.checkpoints import checkpoint_context
from gapstack.training.devices import started_together
from gapstack.types import Probabilities

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RunStore(FitStore):
    """Stores the fits of a run's members in its folder."""

    folder: RunFolder
    parts: Mapping[str, Part]
    train: Corpus
    test: Corpus
    folds: Folds
    checkpoint_seconds: float
    _started: dict[str, Identity] = field(default_factory=dict)

    def identity(self, label: str) -> Identity:
        """Identity of everything that determines a member's results, except the fold."""
        part = self.parts[label]
        return _identity_of_rows(self.train, self.test, self.folds) | identity_of(
            create(part.name, **part.settings)
        )

    def is_done(self, label: str, fold: int) -> bool:
        """True if the folder holds a fit of the current identity."""
        record = self.folder.job(label, fold)
        return record is not None and record["key"] == key_of(self.identity(label), fold)

    @contextmanager
    def training(self, label: str, fold: int) -> Iterator[None]:
        """Context in which trainings write checkpoints and resume from them."""
        self._started[label] = self.identity(label)
        with checkpoint_context(self._checkpoints(label, fold), seconds=self.checkpoint_seconds):
            yield

    def put(self, label: str, fold: int, fit: FoldFit) -> None:
        """Store a fit and its predictions, under the identity of its inputs at the start of the training."""
        identity = self._started[label]
        record = {
            "key": key_of(identity, fold),
            "seconds": fit.seconds,
            "fold": fold,
            "parameters": fit.member.parameters(),
            "identity": identity,
            "versions": versions(),
        }
        place = self._checkpoints(label, fold)
        with atomic_folder(self.folder.fold(label, fold)) as done:
            write_probabilities(done / "held.parquet", self._held_ids(fold), fit.held)
            write_probabilities(done / "test.parquet", self.test.ids, fit.new)
            save(fit.member, self.parts[label].name, done / "member")
            seal(done / "job.json", record, with_files=True)
            for checkpoint in place.rglob(CHECKPOINT):
                checkpoint.unlink()
            if place.is_dir():  # evaluations during training, for information only: no digest
                place.replace(done / "training")
        shutil.rmtree(place.parent, ignore_errors=True)

    def predictions(self, label: str, fold: int) -> tuple[Probabilities, Probabilities]:
        """Read the probabilities of the fold's rows and of the held-out rows."""
        place = self.folder.fold(label, fold)
        held = read_probabilities(place / "held.parquet").loc[self._held_ids(fold)]
        return held.to_numpy(), read_probabilities(place / "test.parquet").loc[self.test.ids].to_numpy()

    def _held_ids(self, fold: int) -> list[str]:
        return self.train.take(self.folds.split(fold)[1]).ids

    def _checkpoints(self, label: str, fold: int) -> Path:
        return self.folder.unfinished(label, fold) / key_of(self._started[label], fold)


@searches_data
def run(
    recipe: Recipe | str | Path,
    train: Corpus | None = None,
    test: Corpus | None = None,
    *,
    data: str | None = None,
    root: Path | None = None,
    fresh: bool = False,
    workers: int = 1,
    executor: str = "loky",
    checkpoint_seconds: float = 120.0,
    on_fold: Callable[[RunFolder, str, int], None] | None = None,
) -> Run:
    """Run a recipe: cross-validate its members, stack them, and write a submission.

    An interrupted run is resumed, and damaged results are recomputed. Progress is logged at INFO.

    Parameters
    ----------
    recipe : Recipe, str or Path
        A recipe, the name of a bundled one, a TOML file, or the folder of a run.
    train, test : Corpus, optional
        Labelled rows to cross-validate on, and rows to hold out; by default the recipe's splits of GAP.
    data : str, optional
        Folder to search for GAP first, or ``sample`` for the embedded sample.
    root : Path, optional
        Folder for ``models/`` and ``submissions/``; :func:`~gapstack.runs.folder.home` by default.
    fresh : bool
        Discard an earlier run of this name.
    workers : int
        Number of folds that are fitted at once, each in a process. Results do not depend on it.
    executor : str
        joblib's backend for several workers: ``loky`` (this machine), ``ray`` or ``dask``.
    checkpoint_seconds : float
        Minimum time between two checkpoints of a fine-tuned member.
    on_fold : callable, optional
        Called with the run's folder, the member's label and the fold after each fold.

    Returns
    -------
    Run
        Probabilities and scores of the members and the stack.

    Raises
    ------
    RecipeError
        If the recipe is unknown or invalid, or a member trains on rows that it would be scored on.
    MismatchError
        If the run's folder has results on other corpora, labels or folds.
    MemberError
        If a worker is lost twice over one fold.
    """
    if not isinstance(recipe, Recipe):
        recipe = Recipe.load(str(recipe))
    if (train is None) != (test is None):
        raise DataError("train or test is missing", expected="both, or neither to load the recipe's splits")
    require_writable((root or home()) / "models", "GAPSTACK_HOME")
    if train is None or test is None:
        recipe, train, test = corpora(recipe)
    recipe, left_out = recipe.with_available_resolvers(train)
    for line in left_out:
        print_note(line)
    recipe.refuse_contaminated([*train.ids, *test.ids])
    if started_together() > 1:
        raise MemberError(
            f"{started_together()} processes were started together for one run; start it without torchrun or "
            "accelerate launch, and use --workers for several processes"
        )
    folder = RunFolder((root or home()) / "models" / recipe.name)
    with locked(folder.root):
        folds = make_folds(train, recipe.folds, seed=recipe.seed)
        manifest = {
            "format": 1,
            "recipe": asdict(recipe),
            "identity": _identity_of_rows(train, test, folds),
            "rows": {"train": [train.name, len(train)], "test": [test.name, len(test)]},
            "contaminated_by": known_test_sets(train.ids),
            "versions": versions(),
        }
        parts = {part.label: part for part in recipe.members}
        if damaged := folder.claim(manifest, list(parts), folds.k, fresh=fresh):
            _log.info("damaged, will be recomputed: %s", ", ".join(damaged))
        folds.save(folder.root / "folds.json")
        store = RunStore(folder, parts, train, test, folds, checkpoint_seconds)
        execute = create_executor(workers, executor)
        if workers == 1:
            execute = partial(small_fits_in_forks, rows=len(train))
        fits, reused = _cross_fit(store, execute, on_fold or (lambda *fold: None))
        if recipe.stacked:
            _stack(recipe, fits, store)
        done = replace(stored_run(folder, rows=(train, test)), reused=reused)
        sweep(done.submission.parent)
        write_submission(done.submission, test.ids, (done.stack or done.members[-1]).test)
    return done


def _cross_fit(
    store: RunStore, executor: Executor, on_fold: Callable[[RunFolder, str, int], None]
) -> tuple[CrossFit, int]:
    """Cross-fit the members; returns their probabilities and the number of folds that were stored already."""
    folder, numbers, keys, left = store.folder, range(store.folds.k), set(), Counter[str]()
    for label in store.parts:
        identity = store.identity(label)
        keys |= {key_of(identity, fold) for fold in numbers}
        missing = [fold for fold in numbers if not store.is_done(label, fold)]
        left += Counter({label: len(missing)})
        for fold in set(numbers).difference(missing):
            on_fold(folder, label, fold)
        stale = [record["identity"] for fold in missing if (record := folder.job(label, fold))]
        if stale:
            names = " and ".join(changes(stale[0], identity))
            folds = counted(len(stale), "fold")
            _log.info("%s changed: recomputing %s of %s", names, folds, label)
    for place in folder.root.glob("members/*/unfinished/*/*"):
        if place.name not in keys:  # checkpoints of an interrupted training with other inputs
            discard(place)
    if left:
        _log.info("%s of %s", counted(left.total(), "fold"), counted(len(left), "member"))

    def report_fold(task: FitTask) -> None:
        for fold in task.folds:
            on_fold(folder, task.label, fold)
            if not store.is_done(task.label, fold):
                raise MismatchError(
                    f"{task.name} was computed with other inputs than this process has now; keep them unchanged, "
                    "and the same for all workers"
                )
        if all(store.is_done(task.label, fold) for fold in numbers):
            _log.info("%s: all folds finished", task.label)

    members = {label: create(part.name, **part.settings) for label, part in store.parts.items()}
    fits = cross_fit(
        members, store.train, store.folds, store, new=store.test, execute=executor, finished=report_fold
    )
    return fits, len(members) * store.folds.k - left.total()


def _stack(recipe: Recipe, fits: CrossFit, store: RunStore) -> None:
    """Choose, fit, apply and store the stacker, unless the stored one has the same inputs."""
    folder, folds, labels = store.folder, store.folds, list(store.parts)
    jobs = [[folder.job(label, fold) for fold in range(folds.k)] for label in labels]
    identity = _identity_of_rows(store.train, store.test, folds)
    identity |= {"base_predictions": fingerprint(jobs)} | stack_identity(recipe)
    before = folder.stack()
    if before is not None:
        if before["key"] == key_of(identity):
            return
        changed = changes(before["identity"], identity)
        if changed and "base_predictions" not in changed:  # changes of members are logged already
            _log.info("%s changed: recomputing the stack", " and ".join(changed))
    _log.info("stacking")
    started = time.perf_counter()
    candidates = {part.label: create_stacker(part.name, **part.settings) for part in recipe.stackers}
    nested = fit_nested(
        candidates, fits.base_predictions, store.train, folds.assignment, recipe.calibrators, each=True
    )
    by_fold = [np.stack([fits.new[label][fold] for label in labels], axis=1) for fold in range(folds.k)]
    chosen = next(part for part in recipe.stackers if part.label == nested.name)
    record = {
        "key": key_of(identity),
        "stacker": chosen.name,
        "settings": chosen.settings,
        "seconds": time.perf_counter() - started,
        "calibration": nested.calibration,
        "note": nested.describe(),
        "members": labels,
        "stackers": list(nested.alone),
        "identity": identity,
        "versions": versions(),
    }
    with atomic_folder(folder.member(STACK)) as done:
        write_state(nested.fitted.state(), done)
        for place, stack in {".": nested, **nested.alone}.items():
            (done / place).mkdir(exist_ok=True)
            write_probabilities(done / place / "out_of_fold.parquet", store.train.ids, stack.out_of_fold)
            held_out = stack.fitted.predict_proba(by_fold, store.test)
            write_probabilities(done / place / "test.parquet", store.test.ids, held_out)
        seal(done / "stack.json", record, with_files=True)


def _identity_of_rows(train: Corpus, test: Corpus, folds: Folds) -> Identity:
    """Identity that all results of a run share."""
    return {
        "training rows": train.fingerprint,
        "labels": f"{train.label_set} {train.label_fingerprint}",
        "held-out rows": test.fingerprint,
        "folds": folds.fingerprint,
    }
