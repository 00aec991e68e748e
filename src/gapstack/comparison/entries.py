"""The systems of a comparison: files, runs, members of runs and saved members, with predictions for the same rows."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from gapstack.data import Corpus
from gapstack.data.contamination import is_presumed, known_test_sets, leaks
from gapstack.data.gap_data import relabel, rows_of
from gapstack.data.labels import LABEL_SETS
from gapstack.errors import DataError, DataNotFoundError, GapstackError, MismatchError, counted
from gapstack.evaluation import Predictions, read_predictions
from gapstack.evaluation.prediction_files import prediction_ids
from gapstack.types import Floats

if TYPE_CHECKING:
    from gapstack.members.member import Predictor
    from gapstack.runs.folder import RunFolder


@dataclass(frozen=True)
class ComparedEntry:
    """One compared system; ``source`` is a file, a saved member's folder, ``RUN:MEMBER`` or the name of an array."""

    name: str
    answers: Predictions
    source: str
    part: str = ""  # "held out" or "out of fold", for a run's member
    predictor: Predictor | None = None  # predicts changed rows; None unless these rows were held out
    warnings: tuple[str, ...] = ()  # reasons not to trust its scores
    curves: tuple[LearningCurve, ...] = ()


def read_entries(
    sources: Sequence[str],
    gold: Corpus | None = None,
    *,
    out_of_fold: bool = False,
    trained_on: Sequence[Corpus] = (),
) -> tuple[Corpus, list[ComparedEntry]]:
    """Read the rows to compare on, and an entry for each of ``sources`` or its members.

    Sources are submission CSVs, scorer TSVs, runs, their members, and saved members. ``gold`` are the labelled rows: by
    default those that the first run held out, or the split of GAP that the ids of the first file belong to.
    ``trained_on`` are the training data of the files' authors, which are checked for rows of ``gold``. Raises DataError
    for an unknown source, or a saved member without ``gold``.
    """
    folders: dict[Path, RunFolder] = {}
    read = [_source(text, folders) for text in sources]
    files = [source for source, _ in read if isinstance(source, Path) and source.is_file()]
    if gold is None and not folders:
        if not files:
            raise DataError(
                "saved members do not contain labels", remedy="Give labelled rows with corpus=ROWS"
            )
        gold = rows_of(prediction_ids(files[0]))
    elif gold is None:
        from gapstack.runs.stored_results import HELD_OUT, OUT_OF_FOLD, run_corpora

        gold = run_corpora(next(iter(folders.values())))[OUT_OF_FOLD if out_of_fold else HELD_OUT]
    leaked = [leak for other in trained_on for leak in leaks(gold, other)]
    warnings = tuple(f"{leak}, on which its authors trained" for leak in leaked)
    leaks_of = {folder: _training_leaks(folder, gold) for folder in folders.values()}
    entries: list[ComparedEntry] = []
    for source, member in read:
        if isinstance(source, Path) and source.is_dir():
            entries.append(_saved_entry(source, gold))
        elif isinstance(source, Path):
            name = source.name.removesuffix(".csv").removesuffix(".tsv")
            entries.append(
                ComparedEntry(name, read_predictions(source, gold), str(source), warnings=warnings)
            )
        else:
            entries += _run_entries(source, member, gold, leaks_of[source])
    return gold, _with_warnings(_with_unique_names(entries))


def entries_of(systems: Mapping[str, ArrayLike], rows: Corpus) -> list[ComparedEntry]:
    """An entry for each system's (n, 3) probabilities of ``rows``; DataError if an array is invalid or too short."""
    entries = [ComparedEntry(name, Predictions.of(each), name) for name, each in systems.items()]
    for entry in entries:
        if (count := len(entry.answers.decided)) != len(rows):
            raise DataError(
                f"{entry.name} has {count} rows of probabilities", expected=f"{len(rows)}, one for each row"
            )
    return _with_warnings(entries)


def label_sets(rows: Corpus, main: str = "official") -> list[Corpus]:
    """``rows``, which have official labels, under every available label set, the main one first."""
    corpora = [relabel(rows, main)]
    for name in LABEL_SETS:
        if name != main:
            try:
                corpora.append(relabel(rows, name))
            except (DataNotFoundError, MismatchError):
                continue  # no corrections on this machine, or rows that are not GAP's
    return corpora


def _source(text: str, folders: dict[Path, RunFolder]) -> tuple[Path | RunFolder, str]:
    """A file, a saved member's folder, or a run and its member ("" for all); adds the run's folder to ``folders``."""
    if Path(text).is_file():
        return Path(text), ""
    from gapstack.runs.folder import find_run  # imports the members, which takes seconds
    from gapstack.runs.predictors import saved_folder

    if (saved := saved_folder(text)) is not None:
        return saved, ""
    run = find_run(text)
    if run is None:
        raise DataError(
            f"{text!r} is not a file, run or saved member",
            expected="a submission CSV or scorer TSV, a run's name or folder, RUN:MEMBER, or a saved member's folder",
        )
    folder, member = run
    return folders.setdefault(folder.root.resolve(), folder), member


