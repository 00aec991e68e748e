"""Search for a member's settings by Optuna, with the out-of-fold logloss on the recipe's training rows.

Trials are lines of JSON in a journal next to the run's folder, so that an interrupted search can be resumed. The best
of many trials is optimistic: compare it with the original settings on the held-out split.
"""

import tomllib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from gapstack.data import Corpus
from gapstack.data.folds import make_folds
from gapstack.errors import MemberError, RecipeError
from gapstack.evaluation import log_loss
from gapstack.files import locked
from gapstack.members import MEMBERS, create
from gapstack.members.identity import identity_of, key_of
from gapstack.members.part import Part, merged
from gapstack.progress import progress
from gapstack.registry import import_extra, unknown
from gapstack.runs.cross_validation import cross_validate
from gapstack.runs.folder import home
from gapstack.runs.recipe import Recipe
from gapstack.settings import FieldsOf, SettingError, bounds, settings_of

SearchSpace = Mapping[str, Any]
"""Optuna's distributions by the name of the setting; ``training.epochs`` is a field of the table ``training``."""


def read_space(path: Path, part: Part) -> SearchSpace:
    """Read a search space: ``rounds = { low = 100, high = 800, log = true }`` or ``order = { choices = [...] }``.

    Raises RecipeError if a name is not a setting, a value is invalid, or the file has no setting.
    """
    optuna = import_extra("optuna.distributions", "tune")
    warnings.filterwarnings("ignore", "Choices for a categorical distribution")  # lists are stored well
    space: dict[str, Any] = {}
    name = ""
    try:
        for name, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
            for value in table["choices"] if "choices" in table else (table["low"], table["high"]):
                MEMBERS.check(part.name, _nested(name, value))
            if "choices" in table:
                space[name] = optuna.CategoricalDistribution(**table)
            else:
                whole = isinstance(table["low"], int) and isinstance(table["high"], int)
                space[name] = (optuna.IntDistribution if whole else optuna.FloatDistribution)(**table)
    except SettingError as error:
        raise RecipeError(f"{path}: {error}") from None
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise RecipeError(f"{path}: {name}: not a range of a setting: {error}") from None
    if not space:
        raise RecipeError(f"{path}: no setting; expected such as: rounds = {{ low = 100, high = 800 }}")
    return space


def derived_space(part: Part, only: Sequence[str] = ()) -> SearchSpace:
    """Search space of a member's settings, or of ``only`` some of them, from their types.

    Numbers are searched from a quarter of their value to four times it, on a logarithmic scale, within their range;
    booleans and named values over all values.
    """
    values = create(part.name, **part.settings).get_params()
    space = dict(_derived(values, settings_of(MEMBERS[part.name])))
    for name in only:
        if name not in space:
            raise unknown(f"setting of {part.label} that can be searched", name, space)
    if not space:
        raise RecipeError(f"{part.label} has no setting that can be searched; state some with --ranges")
    return {name: space[name] for name in only} if only else space


