"""Files of predictions: read in the order of a corpus, scored like their format's scorer, checked and submitted.

============================  ==============================  ===========================================
id                            submission CSV (Kaggle)         scorer TSV (official gap_scorer.py)
============================  ==============================  ===========================================
not in the file               refused                         both decisions missing: two false negatives
not in the corpus             refused                         ignored
twice in the file             refused by the reader           the first row counts
============================  ==============================  ===========================================

Refused means a :class:`~gapstack.errors.DataError`; what the scorer accepts silently is a note.
"""

import codecs
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapstack.data import Corpus
from gapstack.data.gap_data import SPLITS, rows_of, stage2
from gapstack.data.gap_files import (
    MISSING,
    SUBMISSION_COLUMNS,
    is_scorer_tsv,
    read_scorer_tsv,
    read_solution,
    read_submission,
)
from gapstack.errors import DataError, ExtraError, Place, RemoteError, counted
from gapstack.evaluation.metrics import FLOOR, Predictions
from gapstack.evaluation.scores import Scores, score_predictions
from gapstack.files import open_bytes
from gapstack.types import Ints

SUM_TOLERANCE = 1e-4
"""Row sums that differ more from 1 are noted; float32 probabilities stay well below."""


def _read(path: Path) -> tuple[bool, Sequence[str], NDArray[Any]]:
    """True if a file has decisions (:func:`~gapstack.data.gap_files.is_scorer_tsv`), its ids, and its values."""
    is_tsv = is_scorer_tsv(path)
    return is_tsv, *(read_scorer_tsv if is_tsv else read_submission)(path)


def read_predictions(path: Path, corpus: Corpus) -> Predictions:
    """Read a submission or a scorer TSV, in the order of ``corpus``; raises as the module describes."""
    is_tsv, ids, values = _read(path)
    rows, notes = _rows_of(path, ids, corpus, is_tsv)
    if not is_tsv:
        return Predictions.of(values[rows])
    ordered = np.where((rows >= 0)[:, None], values[rows], MISSING)
    answered = ordered != MISSING
    if silent := int((~answered[rows >= 0]).sum()):
        notes.append(
            f"{silent:,} decisions are empty: each counts as a false negative, even where gold is FALSE"
        )
    return Predictions(None, ordered == 1, answered, tuple(notes))


def _rows_of(path: Path, ids: Sequence[str], corpus: Corpus, is_tsv: bool) -> tuple[Ints, list[str]]:
    """Row of each id of the corpus in a file, -1 if a TSV lacks it, and notes; DataError as the module describes."""
    first = {name: row for row, name in reversed(list(enumerate(ids)))}
    rows = np.array([first.get(name, -1) for name in corpus.ids], dtype=np.int64)
    irregular = {
        f"not in the file{': two false negatives each' if is_tsv else ''}": [
            name for name in corpus.ids if name not in first
        ],
        f"not in {corpus.name}{': ignored' if is_tsv else ''}": list(first.keys() - set(corpus.ids)),
        "again in the file: the first row counts": [
            name for name, times in Counter(ids).items() if times > 1
        ],
    }
    notes = [
        f"{counted(len(names), 'id')} {'is' if len(names) == 1 else 'are'} {state} ({', '.join(sorted(names)[:3])})"
        for state, names in irregular.items()
        if names
    ]
    if (rows < 0).all() or (notes and not is_tsv):
        expected = f"the {len(corpus):,} ids of {corpus.name}"
        remedy = "Score the file against the data that it is for"
        raise DataError("; ".join(notes) or "no rows", place=Place(path), expected=expected, remedy=remedy)
    return rows, notes


def prediction_ids(path: Path) -> list[str]:
    """Ids of a submission CSV or scorer TSV, in the order of the file; raises as its reader does."""
    return list(_read(path)[1])


def score_file(path: Path, corpus: Corpus) -> tuple[Scores, tuple[str, ...]]:
    """Score a submission CSV or scorer TSV on a labelled corpus: scores and notes; :func:`read_predictions` raises."""
    predictions = read_predictions(path, corpus)
    return score_predictions(corpus, predictions), predictions.notes


