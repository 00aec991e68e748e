"""One audit: every suite with data, on every system that was not trained on it."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gapstack.audits.audit_report import MARK, Audit, SuiteAudit
from gapstack.audits.find_candidates import NOTE, CandidateFinder, with_found
from gapstack.audits.gap import GapTest
from gapstack.audits.gender_agreement import SURNAMES, TWO_GENDERS
from gapstack.audits.sowinobias import SoWinoBias
from gapstack.audits.suite import Items, Suite
from gapstack.audits.targets import Target, target_of
from gapstack.audits.two_names import DPR, GICOREF, KNOWREF, MAP, WINOGRANDE, WSC273
from gapstack.audits.winobias import WinoBias
from gapstack.audits.winogender import Winogender
from gapstack.data import Corpus
from gapstack.data.augment import average as average_variants
from gapstack.data.augment import variants
from gapstack.data.contamination import is_presumed
from gapstack.data.gap_files import write_gap
from gapstack.data.sources import searches_data
from gapstack.errors import DataError, DataNotFoundError, MemberError
from gapstack.members.member import Predictor, unique
from gapstack.processes import create_executor
from gapstack.progress import progress
from gapstack.records import versions
from gapstack.registry import Registry
from gapstack.types import Floats

_log = logging.getLogger(__name__)

_ALL: tuple[Suite, ...] = (
    Winogender(),
    WinoBias(),
    SoWinoBias(),
    GapTest(),
    GICOREF,
    MAP,
    KNOWREF,
    DPR,
    WSC273,
    WINOGRANDE,
    SURNAMES,
    TWO_GENDERS,
)
SUITES: Registry[Suite] = Registry("suite", {suite.name: suite for suite in _ALL})
"""Suites by name, in the order of the report."""

NO_SUITE = {
    "bug": "a sentence has one person and a pronoun for that person; the other professions in 225 of 1,717 "
    'sentences are unchecked, and mostly not another person ("a specialist still life painter")',
    "pdp": "the pronouns of the available copy are masked, and no schema has two first names of one gender, "
    "which would determine the pronoun",
}
"""Known test sets that are not a suite, and why."""


@searches_data
def audit(
    target: Target | Predictor | Mapping[str, Predictor] | str | Path,
    data: Path | None = None,
    suites: Sequence[str] | None = None,
    *,
    allow_contaminated: bool = False,
    average: Sequence[str] = (),
    all_rows: bool = False,
    limit: int | None = None,
    find_candidates: bool = False,
    workers: int = 1,
    executor: str = "loky",
) -> Audit:
    """Measure gender bias on benchmark suites.

    Parameters
    ----------
    target : Predictor, mapping of name to Predictor, str or Path
        Fitted members; or a run, ``RUN:MEMBER``, a saved member's folder, or a folder of prediction files.
    data : Path, optional
        Folder to search for data first.
    suites : sequence of str, optional
        Keys of :data:`SUITES`; by default all that have data.
    allow_contaminated : bool
        Include systems that were trained on a suite's rows, and mark them.
    average : sequence of str
        Test-time augmentations, such as ``swap_gender``, averaged together with the original rows.
    all_rows : bool
        Use all rows of suites that are sampled by default.
    limit : int, optional
        For a trial, use about this many rows of each suite, spread over it; compared sentences stay together.
    find_candidates : bool
        Show the systems only the text and the pronoun, without the two names.
    workers, executor : int, str
        Number of suites that run at once, and joblib's backend, as in :func:`gapstack.run`.

    Returns
    -------
    Audit
        Print it, or see :meth:`Audit.report`.

    Raises
    ------
    UnknownNameError
        If a suite is unknown.
    MemberError
        If ``find_candidates`` is set for files, or several workers for objects, which workers cannot load.
    DataError
        If ``average`` or ``limit`` is set for files of answers, or a data file is invalid.
    """
    selected = {name: SUITES[name] for name in (SUITES if suites is None else suites)}
    if isinstance(target, str | Path):
        target = target_of(str(target), list(SUITES))
    elif not isinstance(target, Target):
        systems = {type(target).__name__: target} if isinstance(target, Predictor) else target
        target = Target(systems, ", ".join(systems))
    execute, by_name = create_executor(workers, executor), target.loads
    if workers > 1 and by_name is None:
        raise MemberError("workers load what they audit by its name; give the name instead of the predictor")
    if find_candidates:
        note = "; ".join(filter(None, (target.note, NOTE)))
        target = replace(target, systems=_finders(target.systems), note=note)
    systems = target.systems
    if average and any(system.stored for system in systems.values()):
        raise DataError(
            "probabilities of a file cannot be averaged over augmented rows",
            expected="a run or a member for average",
        )
    if limit is not None and any(system.stored for system in systems.values()):
        raise DataError("files of answers are audited as a whole", expected="a run or a member for limit")
    tasks, not_covered, refused = _tasks(selected, systems, allow_contaminated, average, all_rows, limit)
    place = _Loads(*by_name, find_candidates) if workers > 1 and by_name else systems
    covered: dict[str, SuiteAudit] = {}
    with progress("suites", len(tasks)) as ticker:
        for task, done in execute(partial(_audit_suite, systems=place), tasks):
            _log.info(task.suite.title)
            covered[task.name] = done
            ticker.advance(note=task.suite.title)
    in_order = tuple(covered[task.name] for task in tasks)
    run = (in_order, not_covered, refused, tuple(average), versions())
    return Audit(target.title, target.note, tuple(systems), *run)


def _finders(systems: Mapping[str, Predictor]) -> dict[str, Predictor]:
    return {label: CandidateFinder(system) for label, system in systems.items()}


@dataclass(frozen=True)
class _Task:
    """A suite with its rows, the systems to audit, those trained on its rows, and test-time augmentations."""

    suite: Suite
    items: Items
    included: tuple[str, ...]
    contaminated: tuple[str, ...]
    average: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.suite.name


def _tasks(
    selected: Mapping[str, Suite],
    systems: Mapping[str, Predictor],
    allow_contaminated: bool,
    average: Sequence[str],
    all_rows: bool,
    limit: int | None,
) -> tuple[list[_Task], dict[str, str], dict[str, tuple[str, ...]]]:
    """Suites to run, reasons for those that are not covered, and systems refused as contaminated, by suite."""
    tasks: list[_Task] = []
    not_covered = dict(NO_SUITE) | {name: "was not selected" for name in SUITES if name not in selected}
    refused: dict[str, tuple[str, ...]] = {}
    for name, suite in selected.items():
        contaminated = [
            label for label in systems if suite.contamination_ids & set(systems[label].contaminated_by)
        ]
        if contaminated and not allow_contaminated:
            refused[name] = tuple(contaminated)
        available = [label for label, system in systems.items() if system.covers(name)]
        included = [label for label in available if label not in refused.get(name, ())]
        if not available:
            not_covered[name] = "there is no file of answers"
        elif not included:
            not_covered[name] = "every system was trained on data that share rows with it"
        else:
            try:
                items = suite.load(cap=None if all_rows else suite.cap)
            except DataNotFoundError as missing:
                not_covered[name] = f"its data are missing: {missing}"
            else:
                if limit is not None:
                    items = items.limited(limit, suite.together)
                tasks.append(_Task(suite, items, tuple(included), tuple(contaminated), tuple(average)))
    return tasks, not_covered, refused


class _Loads(NamedTuple):
    """Arguments with which a worker loads the audited systems."""

    target: str
    folds: int
    find_candidates: bool


@lru_cache(maxsize=1)
def _loaded(loads: _Loads) -> Mapping[str, Predictor]:
    systems = target_of(loads.target, tuple(SUITES), folds=loads.folds).systems
    return _finders(systems) if loads.find_candidates else systems


def _audit_suite(task: _Task, systems: Mapping[str, Predictor] | _Loads) -> SuiteAudit:
    """Results of the included systems; those that were or may have been trained on the rows are marked."""
    if isinstance(systems, _Loads):
        systems = _loaded(systems)
    suite, items = task.suite, task.items
    presumed = [
        label
        for label in task.included
        if is_presumed(systems[label].contaminated_by, suite.contamination_ids)
    ]
    marked = {*task.contaminated, *presumed}
    shown = {label + MARK * (label in marked): systems[label] for label in task.included}
    corpus = Corpus(items.corpus, name=suite.name)
    answers = _answers(shown, corpus, task.average)
    remarks = [f"{label} {text}" for label, system in systems.items() if (text := system.remark(corpus))]
    remarks += [f"{label} {MARK} may have seen these rows in its training" for label in presumed]
    findings = suite.measure(items, answers)
    finders = {label: system for label, system in shown.items() if isinstance(system, CandidateFinder)}
    if finders:
        findings = with_found(suite, items, findings, finders)
    contaminated = tuple(label + MARK for label in task.included if label in task.contaminated)
    return SuiteAudit(suite, items, findings, answers, contaminated, "; ".join(remarks))


def write_rows(folder: Path, *, all_rows: bool = False) -> list[Path]:
    """Write the rows of every suite that has data, without labels, as Kaggle TSV files; returns their paths."""
    paths: list[Path] = []
    for name, suite in SUITES.items():
        try:
            items = suite.load(cap=None if all_rows else suite.cap)
        except DataNotFoundError:
            _log.warning(
                "%s is left out, since its data are missing; gap data status names their source", name
            )
            continue
        paths.append(Path(folder) / f"{name}.tsv")
        write_gap(paths[-1], items.corpus.unlabelled())
    return paths


def _answers(systems: Mapping[str, Predictor], corpus: Corpus, average: Sequence[str]) -> dict[str, Floats]:
    """Probabilities (n, 3) of each system, averaged over augmentations; each text is predicted once."""
    augmented = variants(corpus.unlabelled(), unique(["original", *average]))
    rows = [
        replace(example, id=f"{place}:{example.id}")
        for place, variant in enumerate(augmented)
        for example in variant.corpus
    ]
    index: dict[tuple[object, ...], int] = {}
    inverse = np.array([index.setdefault((e.text, e.pronoun, e.a, e.b, e.url), len(index)) for e in rows])
    distinct = Corpus(rows, name=corpus.name).take(np.unique(inverse, return_index=True)[1])

    def predict(system: Predictor) -> Floats:
        if system.stored:
            return system.predict_proba(corpus)
        system.prepare(distinct)
        return average_variants(augmented, np.split(system.predict_proba(distinct)[inverse], len(augmented)))

    return {name: predict(system) for name, system in systems.items()}
