"""Search of a member's settings by Optuna, on the out-of-fold logloss of the recipe's training rows.

Trials are lines of JSON in a journal next to the run's folder, so a killed search can be continued. The best of many
trials is somewhat optimistic: compare it with the original settings on the held-out split.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gapstack.data import Corpus
from gapstack.data.folds import make_folds
from gapstack.errors import ExtraError, MemberError
from gapstack.evaluation import log_loss
from gapstack.members import create
from gapstack.members.identity import key_of
from gapstack.progress import progress
from gapstack.runs.cross_validation import cross_validate
from gapstack.runs.folder import home, locked
from gapstack.runs.identity import of_part
from gapstack.runs.recipe import Part, Recipe
from gapstack.runs.search_space import Dimension, SearchSpace, values_of, with_values


@dataclass(frozen=True)
class Trial:
    """One choice of settings and its out-of-fold logloss; None if the member could not be fitted."""

    number: int
    values: Mapping[str, Any]
    logloss: float | None


@dataclass(frozen=True)
class Tuning:
    """A search: its trials in order, the best one, the recipe part with its settings, and the journal."""

    trials: tuple[Trial, ...]
    best: Trial
    part: Part
    journal: Path


def tune(
    recipe: Recipe, label: str, train: Corpus, space: SearchSpace, *, trials: int, root: Path | None = None
) -> Tuning:
    """Search the settings of a recipe's member by the tree-structured Parzen estimator (Bergstra et al. 2011).

    The first trial has the member's current settings, if they lie in the space. An earlier search of the same member,
    rows, folds and space is continued until there are ``trials`` in total.

    Parameters
    ----------
    recipe : Recipe
    label : str
        Label of the member.
    train : Corpus
        The recipe's training rows, labelled.
    space : SearchSpace
    trials : int
        Total number of trials.
    root : Path, optional
        Folder for ``models/``; :func:`~gapstack.runs.folder.home` by default.

    Raises
    ------
    ExtraError
        If Optuna is not installed.
    UnknownNameError
        If the recipe has no such member.
    MemberError
        If no trial could be fitted.
    MismatchError
        If another process searches this member.
    """
    try:
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend
    except ImportError:
        raise ExtraError("Optuna", "tune") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    (part,) = recipe.restricted([label]).members
    folds = make_folds(train, recipe.folds, seed=recipe.seed)
    rows = [train.fingerprint, train.label_fingerprint, folds.fingerprint]
    dimensions = {name: asdict(dimension) for name, dimension in space.items()}
    folder = (root or home()) / "models" / f"{recipe.name}.tuning"

    def out_of_fold(trial: optuna.Trial) -> float:
        values = {name: _suggested(trial, name, dimension) for name, dimension in space.items()}
        variant = with_values(part, values)
        member = create(variant.name, **variant.settings)
        try:
            result = cross_validate(member, train, folds=recipe.folds, seed=recipe.seed)
        except MemberError as error:  # for example a loss of NaN: ends the trial, not the search
            raise optuna.TrialPruned(str(error)) from None
        logloss = log_loss(train.labels, result.probabilities)
        ticker.advance(note=f"logloss {logloss:.4f}")
        return logloss

    with locked(folder):
        journal = folder / f"{label}.jsonl"
        study = optuna.create_study(
            storage=JournalStorage(JournalFileBackend(str(journal))),
            study_name=key_of(of_part(part), rows, dimensions),
            load_if_exists=True,
        )
        before = len(_finished(study))
        # a continued search must not repeat the draws of the earlier one
        study.sampler = optuna.samplers.TPESampler(seed=recipe.seed + before)
        if not before:
            start = {name: _stored(value, space[name]) for name, value in values_of(part, space).items()}
            study.enqueue_trial(start, skip_if_exists=True)
        with progress("trials", trials) as ticker:
            ticker.advance(before)
            study.optimize(out_of_fold, n_trials=max(0, trials - before))
    history = tuple(
        Trial(one.number, {name: _read(value, space[name]) for name, value in one.params.items()}, one.value)
        for one in _finished(study)
    )
    successes = [trial for trial in history if trial.logloss is not None]
    if not successes:
        raise MemberError(f"{label} could not be fitted in any of {len(history)} trials; see {journal}")
    best = min(successes, key=lambda trial: (trial.logloss, trial.number))
    return Tuning(history, best, with_values(part, best.values), journal)


def _finished(study: Any) -> list[Any]:
    """Trials that ended; interrupted ones are still marked as running, or failed."""
    return [trial for trial in study.get_trials(deepcopy=False) if trial.state.name in ("COMPLETE", "PRUNED")]


def _suggested(trial: Any, name: str, dimension: Dimension) -> Any:
    if dimension.choices:
        return _read(
            trial.suggest_categorical(name, [_stored(one, dimension) for one in dimension.choices]), dimension
        )
    whole = isinstance(dimension.low, int) and isinstance(dimension.high, int)
    suggest = trial.suggest_int if whole else trial.suggest_float
    return suggest(name, dimension.low, dimension.high, log=dimension.log)


def _stored(value: Any, dimension: Dimension) -> Any:
    """A value as Optuna stores it; choices may be lists."""
    return json.dumps(value) if dimension.choices else value


def _read(value: Any, dimension: Dimension) -> Any:
    return json.loads(value) if dimension.choices else value
