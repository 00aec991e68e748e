"""A run, from recipe to submission.

Each member predicts the rows that it was not fitted on: out of fold for the training splits, by each fold's fit for the
held-out split. A stacker, chosen by nested cross-validation, is fitted on these base predictions. For held-out rows it
is applied to the base predictions of each fold, and the results are averaged.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.corpus import Corpus
from gapstack.corpus.folds import Folds, make_folds
from gapstack.corpus.writers import write_submission
from gapstack.ensemble import create_stacker
from gapstack.ensemble.fitted_stacker import FittedStacker
from gapstack.errors import DataError, MemberError, MismatchError
from gapstack.files import atomic_folder, fingerprint, sweep
from gapstack.members import create
from gapstack.members.inputs import Identity, changes
from gapstack.members.member import Probabilities, each_once
from gapstack.members.store import write_state
from gapstack.progress import progress
from gapstack.runs.choice import describe_choice
from gapstack.runs.corpora import corpora
from gapstack.runs.estimate import plan_of, say_cost
from gapstack.runs.executors import Executor, create_executor
from gapstack.runs.folder import RunFolder, home, read_probabilities, write_probabilities
from gapstack.runs.identity import again, key_of, of_rows, of_stack
from gapstack.runs.jobs import Job, Together, tasks
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.versions import versions
from gapstack.sealed import seal
from gapstack.training.devices import started_together

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Result:
    """Probabilities of one member, or of the stack: ``out_of_fold`` (n_train, 3) and ``test`` (n_test, 3).

    ``seconds`` is the time it took to compute, None if unknown; ``parameters`` the number of parameters of one fold's
    fit; ``contaminated_by`` names test sets that share rows with its training data.
    """

    label: str
    out_of_fold: Probabilities
    test: Probabilities
    seconds: float | None
    parameters: int = 0
    contaminated_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """A finished run."""

    recipe: Recipe
    folder: RunFolder
    train: Corpus
    test: Corpus
    members: tuple[Result, ...]
    stack: Result | None
    stack_note: str
    submission: Path
    reused: int


def run(
    recipe: Recipe | str | Path,
    train: Corpus | None = None,
    test: Corpus | None = None,
    *,
    data: str | None = None,
    root: Path | None = None,
    fresh: bool = False,
    executor: Executor | None = None,
    checkpoint_seconds: float = 120.0,
    tensorboard: bool = False,
    on_fold: Callable[[RunFolder, str, int], None] | None = None,
) -> Run:
    """Execute a recipe; resumes an earlier, perhaps killed, call, and repeats results that are damaged.

    Progress and damaged results are logged at INFO.

    Parameters
    ----------
    recipe : Recipe, str or Path
        Or the name of one that comes with the package, or a TOML file, or the folder of a run.
    train, test : Corpus, optional
        Labelled corpus to cross-validate on, and rows to hold out (their labels are not looked at here). Both or
        neither: by default the recipe's splits of GAP, as :func:`~gapstack.runs.corpora.corpora` loads them.
    data : str, optional
        Folder to look for GAP in first, or ``sample`` for the embedded sample.
    root : Path, optional
        Folder for ``models/`` and ``submissions/``; :func:`~gapstack.runs.folder.home` by default.
    fresh : bool
        Discard an earlier run of this name.
    executor : Executor, optional
        Executes the jobs, one for each member and fold; this process by default. It changes no result.
    checkpoint_seconds : float
        Minimum time between two checkpoints of a fine-tuned member.
    tensorboard : bool
        Write TensorBoard event files for each member that is fine-tuned.
    on_fold : callable, optional
        Called in this process with the run's folder, the member's label and the fold when one is finished, and for
        those of an earlier call at the start.

    Raises
    ------
    MismatchError
        If the run's folder holds results on other corpora, labels or folds.
    RecipeError
        If there is no such recipe, or a member trains on other data that share rows with its test splits.
    DataError
        If one of ``train`` and ``test`` is given without the other.
    MemberError
        If TensorBoard is not installed, a job kills its workers, or ``torchrun`` started several processes.
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
            f"{started_together()} processes were started together for one run, which spreads its members and folds "
            "over processes itself: start it without torchrun or accelerate launch, with --workers"
        )
    if tensorboard and find_spec("tensorboard") is None:
        raise MemberError("TensorBoard is not installed; run: pip install 'gapstack[tensorboard]'")
    root = root or home()
    folder = RunFolder(root / "models" / recipe.name)
    with folder.locked():
        folds = make_folds(train, recipe.folds, seed=recipe.seed)
        damaged = folder.claim(_manifest(recipe, train, test, folds), fresh=fresh)
        damaged += folder.repair([part.label for part in recipe.members], folds.k)
        if damaged:
            _log.info("damaged and made again: %s", ", ".join(damaged))
        folds.save(folder.root / "folds.json")
        jobs = {
            part.label: [
                Job(part, fold, folds, train, test, checkpoint_seconds, tensorboard)
                for fold in range(folds.k)
            ]
            for part in recipe.members
        }
        reused = _do_jobs(recipe, jobs, folder, executor or create_executor(), on_fold)
        members = tuple(_collect(part, folds, train, test, folder) for part in recipe.members)
        stack, note = None, ""
        if recipe.stacked:
            _log.info("stacking")
            stack, note = _stack(recipe, members, folds, train, test, folder)
            stack = replace(stack, contaminated_by=each_once(*(member.contaminated_by for member in members)))
        best = stack or members[-1]
        submission = root / "submissions" / f"{recipe.name}.csv"
        sweep(submission.parent)
        write_submission(submission, test.ids, best.test)
    return Run(recipe, folder, train, test, members, stack, note, submission, reused)


