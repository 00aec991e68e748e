"""Cross-fitting of members, and the stack: members pooled by a stacker, itself a member (Wolpert 1992)."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count

import numpy as np

from gapstack.data import Corpus
from gapstack.data.folds import Folds as Assignment
from gapstack.data.folds import make_folds
from gapstack.ensemble import CalibratorName, StackerPart, create_stacker
from gapstack.ensemble.nested import FittedStacker, fit_nested
from gapstack.ensemble.stacker import EVIDENCE, Stacker
from gapstack.errors import DataError, MemberError
from gapstack.features import BLOCKS_READ
from gapstack.members import MEMBERS, create
from gapstack.members.adapters import part_of
from gapstack.members.learned_state import State
from gapstack.members.member import Member
from gapstack.members.part import MemberPart, Part
from gapstack.processes import Executor, fork_count, in_order, in_processes
from gapstack.progress import progress
from gapstack.settings import FoldCount, ReadInput, Seed, SettingError
from gapstack.types import BasePredictions, Probabilities

_MIN_FOLDS = 3


@dataclass(frozen=True)
class FoldFit:
    """A member fitted without one fold, and its probabilities of that fold's rows and of new rows."""

    member: Member
    held: Probabilities
    new: Probabilities
    seconds: float


class FitStore:
    """Keeps the fits of members by label and fold: here in memory; subclasses store them elsewhere."""

    def __init__(self) -> None:
        self.fits: dict[tuple[str, int], FoldFit] = {}

    def is_done(self, label: str, fold: int) -> bool:
        """True if a fit is stored that the current data, settings and inputs would give."""
        return (label, fold) in self.fits

    def training(self, label: str, fold: int) -> AbstractContextManager[object]:
        """Surround the training of one fold, or of all folds (``fold`` is the first missing one)."""
        return nullcontext()

    def put(self, label: str, fold: int, fit: FoldFit) -> None:
        """Store a fit; it appears whole or not at all."""
        self.fits[label, fold] = fit

    def predictions(self, label: str, fold: int) -> tuple[Probabilities, Probabilities]:
        """Return the probabilities of the fold's rows and of the new rows."""
        return self.fits[label, fold].held, self.fits[label, fold].new


@dataclass(frozen=True)
class FitTask:
    """Fit a member without each of ``folds``: one fold, or all unfinished ones if the member learns them together."""

    label: str
    member: Member
    folds: tuple[int, ...]

    @property
    def name(self) -> str:
        """Name for display."""
        together = self.member.LEARNS_TOGETHER
        return f"{self.label}, {'all folds' if together else f'fold {self.folds[0]}'}"


@dataclass(frozen=True)
class CrossFit:
    """Probabilities of members fitted without each fold: ``out_of_fold`` (n, 3), and ``new`` (n_new, 3) by fold."""

    out_of_fold: dict[str, Probabilities]
    new: dict[str, list[Probabilities]]

    @property
    def base_predictions(self) -> BasePredictions:
        """Out-of-fold probabilities of all members, (n, m, 3)."""
        return np.stack(list(self.out_of_fold.values()), axis=1)


def cross_fit(
    members: Mapping[str, Member],
    corpus: Corpus,
    folds: Assignment,
    store: FitStore,
    *,
    new: Corpus | None = None,
    execute: Executor = in_order,
    finished: Callable[[FitTask], None] = lambda task: None,
) -> CrossFit:
    """Fit each unfitted member without each fold of labelled rows, and predict that fold and the ``new`` rows.

    Fits in ``store`` are not repeated; ``finished`` is called in this process after each task.
    """
    new = Corpus([]) if new is None else new
    tasks: list[FitTask] = []
    for label, member in members.items():
        missing = tuple(fold for fold in range(folds.k) if not store.is_done(label, fold))
        groups = [missing] if member.LEARNS_TOGETHER and missing else [(fold,) for fold in missing]
        tasks += [FitTask(label, member, group) for group in groups]
    waiting = {task.label: task.member for task in tasks}
    known = set(corpus.ids)
    everything = Corpus([*corpus, *(row for row in new if row.id not in known)], name="all rows")
    with progress("computing features", len(waiting)) as ticker:
        for label, member in waiting.items():
            ticker.advance(0, note=label)
            member.prepare(everything)
            ticker.advance()
    with progress("fitting", sum(len(task.folds) for task in tasks)) as ticker:
        for task, _ in execute(partial(_fit, corpus=corpus, folds=folds, new=new, store=store), tasks):
            ticker.advance(len(task.folds), note=task.name)
            finished(task)
    out_of_fold = {label: np.empty((len(corpus), 3)) for label in members}
    of_new: dict[str, list[Probabilities]] = {label: [] for label in members}
    for label in members:
        for fold in range(folds.k):
            held, predicted = store.predictions(label, fold)
            out_of_fold[label][folds.split(fold)[1]] = held
            of_new[label].append(predicted)
    return CrossFit(out_of_fold, of_new)