def score_solution(path: Path, solution: Path) -> dict[str, tuple[Corpus, Scores]]:
    """Rows and scores of a submission for each ``Usage`` of Kaggle's solution file, without ignored rows.

    The texts are those of GAP or of stage 2. Raises DataError unless the submission has exactly the solution's ids.
    """
    ids, labels, usages = read_solution(solution)
    texts = {row.id: row for row in _solution_texts(ids, solution)}
    rows = Corpus(
        [replace(texts[name], label=label) for name, label in zip(ids, labels, strict=True)],
        name=solution.name,
    )
    probabilities = read_predictions(path, rows).probabilities
    if probabilities is None:
        raise DataError("has decisions", place=Place(path), expected="probabilities, as Kaggle scores")
    by_usage: dict[str, list[int]] = {}
    for number, usage in enumerate(usages):
        if usage.lower() != "ignored":
            by_usage.setdefault(usage, []).append(number)
    return {
        usage: (used := rows[numbers], score_predictions(used, Predictions.of(probabilities[numbers])))
        for usage, numbers in by_usage.items()
    }


def _solution_texts(ids: Sequence[str], solution: Path) -> Corpus:
    in_gap = ids[0].rpartition("-")[0] in SPLITS
    texts = rows_of(ids) if in_gap else stage2()
    if unknown := sorted(set(ids) - set(texts.ids)):
        raise DataError(
            f"{counted(len(unknown), 'id')} ({', '.join(unknown[:3])}) not in {texts.name}",
            place=Place(solution),
            expected="ids of GAP or of stage 2",
        )
    return texts


@dataclass(frozen=True, slots=True)
class SubmissionProblem:
    """A problem of a submission; ``fatal`` if Kaggle would reject the file for it."""

    text: str
    fatal: bool = True

    def __str__(self) -> str:
        return f"{'error' if self.fatal else 'note'}: {self.text}"


def submit_check(path: Path, corpus: Corpus) -> list[SubmissionProblem]:
    """Problems for which Kaggle would reject the submission; otherwise notes on what it would change."""
    try:
        ids, probabilities = read_submission(path)
        _rows_of(path, ids, corpus, is_tsv=False)
    except DataError as problem:
        return [SubmissionProblem(str(problem))]
    with open_bytes(path) as stream:
        first = stream.readline()
    if first.startswith(codecs.BOM_UTF8):
        return [SubmissionProblem("it begins with a byte-order mark, which Kaggle takes for a part of 'ID'")]
    header = first.decode().strip()
    if header != ",".join(SUBMISSION_COLUMNS):
        return [SubmissionProblem(f"the header is {header!r}; expected {','.join(SUBMISSION_COLUMNS)!r}")]
    notes = []
    if first.endswith(b"\r\n"):
        notes.append("lines end in CRLF, which Kaggle reads too")
    if ids != corpus.ids:
        notes.append(f"the rows are not in the order of {corpus.name}; Kaggle matches them by id")
    sums = probabilities.sum(axis=1)
    if off := int((np.abs(sums - 1) > SUM_TOLERANCE).sum()):
        notes.append(f"{counted(off, 'row')} with a sum other than 1, by which Kaggle divides")
    if clipped := int((probabilities < FLOOR * sums[:, None]).any(axis=1).sum()):
        notes.append(
            f"{counted(clipped, 'row')} with an answer that has no chance at all (below {FLOOR:g}); "
            f"where it is the right one, Kaggle counts a loss of {-np.log(FLOOR):.1f}"
        )
    return [SubmissionProblem(note, fatal=False) for note in notes]


def submit(competition: str, submission: Path, message: str) -> str:
    """Upload a file with ``kaggle competitions submit``, unchecked; ExtraError or RemoteError if that fails."""
    # the folder of this Python too, since its environment need not be activated
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])
    command = shutil.which("kaggle", path=places)
    if command is None:
        raise ExtraError("Kaggle's command line", "kaggle")
    arguments = ["competitions", "submit", "-c", competition, "-f", str(submission), "-m", message]
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").splitlines()
        raise RemoteError(
            f"kaggle refused {submission} for {competition}: {lines[-1]}. Correct that and repeat the command"
        )
    return done.stdout.strip()
