"""Who is compared, and on what: files, whole runs or members of runs, all with answers for the same rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from gapstack.comparison.learning_curves import LearningCurve, learning_curves
from gapstack.corpus import Corpus
from gapstack.corpus.labels import LABEL_SETS
from gapstack.corpus.leakage import leaks
from gapstack.corpus.sources import relabel
from gapstack.errors import DataError, DataNotFoundError, GapstackError, MismatchError
from gapstack.scoring import Predictions, decisions, normalise, read_predictions

if TYPE_CHECKING:
    from gapstack.members.predictor import Predictor
    from gapstack.runs import RunFolder
    from gapstack.runs.fitted import FittedRun


@dataclass(frozen=True)
class Entry:
    """One competitor.

    ``source`` is the file, or ``RUN:MEMBER``; ``part`` says of a run's member whether the rows were held out or
    predicted out of fold; ``predictor`` predicts augmented rows, where no fold's fit has learned from these;
    ``warnings`` are reasons not to trust its scores; ``curves`` are the learning curves of a run's fine-tuned member.
    """

    name: str
    answers: Predictions
    source: str
    part: str = ""
    predictor: Predictor | None = None
    warnings: tuple[str, ...] = ()
    curves: tuple[LearningCurve, ...] = ()


@dataclass(frozen=True)
class _Source:
    """A file, or a run and a member of it ("" for all)."""

    file: Path | None
    run: RunFolder | None = None
    member: str = ""


@dataclass(eq=False)
class _Fits:
    """A run's fits, read and checked when one of these systems is first to predict new rows."""

    folder: RunFolder
    labels: list[str] = field(default_factory=list)

    def system(self, label: str) -> Predictor:
        """A system; all of a run's share their base predictions."""
        from gapstack.runs.fitted import RunSystem

        self.labels.append(label)
        return RunSystem(lambda: self._run, label)

    @cached_property
    def _run(self) -> FittedRun:
        from gapstack.runs.fitted import FittedRun

        return FittedRun(self.folder, self.labels)


def read_entries(
    sources: Sequence[str],
    gold: Corpus | None = None,
    *,
    out_of_fold: bool = False,
    trained_on: Sequence[Corpus] = (),
    data: str | None = None,
) -> tuple[Corpus, list[Entry]]:
    """Find what each of ``sources`` is, and give the rows and the entries.

    Parameters
    ----------
    sources : sequence of str
        Submission CSVs and scorer TSVs; runs, by name or folder; ``RUN:MEMBER`` for one member or ``RUN:stack``.
    gold : Corpus, optional
        Labelled rows to compare on; by default those that the first run held out.
    out_of_fold : bool
        By default take the rows that the first run predicted out of fold instead.
    trained_on : sequence of Corpus
        What the makers of files learned from, to be looked through for rows that give ``gold`` away.
    data : str, optional
        Where to look for the data of runs first.

    Raises
    ------
    DataError
        If a source is none of these or is given twice, or there are files alone and no ``gold``.
    MismatchError
        If a run has no answers for these rows.
    """
    folders: dict[Path, RunFolder] = {}
    found = [_source(text, folders) for text in sources]
    runs = list(folders.values())
    if gold is None:
        if not runs:
            raise DataError(
                "files say nothing of their rows' labels", remedy="Name the labelled rows with --gold"
            )
        gold = _rows_of(runs[0], out_of_fold, data)
    given = [leak for other in trained_on for leak in leaks(gold, other)]
    learned = {folder: _given_away(folder, gold, data) for folder in runs}
    fits = {folder: _Fits(folder) for folder in runs}
    entries: list[Entry] = []
    for source in found:
        if source.run is not None:
            entries += _run_entries(fits[source.run], source.member, gold, learned[source.run])
        elif source.file is not None:
            entries.append(_file_entry(source.file, gold, given))
    return gold, _warn_of_oddities(_with_own_names(entries))


def entries_of(systems: Mapping[str, ArrayLike], rows: Corpus) -> list[Entry]:
    """Give an entry for each system's (n, 3) probabilities of ``rows``.

    Raises
    ------
    DataError
        If they are no probabilities, or not one row for each example.
    """
    return _warn_of_oddities([Entry(name, _predictions(each, rows), name) for name, each in systems.items()])


def _predictions(probabilities: ArrayLike, rows: Corpus) -> Predictions:
    normalised = normalise(probabilities)
    if len(normalised) != len(rows):
        raise DataError(
            f"{len(normalised)} rows of probabilities for {len(rows)} examples",
            expected="one row for each example",
        )
    return Predictions(normalised, decisions(normalised), np.ones((len(rows), 2), dtype=bool))