def small_fits_in_forks(
    function: Callable[[FitTask], None], tasks: Iterable[FitTask], rows: int
) -> Iterator[tuple[FitTask, None]]:
    """The executor of one worker whose store is on disk: it fits members of one thread several at once, in forks."""
    tasks = list(tasks)
    small = [task for task in tasks if task.member.ONE_THREAD]
    # the longest first, so that processes finish together
    small.sort(key=lambda task: len(task.folds), reverse=True)
    yield from in_order(function, [task for task in tasks if not task.member.ONE_THREAD])

    def fit(number: int) -> int:
        function(small[number])
        return number

    for number in in_processes(fit, range(len(small)), fork_count(len(small), rows)):
        yield small[number], None


def _fit(task: FitTask, corpus: Corpus, folds: Assignment, new: Corpus, store: FitStore) -> None:
    """Execute a task; members that learn all folds together do so whichever folds are missing."""
    started = time.perf_counter()
    together = task.member.LEARNS_TOGETHER
    numbers = range(folds.k) if together else task.folds
    with store.training(task.label, task.folds[0]):
        fits = task.member.fit_each([corpus.take(folds.split(fold)[0]) for fold in numbers])
    seconds = (time.perf_counter() - started) / len(task.folds)
    for fold in task.folds:
        started, member = time.perf_counter(), fits[fold if together else 0]
        held = member.predict_proba(corpus.take(folds.split(fold)[1]))
        predicted = member.predict_proba(new)
        store.put(task.label, fold, FoldFit(member, held, predicted, seconds + time.perf_counter() - started))