def _saved_entry(folder: Path, gold: Corpus) -> ComparedEntry:
    from gapstack.members.saved import load

    predictor = load(folder)
    warnings = _contaminations(predictor.contaminated_by, known_test_sets(gold.ids))
    answers = Predictions.of(predictor.predict_proba(gold))
    return ComparedEntry(folder.name, answers, str(folder), predictor=predictor, warnings=tuple(warnings))


def _contaminations(contaminated_by: Sequence[str], scored: Sequence[str]) -> list[str]:
    """Warnings about test sets that are scored and that a system has learned from, or is presumed to have."""
    return [
        f"learned from data that share rows with {name}"
        for name in contaminated_by
        if name in scored or is_presumed([name], scored)
    ]


def _training_leaks(folder: RunFolder, gold: Corpus) -> list[str]:
    """Warnings about rows that a run's training data share with ``gold``."""
    from gapstack.runs.stored_results import OUT_OF_FOLD, run_corpora

    try:
        train = run_corpora(folder)[OUT_OF_FOLD]
    except GapstackError as problem:
        return [f"its training rows could not be checked: {problem}"]
    return [f"{leak}, on which it was trained" for leak in leaks(gold, train)]


def _run_entries(folder: RunFolder, member: str, gold: Corpus, leaked: Sequence[str]) -> list[ComparedEntry]:
    from gapstack.runs.predictors import FittedRun
    from gapstack.runs.recipe import Recipe
    from gapstack.runs.stored_results import HELD_OUT, OUT_OF_FOLD, run_answers

    part, members = run_answers(folder, gold, member)
    contaminated_by = Recipe.of_run(folder).contaminated_by()
    systems, scored = FittedRun(folder).systems, known_test_sets(gold.ids)
    entries = []
    for label, probabilities in members.items():
        warnings = _contaminations(contaminated_by[label], scored)
        if part == HELD_OUT:
            warnings = [*leaked, *warnings]
        if label == "stack" and part == OUT_OF_FOLD:
            warnings.append(
                "a stack on rows that it learned from: its predictions are nested, but the members' predictions for "
                "other rows come from fits that saw the row"
            )
        entries.append(
            ComparedEntry(
                label,
                Predictions.of(probabilities),
                f"{folder.root.name}:{label}",
                part,
                systems[label] if part == HELD_OUT else None,
                tuple(warnings),
                learning_curves(folder, label),
            )
        )
    return entries


def _with_unique_names(entries: list[ComparedEntry]) -> list[ComparedEntry]:
    """Entries with unique names: those that share a name are named after their sources; DataError for a repetition."""
    names, sources = (Counter(getattr(entry, key) for entry in entries) for key in ("name", "source"))
    twice = [source for source, count in sources.items() if count > 1]
    if twice:
        raise DataError(f"{twice[0]} is given twice", expected="each file and each member once")
    return [replace(e, name=e.source) if names[e.name] > 1 else e for e in entries]


def _with_warnings(entries: list[ComparedEntry]) -> list[ComparedEntry]:
    """Add warnings about the predictions: the reader's notes, both names TRUE, predictions equal to another entry's."""
    result: list[ComparedEntry] = []
    for entry in entries:
        predicted = entry.answers
        odd = list(predicted.notes)
        if both := int((predicted.decided & predicted.answered).all(axis=1).sum()):
            odd.append(
                f"TRUE for both names in {counted(both, 'row')}, which is never right in GAP and raises F1"
            )
        if twins := [other.name for other in result if _same_answers(other.answers, predicted)]:
            odd.append(f"the same answers as {twins[0]}")
        result.append(replace(entry, warnings=(*entry.warnings, *odd)))
    return result


def _same_answers(first: Predictions, second: Predictions) -> bool:
    if first.probabilities is None or second.probabilities is None:
        return first.probabilities is second.probabilities and bool((first.decided == second.decided).all())
    return bool(np.allclose(first.probabilities, second.probabilities, atol=1e-9))


_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Losses (k,) of one training at its evaluations; validation is NaN without validation rows."""

    name: str
    updates: Floats  # number of updates, counted over all phases
    training: Floats  # mean loss since the previous evaluation
    validation: Floats


def learning_curves(
    folder: RunFolder, label: str, folds: Sequence[int] | None = None
) -> tuple[LearningCurve, ...]:
    """Read the stored curves of a member's folds; damaged ones are left out with a warning."""
    curves = []
    places = (
        folder.member(label).glob("fold-*")
        if folds is None
        else (folder.fold(label, number) for number in folds)
    )
    for fold in sorted(places):
        paths = sorted(fold.glob("training/**/history.jsonl"))
        for number, path in enumerate(paths, 1):
            name = fold.name.replace("-", " ") + (f", training {number}" if len(paths) > 1 else "")
            try:
                curves.append(_read_curve(path, name))
            except (ValueError, KeyError) as damage:
                _log.warning("a learning curve is left out: %s: %s", path, damage)
    return tuple(curves)


def _read_curve(path: Path, name: str) -> LearningCurve:
    import pandas as pd  # slow to import

    lines = pd.read_json(path, lines=True, precise_float=True)
    lines = lines[["phase", "update", "loss", "validation"]].astype(np.float64)
    # a phase counts its own updates
    before = lines["update"].shift().where(lines["phase"].diff() > 0, 0.0).cumsum()
    columns = (lines["update"] + before, lines["loss"], lines["validation"])
    return LearningCurve(name, *(column.to_numpy() for column in columns))
