"""Files of predictions, put in the order of a corpus and scored as their format's scorer would.

============================  ==============================  ===========================================
what is wrong with an id      submission CSV (Kaggle)         scorer TSV (official gap_scorer.py)
============================  ==============================  ===========================================
not in the file               refused                         both decisions missing: two false negatives
not in the corpus             refused                         ignored
twice in the file             refused by the reader           the first row counts
============================  ==============================  ===========================================

Refused means a :class:`~gapstack.errors.DataError`; what the scorer accepts silently is a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import numpy as np

from gapstack.data import Corpus
from gapstack.data.corpus import Gold
from gapstack.data.gap_files import MISSING, read_scorer_tsv, read_submission
from gapstack.errors import DataError, Place
from gapstack.evaluation.metrics import Predictions
from gapstack.evaluation.scores import Scores, score_predictions
from gapstack.files import open_bytes

_SHOWN = 3


def read_predictions(path: Path, corpus: Corpus | Gold) -> Predictions:
    """Read a submission CSV or a scorer TSV and put it in the order of ``corpus``.

    A tab in the first line makes it a scorer TSV. Raises DataError for what the readers refuse, for a submission whose
    ids are not those of the corpus, and for a file that shares no id with it; DataNotFoundError if there is no such
    file.
    """
    with open_bytes(path) as stream:
        read = _scorer_rows if b"\t" in stream.readline() else _submission_rows
    return read(Path(path), corpus)


def prediction_ids(path: Path) -> list[str]:
    """The ids of a submission CSV or scorer TSV, in its order; raises as its reader does."""
    with open_bytes(path) as stream:
        read = read_scorer_tsv if b"\t" in stream.readline() else read_submission
    return list(read(Path(path))[0])


def score_file(path: Path, corpus: Corpus | Gold) -> tuple[Scores, tuple[str, ...]]:
    """Score a submission CSV or scorer TSV on a labelled corpus; gives the scores and notes.

    Raises as :func:`read_predictions` does, and DataError for a corpus without labels.
    """
    predictions = read_predictions(path, corpus)
    return score_predictions(corpus, predictions), predictions.notes


def _submission_rows(path: Path, corpus: Corpus | Gold) -> Predictions:
    ids, probabilities = read_submission(path)
    place = {name: row for row, name in enumerate(ids)}
    missing = [name for name in corpus.ids if name not in place]
    if len(missing) == len(corpus):
        raise _other_data(path, ids, corpus)
    if missing:
        raise DataError(
            describe_ids(missing, "not in the file", of=corpus.name),
            place=Place(path),
            expected=f"a row for each of the {len(corpus)} ids, since logloss is a mean over all of them",
            remedy="Add the rows, or score a corpus without them",
        )
    unknown = _not_in(ids, corpus)
    if unknown:
        raise DataError(
            describe_ids(unknown, f"not in {corpus.name}"),
            place=Place(path),
            expected=f"the {len(corpus)} ids of {corpus.name} and no others",
            remedy="Remove the rows, or score against the data that the file is for",
        )
    return Predictions.of(probabilities[[place[name] for name in corpus.ids]])


def _scorer_rows(path: Path, corpus: Corpus | Gold) -> Predictions:
    ids, values = read_scorer_tsv(path)
    place: dict[str, int] = {}
    for row, name in enumerate(ids):
        place.setdefault(name, row)
    rows = np.array([place.get(name, -1) for name in corpus.ids], dtype=np.int64)
    if (rows < 0).all():
        raise _other_data(path, ids, corpus)
    ordered = np.where((rows >= 0)[:, None], values[rows], MISSING)
    answered = ordered != MISSING
    notes = []
    repeated = [name for name, times in Counter(ids).items() if times > 1]
    if repeated:
        notes.append(f"{describe_ids(repeated, 'again in the file')}: the first row of each counts")
    absent = [name for name, row in zip(corpus.ids, rows, strict=True) if row < 0]
    if absent:
        notes.append(
            f"{describe_ids(absent, 'not in the file', of=corpus.name)}: "
            "each counts as two false negatives, even where gold is FALSE"
        )
    silent = int((~answered[rows >= 0]).sum())
    if silent:
        notes.append(
            f"empty decisions in the file: {silent:,}; each counts as a false negative, "
            "even where gold is FALSE"
        )
    unknown = _not_in(place, corpus)
    if unknown:
        notes.append(f"{describe_ids(unknown, f'not in {corpus.name}')}: ignored")
    return Predictions(None, ordered == 1, answered, tuple(notes))


def describe_ids(ids: Sequence[str], state: str, *, of: str = "") -> str:
    """Describe ids by their number and the first of them: ``2 ids of gap-test are missing (a, b)``."""
    count = "1 id" if len(ids) == 1 else f"{len(ids):,} ids"
    verb = "is" if len(ids) == 1 else "are"
    shown = ", ".join(ids[:_SHOWN]) + (", ..." if len(ids) > _SHOWN else "")
    return f"{count}{f' of {of}' if of else ''} {verb} {state} ({shown})"


def _not_in(ids: Iterable[str], corpus: Corpus | Gold) -> list[str]:
    known: Collection[str] = set(corpus.ids)
    return [name for name in ids if name not in known]


def _other_data(path: Path, ids: Sequence[str], corpus: Corpus | Gold) -> DataError:
    return DataError(
        f"shares no id with {corpus.name}: it begins with {ids[0]!r}",
        place=Place(path),
        expected=f"ids such as {corpus.ids[0]!r}" if len(corpus) else "a corpus with rows",
        remedy="Score it against the data that it is for",
    )
