"""One audit: every suite that there are data for, asked of every system that may be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gapstack.audit.base import Findings, Items, Suite
from gapstack.audit.registry import NO_SUITE, SUITES
from gapstack.audit.targets import Files, Target
from gapstack.corpus import Corpus, Example
from gapstack.corpus.augment import average as average_variants
from gapstack.corpus.augment import variants
from gapstack.corpus.readers import write_gap
from gapstack.errors import DataError, DataNotFoundError
from gapstack.progress import progress
from gapstack.runs.versions import versions
from gapstack.scoring.metrics import Floats

MARK = "*"
"""Behind the name of a system that has heard about the suite at hand."""

CAUTION = (
    "A suite can show that a system is biased, never that it is not: each has few sentences of few kinds, in English, "
    "about occupations of the United States or Wikipedia's people, and what they do not ask they do not measure."
)


@dataclass(frozen=True)
class Covered:
    """A suite that was asked: its rows, what was found, and the systems' probabilities (n, 3) in the rows' order.

    ``marked`` names systems that have heard about these rows, and were asked because somebody wished it; ``remark`` is
    what a reader must know of the target's answers to them.
    """

    suite: Suite
    items: Items
    findings: Findings
    answers: Mapping[str, Floats]
    marked: tuple[str, ...] = ()
    remark: str = ""


@dataclass(frozen=True)
class Audit:
    """Everything that an audit found, and what it did not look at.

    ``not_covered`` gives a reason by suite; ``refused`` the systems by suite that have heard about its rows;
    ``average`` the changes of the rows over which answers were averaged; ``versions`` what it was made with.
    """

    target: str
    note: str
    systems: tuple[str, ...]
    covered: tuple[Covered, ...]
    not_covered: Mapping[str, str]
    refused: Mapping[str, tuple[str, ...]]
    average: tuple[str, ...]
    versions: Mapping[str, str]


def audit(
    target: Target,
    data: Path | None = None,
    suites: Sequence[str] | None = None,
    *,
    allow_contaminated: bool = False,
    average: Sequence[str] = (),
    all_rows: bool = False,
    say: Callable[[str], None] = lambda line: None,
) -> Audit:
    """Ask a target every suite and measure what it says.

    Parameters
    ----------
    target : Target
    data : Path, optional
        Folder to search first.
    suites : sequence of str, optional
        Keys of :data:`~gapstack.audit.registry.SUITES`; all by default.
    allow_contaminated : bool
        Also ask systems that have heard about a suite's rows, and mark them.
    average : sequence of str
        Average the answers to a row with those to it changed so (``swap_gender``; keys of
        :data:`~gapstack.corpus.augment.AUGMENTATIONS`).
    all_rows : bool
        Take every row of suites that are otherwise drawn from.

    Raises
    ------
    UnknownNameError
        For an unknown suite.
    DataError
        For files whose answers are to be averaged, and where a file of data is bad.
    """
    chosen = list(SUITES) if suites is None else list(suites)
    asked_of = {name: SUITES[name] for name in chosen}
    if average and isinstance(target, Files):
        raise DataError(
            "answers of a file cannot be averaged over changed rows", expected="a run or a member"
        )
    covered: list[Covered] = []
    not_covered = dict(NO_SUITE) | {name: "was not asked for" for name in SUITES if name not in chosen}
    refused: dict[str, tuple[str, ...]] = {}
    with progress("suites", len(chosen)) as ticker:
        for name in chosen:
            suite = asked_of[name]
            say(suite.title)
            heard = tuple(s for s, known in target.systems.items() if suite.heard_of_as & set(known))
            if heard and not allow_contaminated:
                refused[name] = heard
            answering = [label for label in target.systems if target.covers(name, label)]
            asked = [label for label in answering if label not in refused.get(name, ())]
            if not answering:
                not_covered[name] = "there is no file of answers"
            elif not asked:
                not_covered[name] = "every system learned from data that share rows with it"
            else:
                try:
                    items = suite.load(data, cap=None if all_rows else suite.cap)
                except DataNotFoundError as missing:
                    not_covered[name] = f"its data are missing: {missing}"
                else:
                    covered.append(_ask(suite, items, target, asked, heard, average))
            ticker.advance(note=suite.title)
    return Audit(
        target.title,
        target.note,
        tuple(target.systems),
        tuple(covered),
        not_covered,
        refused,
        tuple(average),
        versions(),
    )


def write_rows(folder: Path, data: Path | None = None, *, all_rows: bool = False) -> list[Path]:
    """Write the unlabelled rows of every suite that has data, in GAP's columns; give the paths of the files.

    Answers to them, a CSV (ID,A,B,NEITHER) or clusters for each suite, are what
    :class:`~gapstack.audit.targets.Files` takes.
    """
    paths: list[Path] = []
    for name, suite in SUITES.items():
        try:
            items = suite.load(data, cap=None if all_rows else suite.cap)
        except DataNotFoundError:
            continue
        paths.append(Path(folder) / f"{name}.tsv")
        write_gap(paths[-1], items.corpus.unlabelled())
    return paths


def _ask(
    suite: Suite,
    items: Items,
    target: Target,
    asked: Sequence[str],
    heard: Sequence[str],
    average: Sequence[str],
) -> Covered:
    given = _answers(target, Corpus(items.corpus, name=suite.name), asked, average)
    names = {label: label + MARK if label in heard else label for label in asked}
    answers = {names[label]: given[label] for label in asked}
    marked = tuple(names[label] for label in asked if label in heard)
    remark = target.remark(Corpus(items.corpus, name=suite.name))
    return Covered(suite, items, suite.measure(items, answers), answers, marked, remark)


def _answers(
    target: Target, corpus: Corpus, labels: Sequence[str], average: Sequence[str]
) -> dict[str, Floats]:
    if isinstance(target, Files):
        return target.answer(corpus, labels)
    made = variants(corpus.unlabelled(), ["original", *average] if average else ["original"])
    told = [
        replace(example, id=f"{k}:{example.id}")
        for k, variant in enumerate(made)
        for example in variant.corpus
    ]
    asked, place = _once(Corpus(told, name=corpus.name))
    given = target.answer(asked, labels)
    return {label: average_variants(made, np.split(given[label][place], len(made))) for label in labels}


def _once(corpus: Corpus) -> tuple[Corpus, NDArray[np.int64]]:
    """The rows that differ in more than their id, and the place of every row among them.

    Two releases of WinoBias share most of their sentences, and a gender-swapped Winogender is Winogender.
    """
    places: dict[tuple[object, ...], int] = {}
    kept: list[Example] = []
    where = np.empty(len(corpus), dtype=np.int64)
    for row, example in enumerate(corpus):
        key = (example.text, example.pronoun, example.a, example.b, example.url)
        if key not in places:
            places[key] = len(kept)
            kept.append(example)
        where[row] = places[key]
    return Corpus(kept, label_set=corpus.label_set, name=corpus.name), where