def label_sets(rows: Corpus, main: str = "official", data: Path | None = None) -> list[Corpus]:
    """Give ``rows``, which have official labels, under every label set at hand, the main one first.

    Raises
    ------
    DataError, DataNotFoundError, MismatchError
        If the main one is unknown, its corrections are not found, or it does not apply to these rows.
    """
    found = [relabel(rows, main, data)]
    for name in LABEL_SETS:
        if name != main:
            try:
                found.append(relabel(rows, name, data))
            except (DataNotFoundError, MismatchError):
                continue  # no corrections on this machine, or rows that are not GAP's
    return found


def _source(text: str, folders: dict[Path, RunFolder]) -> _Source:
    """What ``text`` names; ``folders`` keeps one folder for each run."""
    if Path(text).is_file():
        return _Source(Path(text))
    from gapstack.runs.folder import find_run  # brings the members along: seconds that files need not wait

    found = find_run(text)
    if found is not None:
        folder, member = found
        return _Source(None, folders.setdefault(folder.root.resolve(), folder), member)
    raise DataError(
        f"{text!r} is neither a file nor a run",
        expected="a submission CSV or scorer TSV, a run's name or folder, or RUN:MEMBER",
    )


def _rows_of(folder: RunFolder, out_of_fold: bool, data: str | None) -> Corpus:
    from gapstack.runs.answers import HELD_OUT, OUT_OF_FOLD, run_corpora

    return run_corpora(folder, data)[OUT_OF_FOLD if out_of_fold else HELD_OUT]


def _file_entry(path: Path, gold: Corpus, given_away: Sequence[str]) -> Entry:
    warnings = tuple(f"{leak}, on which it is said to have learned" for leak in given_away)
    name = path.name.removesuffix(".csv").removesuffix(".tsv")
    return Entry(name, read_predictions(path, gold), str(path), warnings=warnings)


def _given_away(folder: RunFolder, gold: Corpus, data: str | None) -> list[str]:
    """What a run's training rows share with ``gold``, in words."""
    from gapstack.runs.answers import OUT_OF_FOLD, run_corpora

    try:
        train = run_corpora(folder, data)[OUT_OF_FOLD]
    except GapstackError as problem:
        return [f"its training rows could not be looked through: {problem}"]
    return [f"{leak}, on which it learned" for leak in leaks(gold, train)]


def _run_entries(fits: _Fits, member: str, gold: Corpus, given_away: Sequence[str]) -> list[Entry]:
    from gapstack.runs.answers import HELD_OUT, OUT_OF_FOLD, run_answers

    found = run_answers(fits.folder, gold, [member] if member else ())
    general = given_away if found.part == HELD_OUT else ()
    entries = []
    for label, probabilities in found.members.items():
        answers = _predictions(probabilities, gold)
        warnings = [
            *general,
            *(f"learned from data that share rows with {name}" for name in found.contaminated_by[label]),
        ]
        if label == "stack" and found.part == OUT_OF_FOLD:
            warnings.append(
                "a stack on rows that it learned from: nested, but members behind other rows' answers saw each row"
            )
        source = f"{fits.folder.root.name}:{label}"
        predictor = fits.system(label) if found.part == HELD_OUT else None
        curves = learning_curves(fits.folder, label)
        entries.append(Entry(label, answers, source, found.part, predictor, tuple(warnings), curves))
    return entries


def _with_own_names(entries: list[Entry]) -> list[Entry]:
    """Entries that share a name are called by their sources."""
    names, sources = (Counter(getattr(entry, of) for entry in entries) for of in ("name", "source"))
    twice = [source for source, count in sources.items() if count > 1]
    if twice:
        raise DataError(f"{twice[0]} is given twice", expected="each file and each member once")
    return [replace(e, name=e.source) if names[e.name] > 1 else e for e in entries]


def _warn_of_oddities(entries: list[Entry]) -> list[Entry]:
    """Add what is odd in the answers: notes of the reader, both names TRUE, the same answers as another's."""
    result: list[Entry] = []
    for entry in entries:
        found = entry.answers
        odd = list(found.notes)
        both = int((found.decided & found.answered).all(axis=1).sum())
        if both:
            odd.append(f"{both:,} rows are TRUE for both names, which is never right in GAP and raises F1")
        twins = [other.name for other in result if _same(other.answers, found)]
        if twins:
            odd.append(f"the same answers as {twins[0]}")
        result.append(replace(entry, warnings=(*entry.warnings, *odd)))
    return result


def _same(one: Predictions, other: Predictions) -> bool:
    if one.probabilities is None or other.probabilities is None:
        return one.probabilities is other.probabilities and bool((one.decided == other.decided).all())
    return bool(np.allclose(one.probabilities, other.probabilities, atol=1e-9))
