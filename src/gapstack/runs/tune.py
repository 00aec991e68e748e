"""Search of a member's settings by Optuna, on the out-of-fold logloss of the recipe's training rows.

Trials are lines of JSON in a journal next to the run's folder, so a killed search can be continued. The best of many
trials is somewhat optimistic: compare it with the original settings on the held-out split.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from gapstack.data import Corpus
from gapstack.data.folds import make_folds
from gapstack.errors import MemberError, RecipeError
from gapstack.evaluation import log_loss
from gapstack.members import MEMBERS, create
from gapstack.members.part import Part, merged
from gapstack.members.store import identity_of, key_of
from gapstack.progress import progress
from gapstack.registry import import_extra, unknown
from gapstack.runs.cross_validation import cross_validate
from gapstack.runs.folder import home, locked
from gapstack.runs.recipe import Recipe
from gapstack.settings import FieldsOf, SettingError, bounds, check, settings_of

_FACTOR = 4


@dataclass(frozen=True, slots=True)
class Dimension:
    """Values of one setting: from ``low`` to ``high``, uniform over the logarithm with ``log``, or ``choices``."""

    low: float = 0.0
    high: float = 0.0
    log: bool = False
    choices: Sequence[Any] = ()

    def suggest(self, trial: Any, name: str) -> Any:
        """Let an Optuna trial choose a value."""
        if self.choices:
            return self.read(trial.suggest_categorical(name, [self.stored(one) for one in self.choices]))
        whole = isinstance(self.low, int) and isinstance(self.high, int)
        suggest = trial.suggest_int if whole else trial.suggest_float
        return suggest(name, self.low, self.high, log=self.log)

    def stored(self, value: Any) -> Any:
        """A value as Optuna stores it; choices may be lists."""
        return json.dumps(value) if self.choices else value

    def read(self, value: Any) -> Any:
        """Inverse of :meth:`stored`."""
        return json.loads(value) if self.choices else value


SearchSpace = Mapping[str, Dimension]
"""Dimensions by the name of the setting; ``training.epochs`` is a field of the table ``training``."""


def read_space(path: Path, part: Part) -> SearchSpace:
    """Read a search space: ``rounds = { low = 100, high = 800, log = true }``, ``order = { choices = [...] }``."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        check(tables, Mapping[str, Annotated[Mapping[str, Any], FieldsOf(Dimension)]])
        space = {name: Dimension(**table) for name, table in tables.items()}
        for name, one in space.items():
            if not one.choices and not one.low < one.high:
                raise SettingError("expected choices, or low below high", (name,))
            if one.log and not one.low > 0:
                raise SettingError("a logarithmic scale begins above 0", (name, "low"))
            for value in one.choices or (one.low, one.high):
                MEMBERS.check(part.name, _nested(name, value))
    except SettingError as error:
        raise RecipeError(f"{path}: {error}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise RecipeError(
            f"{path}: not a search space: {getattr(error, 'strerror', None) or error}"
        ) from None
    if not space:
        raise RecipeError(
            f"{path}: no setting to search; expected such as: rounds = {{ low = 100, high = 800 }}"
        )
    return space


def derived_space(part: Part, only: Sequence[str] = ()) -> SearchSpace:
    """Search space from the types of a member's settings, or of ``only`` some of them."""
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
) -> Iterator[tuple[str, Dimension]]:
    for name, kind in kinds.items():
        value = values.get(name)
        if isinstance(value, Mapping):
            # the tables that the type allows, alone or in a union
            for mark in [mark for one in (kind, *get_args(kind)) for mark in get_args(one)]:
                if isinstance(mark, FieldsOf):
                    yield from _derived(value, settings_of(mark.kind), f"{prefix}{name}.")
        elif name != "seed" and (dimension := _dimension(value, kind)):
            yield prefix + name, dimension


def _dimension(value: Any, kind: Any) -> Dimension | None:
    if isinstance(value, bool):
        return Dimension(choices=(False, True))
    if isinstance(value, str) and get_origin(kind) is Literal:
        return Dimension(choices=get_args(kind))
    limits = bounds(kind)
    if not isinstance(value, int | float) or value <= 0 or limits is None:
        return None
    low = max(value / _FACTOR, -inf if limits.ge is None else limits.ge)
    high = min(value * _FACTOR, inf if limits.le is None else limits.le)
    if limits.gt is not None and low <= limits.gt:
        low = (value + limits.gt) / 2
    if limits.lt is not None and high >= limits.lt:
        high = (value + limits.lt) / 2
    if isinstance(value, int):
        low, high = max(1, round(low)), int(high)
    return Dimension(low, high, log=True) if 0 < low < high else None


def with_values(part: Part, values: Mapping[str, Any]) -> Part:
    """Return the part with other values of settings; dots lead into tables."""
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
    for name, one in space.items():
        value: Any = create(part.name, **part.settings).get_params()
        for key in name.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None and (value in one.choices if one.choices else one.low <= value <= one.high):
            now[name] = value
    return now


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
    rows, folds and space is continued until there are ``trials`` in total. Raises ExtraError if Optuna is not
    installed; UnknownNameError if the recipe has no such member; MemberError if no trial could be fitted; MismatchError
    if another process searches this member.
    """
    optuna = import_extra("optuna", "tune")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    (part,) = recipe.restricted([label]).members
    folds = make_folds(train, recipe.folds, seed=recipe.seed)
    rows = [train.fingerprint, train.label_fingerprint, folds.fingerprint]
    dimensions = {name: asdict(dimension) for name, dimension in space.items()}
    folder = (root or home()) / "models" / f"{recipe.name}.tuning"

    def out_of_fold(trial: Any) -> float:
        variant = with_values(part, {name: one.suggest(trial, name) for name, one in space.items()})
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
        backend = optuna.storages.journal.JournalFileBackend(str(journal))
        study = optuna.create_study(
            storage=optuna.storages.JournalStorage(backend),
            study_name=key_of(identity_of(create(part.name, **part.settings)), rows, dimensions),
            load_if_exists=True,
        )
        before = len(_finished(study))
        # a continued search must not repeat the draws of the earlier one
        study.sampler = optuna.samplers.TPESampler(seed=recipe.seed + before)
        if not before:
            start = {name: space[name].stored(value) for name, value in values_of(part, space).items()}
            study.enqueue_trial(start, skip_if_exists=True)
        with progress("trials", trials) as ticker:
            ticker.advance(before)
            study.optimize(out_of_fold, n_trials=max(0, trials - before))
    history = tuple(
        Trial(one.number, {name: space[name].read(value) for name, value in one.params.items()}, one.value)
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
