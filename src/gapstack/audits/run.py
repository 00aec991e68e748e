"""One audit: every suite with data, on every system that was not trained on it."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gapstack.audits.find_candidates import NOTE, CandidateFinder, with_found
from gapstack.audits.gap import GapTest
from gapstack.audits.gender_agreement import SURNAMES, TWO_GENDERS
from gapstack.audits.report import MARK, Audit, SuiteAudit
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
from gapstack.errors import DataError, DataNotFoundError
from gapstack.members.member import Predictor, each_once
from gapstack.progress import progress
from gapstack.records import versions
from gapstack.registry import Registry
from gapstack.types import Floats

_log = logging.getLogger(__name__)

_ALL: tuple[Suite, ...] = (
    *(Winogender(), WinoBias(), SoWinoBias(), GapTest()),
    *(GICOREF, MAP, KNOWREF, DPR, WSC273, WINOGRANDE),
    *(SURNAMES, TWO_GENDERS),
)
SUITES: Registry[Suite] = Registry("suite", {suite.name: suite for suite in _ALL})
"""By name, in the order of the report."""

NO_SUITE = {
    "bug": "a sentence has one person and a pronoun that means it; the other professions in 225 of 1,717 "
    'sentences are nobody\'s distractors ("a specialist still life painter") and nobody checked them',
    "pdp": "our copy has its pronouns masked, and no schema has two first names of one sex, from "
    "which the pronoun would follow",
}
"""Known test sets that cannot be read as a choice between two names, and why."""


@searches_data
def audit(
    target: Target | Predictor | Mapping[str, Predictor] | str | Path,
    data: Path | None = None,
    suites: Sequence[str] | None = None,
    *,
    allow_contaminated: bool = False,
    average: Sequence[str] = (),
    all_rows: bool = False,
    find_candidates: bool = False,
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
    find_candidates : bool
        Show the systems only the text and the pronoun, without the two names.

    Returns
    -------
    Audit
        Print it, or see :meth:`Audit.report`.

    Raises
    ------
    UnknownNameError
        If a suite is unknown.
    MemberError
        If ``find_candidates`` is set for files.
    DataError
        If ``average`` is set for files of probabilities, or a data file is invalid.
    """
    selected = {name: SUITES[name] for name in (SUITES if suites is None else suites)}
    if isinstance(target, str | Path):
        target = target_of(str(target), list(SUITES))
    elif not isinstance(target, Target):
        systems = {type(target).__name__: target} if isinstance(target, Predictor) else target
        target = Target(systems, ", ".join(systems))
    if find_candidates:
        systems = {label: CandidateFinder(system) for label, system in target.systems.items()}
        target = replace(target, systems=systems, note="; ".join(filter(None, (target.note, NOTE))))
    systems = target.systems
    if average and any(system.stored for system in systems.values()):
        raise DataError(
            "probabilities of a file cannot be averaged over augmented rows", expected="a run or a member"
        )
    covered: list[SuiteAudit] = []
    not_covered = dict(NO_SUITE) | {name: "was not selected" for name in SUITES if name not in selected}
    refused: dict[str, tuple[str, ...]] = {}
    with progress("suites", len(selected)) as ticker:
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
                    _log.info(suite.title)
                    covered.append(_audit_suite(suite, items, systems, included, contaminated, average))
            ticker.advance(note=suite.title)
    run = (tuple(covered), not_covered, refused, tuple(average), versions())
    return Audit(target.title, target.note, tuple(systems), *run)


def _audit_suite(
    suite: Suite,
    items: Items,
    systems: Mapping[str, Predictor],
    included: Sequence[str],
    contaminated: Sequence[str],
    average: Sequence[str],
) -> SuiteAudit:
    """Results of the systems ``included``; marked are those that were, or may have been, trained on the rows."""
    presumed = [
        label for label in included if is_presumed(systems[label].contaminated_by, suite.contamination_ids)
    ]
    starred = {*contaminated, *presumed}
    shown = {label + MARK * (label in starred): systems[label] for label in included}
    corpus = Corpus(items.corpus, name=suite.name)
    answers = _answers(shown, corpus, average)
    remarks = [f"{label} {text}" for label, system in systems.items() if (text := system.remark(corpus))]
    remarks += [f"{label} {MARK} may have seen these rows in its training" for label in presumed]
    found = suite.measure(items, answers)
    finders = {label: system for label, system in shown.items() if isinstance(system, CandidateFinder)}
    if finders:
        found = with_found(suite, items, found, finders)
    marked = tuple(label + MARK for label in included if label in contaminated)
    return SuiteAudit(suite, items, found, answers, marked, "; ".join(remarks))


def write_rows(folder: Path, *, all_rows: bool = False) -> list[Path]:
    """Write the unlabelled rows of every suite with data as GAP TSV files, and return their paths."""
    paths: list[Path] = []
    for name, suite in SUITES.items():
        try:
            items = suite.load(cap=None if all_rows else suite.cap)
        except DataNotFoundError:
            continue
        paths.append(Path(folder) / f"{name}.tsv")
        write_gap(paths[-1], items.corpus.unlabelled())
    return paths


def _answers(systems: Mapping[str, Predictor], corpus: Corpus, average: Sequence[str]) -> dict[str, Floats]:
    """Probabilities (n, 3) of each system, averaged over augmentations; each text is predicted once."""
    augmented = variants(corpus.unlabelled(), each_once(["original", *average]))
    rows = [
        replace(example, id=f"{place}:{example.id}")
        for place, variant in enumerate(augmented)
        for example in variant.corpus
    ]
    index: dict[tuple[object, ...], int] = {}
    inverse = np.array([index.setdefault((e.text, e.pronoun, e.a, e.b, e.url), len(index)) for e in rows])
    unique = Corpus(rows, name=corpus.name).take(np.unique(inverse, return_index=True)[1])

    def predict(system: Predictor) -> Floats:
        if system.stored:
            return system.predict_proba(corpus)
        system.prepare(unique)
        return average_variants(augmented, np.split(system.predict_proba(unique)[inverse], len(augmented)))

    return {name: predict(system) for name, system in systems.items()}