def _manifest(recipe: Recipe, train: Corpus, test: Corpus, folds: Folds) -> dict[str, Any]:
    rows = {"train": [train.name, len(train)], "test": [test.name, len(test)]}
    return {
        "format": 1,
        "recipe": recipe.as_dict(),
        "identity": of_rows(train, test, folds),
        "rows": rows,
        "versions": versions(),
    }


def _do_jobs(
    recipe: Recipe,
    jobs: dict[str, list[Job]],
    folder: RunFolder,
    execute: Executor,
    on_fold: Callable[[RunFolder, str, int], None] | None,
) -> int:
    """Execute unfinished jobs; return the number of folds that were finished already."""
    todo = {label: [job for job in group if not job.is_done(folder)] for label, group in jobs.items()}
    todo = {label: group for label, group in todo.items() if group}
    open_jobs = [job for group in todo.values() for job in group]
    folder.sweep({job.key for job in open_jobs})
    reused = sum(map(len, jobs.values())) - len(open_jobs)
    if on_fold:
        for label, group in jobs.items():
            for fold in sorted({job.fold for job in group} - {job.fold for job in todo.get(label, ())}):
                on_fold(folder, label, fold)
    if not open_jobs:
        return reused
    redone = again(_recorded(job, folder) for job in open_jobs)
    if redone:
        _log.info(redone)
    first = open_jobs[0]
    plan = plan_of(recipe, first.train, first.test) if _log.isEnabledFor(logging.INFO) else None
    if plan:
        seconds = plan.seconds({label: len(group) for label, group in todo.items()})
        _log.info("expected: %s in each process, by estimate", say_cost(seconds, plan.memory(todo)))
    _log.info("views of %d members", len(todo))
    costs = {label: plan.shared_seconds(label) if plan else 1.0 for label in todo}
    with progress("views", sum(costs.values()), weighted=True) as ticker:
        for label, group in todo.items():
            started, part = time.perf_counter(), group[0].part
            ticker.advance(0, note=f"now {label}")
            create(part.name, **part.settings).prepare(_both(group[0].train, group[0].test))
            if len(group) == len(
                jobs[label]
            ):  # a resumed member found its views in the cache: keep their cost
                folder.note_view_seconds(label, time.perf_counter() - started)
            ticker.advance(costs[label])
    _log.info("%d folds of %d members", len(open_jobs), len(todo))
    left = {label: len(group) for label, group in todo.items()}
    costs = {label: plan.fold_seconds(label) if plan else 1.0 for label in todo}
    waiting = tasks(open_jobs)
    total = sum(costs[job.part.label] for job in open_jobs)
    with progress("members x folds", total, weighted=True) as ticker:
        ticker.advance(0, note=f"now {waiting[0].name}")

        def report(task: Job | Together) -> None:
            label = task.part.label
            for job in task.jobs:
                if on_fold:
                    on_fold(folder, label, job.fold)
            left[label] -= len(task.jobs)
            waiting.remove(task)
            done = f"{len(open_jobs) - sum(left.values())} of {len(open_jobs)} done"
            # tasks begin in their order: the first that is not done is running
            now = f", now {waiting[0].name}" if waiting else ""
            ticker.advance(len(task.jobs) * costs[label], note=done + now)
            if not left[label]:
                seconds = sum((folder.job(label, one.fold) or {})["seconds"] for one in todo[label])
                _log.info("%s: %d folds in %.1f s", label, len(todo[label]), seconds)

        execute(list(waiting), folder, report)
    different = [job for job in open_jobs if not job.is_done(folder)]
    if different:
        raise MismatchError(
            f"{different[0].name} was not made of what this process sees: workers must have the same files, package "
            f"and environment ({again([_recorded(different[0], folder)])})"
        )
    return reused


