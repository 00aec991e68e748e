"""Who is compared: files, whole runs or members of runs, all with answers for the same rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gapstack.corpus import Corpus
from gapstack.corpus.leakage import leaks
from gapstack.errors import DataError
from gapstack.scoring import Predictions, decisions, normalise, read_predictions

if TYPE_CHECKING:
    from gapstack.runs import RunFolder


@dataclass(frozen=True)
class Entry:
    """One competitor.

    ``source`` is the file, or the run and which of its parts; ``warnings`` are reasons not to trust its scores.
    """

    name: str
    answers: Predictions
    source: str
    warnings: tuple[str, ...] = ()


def read_entries(
    sources: Sequence[str],
    gold: Corpus | None = None,
    *,
    out_of_fold: bool = False,
    trained_on: Iterable[Corpus] = (),
    data: str | None = None,
) -> tuple[Corpus, list[Entry]]:
    """Find what each of ``sources`` is, and give the rows and the entries.

    Parameters
    ----------
    sources : sequence of str
        Submission CSVs and scorer TSVs; runs, by name or folder; ``RUN:MEMBER`` for one member; and bare names of
        members, which take their pick from the runs that are given too.
    gold : Corpus, optional
        Labelled rows to compare on; by default those that the first run held out.
    out_of_fold : bool
        By default take the rows that the first run predicted out of fold instead.
    trained_on : iterable of Corpus
        What the makers of files learned from, to be looked through for rows that give ``gold`` away.
    data : str, optional
        Where to look for the data of runs first.

    Raises
    ------
    DataError
        If a source is none of these, files come without ``gold``, or nothing is left to compare.
    MismatchError
        If a run has no answers for these rows.
    """
    files = [source for source in sources if Path(source).is_file()]
    picked = [_run_and_member(source) for source in sources if source not in files]
    runs = {run: _run_folder(run) for run, _ in picked if run}
    chosen = {member for run, member in picked if not run}
    if files and gold is None and not runs:
        raise DataError(
            "files say nothing of their rows' labels", remedy="Name the labelled rows with --gold"
        )
    if not sources:
        raise DataError("there is nothing to compare", expected="files, runs or members of runs")
    if gold is None:
        if not runs:
            raise _unknown(picked[0][1])
        gold = _rows_of(next(iter(runs.values())), out_of_fold, data)
    entries = _file_entries(files, gold, trained_on)
    named: set[str] = set()
    for run, folder in runs.items():
        only = {member for name, member in picked if name == run and member}
        entries += _run_entries(folder, gold, only, chosen, data, named, several=len(runs) > 1)
    if chosen - named:
        raise _unknown(sorted(chosen - named)[0])
    return gold, _warn_of_twins(_with_own_names(entries))


def _unknown(source: str) -> DataError:
    return DataError(
        f"{source!r} is no file, no run and no member of a run given",
        expected="a submission CSV or scorer TSV, a run's name or folder, or RUN:MEMBER",
    )


def _run_folder(name: str) -> RunFolder | None:
    from gapstack.runs import (
        RunFolder,
        home,
    )  # brings the members along: seconds that plain files need not wait

    for place in (Path(name), home() / "models" / name):
        if (place / "run.json").is_file():
            return RunFolder(place)
    return None


def _run_and_member(source: str) -> tuple[str, str]:
    """A run ("", if none is named) and a member of it ("" for all)."""
    if _run_folder(source) is not None:
        return source, ""
    run, colon, member = source.rpartition(":")
    if colon and _run_folder(run) is not None:
        return run, member
    return "", source


def _rows_of(folder: RunFolder | None, out_of_fold: bool, data: str | None) -> Corpus:
    from gapstack.runs.answers import HELD_OUT, OUT_OF_FOLD, run_corpora

    assert folder is not None  # its run.json was found
    return run_corpora(folder, data)[OUT_OF_FOLD if out_of_fold else HELD_OUT]


def _file_entries(paths: Sequence[str], gold: Corpus, trained_on: Iterable[Corpus]) -> list[Entry]:
    warnings = tuple(
        f"{warning}, on which it is said to have learned"
        for other in trained_on
        for warning in leaks(gold, other)
    )
    return [
        Entry(
            Path(path).name.removesuffix(".csv").removesuffix(".tsv"),
            read_predictions(Path(path), gold),
            path,
            warnings,
        )
        for path in paths
    ]


def _run_entries(
    folder: RunFolder | None,
    gold: Corpus,
    only: set[str],
    chosen: set[str],
    data: str | None,
    named: set[str],
    *,
    several: bool,
) -> list[Entry]:
    """Entries of a run; members that ``chosen`` names are added to ``named``."""
    from gapstack.errors import GapstackError
    from gapstack.runs.answers import HELD_OUT, OUT_OF_FOLD, run_answers, run_corpora

    assert folder is not None  # its run.json was found
    found = run_answers(folder, gold)
    missing = sorted(only - set(found.members))
    if missing:
        raise DataError(
            f"run {found.run} has no member {missing[0]!r}", expected=f"one of {', '.join(found.members)}"
        )
    general: list[str] = []
    if found.part == HELD_OUT:
        try:
            general = [
                f"{leak}: its training rows" for leak in leaks(gold, run_corpora(folder, data)[OUT_OF_FOLD])
            ]
        except GapstackError as problem:
            general = [f"its training rows could not be looked through: {problem}"]
    entries: list[Entry] = []
    for label, probabilities in found.members.items():
        wanted = only or chosen
        if wanted and label not in wanted:
            continue
        named.add(label)
        rows = normalise(probabilities)
        answers = Predictions(rows, decisions(rows), np.ones((len(gold), 2), dtype=bool))
        warnings = [
            *general,
            *(f"learned from data that share rows with {name}" for name in found.not_for[label]),
        ]
        name = f"{found.run}:{label}" if several else label
        entries.append(Entry(name, answers, f"run {found.run}, {found.part}", tuple(warnings)))
    return entries


def _with_own_names(entries: list[Entry]) -> list[Entry]:
    """Entries that share a name are called by their sources, those that share both get a number."""
    count = Counter(entry.name for entry in entries)
    longer = [replace(e, name=e.source) if count[e.name] > 1 else e for e in entries]
    seen: Counter[str] = Counter()
    made = []
    for entry in longer:
        seen[entry.name] += 1
        made.append(
            replace(entry, name=f"{entry.name} ({seen[entry.name]})") if seen[entry.name] > 1 else entry
        )
    return made


def _warn_of_twins(entries: list[Entry]) -> list[Entry]:
    """Entries with what is odd in their answers: notes of the reader, both names TRUE, the same answers as another."""
    made: list[Entry] = []
    for entry in entries:
        found = entry.answers
        odd = list(found.notes)
        both = int((found.decided & found.answered).all(axis=1).sum())
        if both:
            odd.append(f"{both:,} rows are TRUE for both names, which is never right in GAP and raises F1")
        twins = [other.name for other in made if _same(other.answers, found)]
        if twins:
            odd.append(f"the same answers as {twins[0]}")
        made.append(replace(entry, warnings=(*entry.warnings, *odd)))
    return made


def _same(one: Predictions, other: Predictions) -> bool:
    if one.probabilities is None or other.probabilities is None:
        return one.probabilities is other.probabilities and bool((one.decided == other.decided).all())
    return bool(np.allclose(one.probabilities, other.probabilities, atol=1e-9))