class Stack(Member):
    """Cross-fitted members and the stacker that suits them best.

    ``fit`` cross-fits the members over page-grouped folds and chooses, fits and calibrates a stacker on their
    out-of-fold predictions. New rows are predicted by the members of every fold: the stacker pools each fold's members,
    and the result is the mean over folds. ``fits_`` has each fold's fitted members by label, ``stacker_`` the fitted
    stacker, and ``out_of_fold_`` (n, 3) the nested out-of-fold predictions (not stored). ``fit`` raises MemberError
    without members, or for a corpus with too few pages or rows of each kind for 3 folds.
    """

    members: Sequence[MemberPart] = ()
    """Names, tables of name, label and settings, or Member objects, which are fitted again; labels differ."""
    stackers: Sequence[StackerPart] = ("simplex", "conditional")
    """Stackers to choose from, the preferred first."""
    calibrators: Sequence[CalibratorName] = ("none",)
    """Calibrators to choose from, the preferred first."""
    folds: FoldCount = 5
    """Folds of the members' cross-validation; fewer where the corpus has too few pages, but at least 3."""
    seed: Seed = 0
    """Seed of the assignment to folds."""

    def parts(self) -> Mapping[str, Member]:
        """Return its members by label, unfitted; SettingError for invalid ones or repeated labels.

        An object is numbered if its label is taken: ``surface``, ``surface_2``.
        """
        parts: dict[str, Member] = {}
        for given, part in zip(self.members, self._listed("members"), strict=True):
            if part.label in parts:
                raise SettingError(
                    f"label {part.label} is used twice; give each member its own", ("members",)
                )
            if isinstance(given, Member) and MEMBERS.find(type(given)) is None:
                parts[part.label] = given
            else:
                parts[part.label] = create(part.name, **part.settings)
        return parts

    def reads(self) -> dict[str, ReadInput]:
        """Add the blocks of features that stackers read."""
        evidence = any(stacker.READS_EVIDENCE for stacker in self._candidates().values())
        return super().reads() | ({"blocks": BLOCKS_READ.of(EVIDENCE)} if evidence else {})

    def _candidates(self) -> dict[str, Stacker]:
        candidates: dict[str, Stacker] = {}
        for part in self._listed("stackers"):
            if part.label in candidates:
                raise SettingError(f"label {part.label} is used twice; give each its own", ("stackers",))
            candidates[part.label] = create_stacker(part.name, **part.settings)
        return candidates

    def _listed(self, setting: str) -> list[Part]:
        parts: list[Part] = []
        for number, given in enumerate(getattr(self, setting), 1):
            if isinstance(given, Member):
                part, taken = part_of(given), {part.label for part in parts}
                labels = chain([part.label], (f"{part.label}_{k}" for k in count(2)))
                parts.append(replace(part, label=next(label for label in labels if label not in taken)))
            elif isinstance(given, str) or "name" in given:
                parts.append(Part.of(given))
            else:
                raise SettingError(
                    "has no name; expected a name, or a table with name", (setting, f"item {number}")
                )
        return parts

    def _prepare(self, corpus: Corpus) -> None:
        # fitted members do not need their training inputs, such as a teacher's rows
        for member in (self.fits_[0] if hasattr(self, "fits_") else self.parts()).values():
            member.prepare(corpus)

    def _fit(self, corpus: Corpus) -> None:
        if not self.members:
            raise MemberError("a stack needs members; name some")
        if self.augment:
            # a copy shares its row's label, and a page of its own would put the two into different folds
            raise SettingError("a stack's members augment their own rows; set it there", ("augment",))
        members, folds, store = self.parts(), self._assignment(corpus), FitStore()
        base_predictions = cross_fit(members, corpus, folds, store).base_predictions
        self.fits_ = [{label: store.fits[label, fold].member for label in members} for fold in range(folds.k)]
        nested = fit_nested(self._candidates(), base_predictions, corpus, folds.assignment, self.calibrators)
        self.stacker_, self.out_of_fold_ = nested.fitted, nested.out_of_fold
        self.choice_ = next(part for part in self._listed("stackers") if part.label == nested.name)
        self.calibration_ = nested.calibration

    def _assignment(self, corpus: Corpus) -> Assignment:
        """The folds of the setting, or fewer if the corpus has too few pages or rows of the commonest kind."""
        strata = Counter(zip(corpus.genders.tolist(), corpus.labels.tolist(), strict=True))
        most = min(self.folds, len(set(corpus.groups)), max(strata.values()))
        for k in range(most, _MIN_FOLDS - 1, -1):
            try:
                return make_folds(corpus, k, seed=self.seed)
            except DataError:  # a fold would be empty
                continue
        raise MemberError(
            f"{corpus.name} has too few pages or rows of each kind to stack members on: {len(corpus)} rows of "
            f"{len(set(corpus.groups))} pages cannot be cut into {_MIN_FOLDS} folds. Give more labelled rows"
        )

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        self._prepare(corpus)
        by_fold = [
            np.stack([member.predict_proba(corpus) for member in fits.values()], axis=1)
            for fits in self.fits_
        ]
        return self.stacker_.predict_proba(by_fold, corpus)

    def _state(self) -> State:
        states = {"stacker.": self.stacker_.state()}
        for fold, fits in enumerate(self.fits_):
            for number, member in enumerate(fits.values()):
                states[f"member-{number}.fold-{fold}."] = member.state()
        return State.joined(
            states,
            folds=len(self.fits_),
            stacker=self.choice_.name,
            settings=self.choice_.settings,
            calibration=self.calibration_,
        )

    def _restore(self, state: State) -> None:
        values = state.values
        self.choice_ = Part(values["stacker"], values["stacker"], values["settings"])
        self.calibration_ = values["calibration"]
        self.stacker_ = FittedStacker.restored(
            self.choice_.name, self.choice_.settings, self.calibration_, state.part("stacker.")
        )
        self.fits_ = [
            {
                label: member.restore(state.part(f"member-{number}.fold-{fold}."))
                for number, (label, member) in enumerate(self.parts().items())
            }
            for fold in range(values["folds"])
        ]