def _recorded(job: Job, folder: RunFolder) -> tuple[str, dict[str, Any] | None, Identity]:
    return job.part.label, folder.job(job.part.label, job.fold), job.identity


def _both(train: Corpus, test: Corpus) -> Corpus:
    """All rows of a run in one corpus, for views that are computed in one pass without labels."""
    seen = set(train.ids)
    return Corpus([*train, *(example for example in test if example.id not in seen)], name="all rows")


def _collect(part: Part, folds: Folds, train: Corpus, test: Corpus, folder: RunFolder) -> Result:
    """Combine a member's folds and store the result beside them."""
    out_of_fold = np.empty((len(train), 3))
    tests, seconds, parameters = [], folder.view_seconds(part.label), 0
    for fold in range(folds.k):
        place, held_rows = folder.fold(part.label, fold), folds.split(fold)[1]
        out_of_fold[held_rows] = read_probabilities(place / "held.parquet", train.take(held_rows).ids)
        tests.append(read_probabilities(place / "test.parquet", test.ids))
        record = folder.job(part.label, fold) or {}
        parameters = record.get("parameters", 0)
        if seconds is not None:
            seconds += record["seconds"]
    contaminated_by = create(part.name, **part.settings).contaminated_by
    result = Result(part.label, out_of_fold, np.mean(tests, axis=0), seconds, parameters, contaminated_by)
    _write(result, train, test, folder.member(part.label))
    return result


def _write(result: Result, train: Corpus, test: Corpus, place: Path) -> None:
    write_probabilities(place / "out_of_fold.parquet", train.ids, result.out_of_fold)
    write_probabilities(place / "test.parquet", test.ids, result.test)


def _stack(
    recipe: Recipe,
    members: Sequence[Result],
    folds: Folds,
    train: Corpus,
    test: Corpus,
    folder: RunFolder,
) -> tuple[Result, str]:
    """Choose, fit and apply the stacker, or reuse the one of an earlier call if nothing changed."""
    place = folder.member("stack")
    jobs = [[folder.job(part.label, fold) for fold in range(folds.k)] for part in recipe.members]
    identity = of_rows(train, test, folds) | {"base_predictions": fingerprint(jobs)} | of_stack(recipe)
    key = key_of(identity)
    record = folder.stack() or {}
    if record.get("key") != key:
        changed = changes(record.get("identity", {}), identity) if record else []
        if changed and "base_predictions" not in changed:  # changed members have been logged already
            _log.info("%s changed: the stack again", " and ".join(changed))
        started = time.perf_counter()
        base_predictions = np.stack([member.out_of_fold for member in members], axis=1)
        candidates = {part.label: create_stacker(part.name, **part.settings) for part in recipe.stackers}
        stack, nested = FittedStacker.fit(
            candidates, recipe.calibrators, base_predictions, train, folds.assignment
        )
        kind = next(part for part in recipe.stackers if part.label == nested.name)
        labels = [part.label for part in recipe.members]
        by_fold = [folder.base_predictions(labels, fold, test.ids) for fold in range(folds.k)]
        probabilities = stack.predict_proba(by_fold, test)
        seconds = time.perf_counter() - started
        record = {
            **{"key": key, "stacker": kind.name, "settings": kind.settings, "seconds": seconds},
            "calibration": nested.calibration,
            **{"note": describe_choice(nested), "members": [part.label for part in recipe.members]},
            **{"identity": identity, "versions": versions()},
        }
        with atomic_folder(place) as done:
            write_state(stack.state(), done)
            _write(Result("stack", nested.out_of_fold, probabilities, seconds), train, test, done)
            seal(done / "stack.json", record, beside=True)
    out_of_fold = read_probabilities(place / "out_of_fold.parquet", train.ids)
    held_out = read_probabilities(place / "test.parquet", test.ids)
    return Result("stack", out_of_fold, held_out, record["seconds"]), record["note"]