def _derived(
    values: Mapping[str, Any], kinds: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    for name, kind in kinds.items():
        value = values.get(name)
        if isinstance(value, Mapping):
            # the tables that the type allows, alone or in a union
            for mark in [mark for option in (kind, *get_args(kind)) for mark in get_args(option)]:
                if isinstance(mark, FieldsOf):
                    yield from _derived(value, settings_of(mark.kind), f"{prefix}{name}.")
        elif name != "seed" and (distribution := _distribution(value, kind)):
            yield prefix + name, distribution


def _distribution(value: Any, kind: Any) -> Any:
    """Optuna's distribution of a setting around its value; None if it cannot be searched."""
    optuna = import_extra("optuna.distributions", "tune")
    if isinstance(value, bool):
        return optuna.CategoricalDistribution((False, True))
    if isinstance(value, str) and get_origin(kind) is Literal:
        return optuna.CategoricalDistribution(get_args(kind))
    limits = bounds(kind)
    if not isinstance(value, int | float) or value <= 0 or limits is None:
        return None
    low = max(value / 4, -inf if limits.ge is None else limits.ge)
    high = min(value * 4, inf if limits.le is None else limits.le)
    if limits.gt is not None and low <= limits.gt:
        low = (value + limits.gt) / 2
    if limits.lt is not None and high >= limits.lt:
        high = (value + limits.lt) / 2
    if isinstance(value, int):
        low, high = max(1, round(low)), int(high)
        return optuna.IntDistribution(low, high, log=True) if low < high else None
    return optuna.FloatDistribution(low, high, log=True) if 0 < low < high else None


def with_values(part: Part, values: Mapping[str, Any]) -> Part:
    """Return the part with changed settings; a dot separates a table and its field."""
    settings = part.settings
    for name, value in values.items():
        settings = merged(settings, _nested(name, value))
    return Part(part.name, part.label, settings)


def _nested(name: str, value: Any) -> dict[str, Any]:
    first, _, rest = name.partition(".")
    return {first: _nested(rest, value) if rest else value}


def values_of(part: Part, space: SearchSpace) -> dict[str, Any]:
    """Return the part's current values that lie in the space."""
    now: dict[str, Any] = {}
    for name, range_ in space.items():
        value: Any = create(part.name, **part.settings).get_params()
        for key in name.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if (
            value in range_.choices
            if hasattr(range_, "choices")
            else isinstance(value, int | float) and range_.low <= value <= range_.high
        ):
            now[name] = value
    return now


@dataclass(frozen=True)
class Trial:
    """Settings of one trial and their out-of-fold logloss; None if the member could not be fitted."""

    number: int
    values: Mapping[str, Any]
    logloss: float | None


@dataclass(frozen=True)
class Tuning:
    """Result of a search: trials in order, the best, the recipe's part with its settings, and the journal."""

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
    """
    optuna = import_extra("optuna", "tune")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    (part,) = recipe.restricted([label]).members
    folds = make_folds(train, recipe.folds, seed=recipe.seed)
    rows = [train.fingerprint, train.label_fingerprint, folds.fingerprint]
    dimensions = {name: vars(range_) for name, range_ in space.items()}
    folder = (root or home()) / "models" / f"{recipe.name}.tuning"
    with locked(folder):
        journal = folder / f"{label}.jsonl"
        backend = optuna.storages.journal.JournalFileBackend(str(journal))
        study = optuna.create_study(
            storage=optuna.storages.JournalStorage(backend),
            study_name=key_of(identity_of(create(part.name, **part.settings)), rows, dimensions),
            load_if_exists=True,
        )
        before = len(_finished_trials(study))
        # a continued search must not repeat the draws of the earlier one
        study.sampler = optuna.samplers.TPESampler(seed=recipe.seed + before)
        # an interrupted search may have begun this trial, and not ended it
        if not before and not any(
            trial.state.name == "WAITING" for trial in study.get_trials(deepcopy=False)
        ):
            study.enqueue_trial(values_of(part, space))
        with progress("trials", trials) as ticker:
            ticker.advance(before)
            for _ in range(trials - before):
                trial = study.ask(dict(space))
                variant = with_values(part, trial.params)
                member = create(variant.name, **variant.settings)
                try:
                    result = cross_validate(member, train, folds=recipe.folds, seed=recipe.seed)
                except MemberError:  # for example a loss of NaN, which ends the trial but not the search
                    study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                    continue
                logloss = log_loss(train.labels, result.probabilities)
                study.tell(trial, logloss)
                ticker.advance(note=f"logloss {logloss:.4f}")
    history = tuple(Trial(each.number, each.params, each.value) for each in _finished_trials(study))
    successes = [trial for trial in history if trial.logloss is not None]
    if not successes:
        raise MemberError(f"{label} could not be fitted in any of {len(history)} trials; see {journal}")
    best = min(successes, key=lambda trial: (trial.logloss, trial.number))
    return Tuning(history, best, with_values(part, best.values), journal)


def _finished_trials(study: Any) -> list[Any]:
    """Trials that ended; interrupted ones stay marked as running."""
    return [trial for trial in study.get_trials(deepcopy=False) if trial.state.name in ("COMPLETE", "PRUNED")]
