"""Whether Kaggle would accept a submission, and what in it may be unintended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gapstack.corpus import Corpus
from gapstack.corpus.cells import Quarantine
from gapstack.corpus.readers import SUBMISSION_COLUMNS, read_submission
from gapstack.errors import DataError
from gapstack.files import open_bytes
from gapstack.scoring.files import describe_ids
from gapstack.scoring.metrics import FLOOR

_SHOWN = 5

SUM_TOLERANCE = 1e-4
"""Row sums this far from 1 are worth a note; sums of float32 probabilities stay well within."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a submission: ``fatal`` if Kaggle would refuse the file for it, else worth knowing."""

    text: str
    fatal: bool = True

    def __str__(self) -> str:
        return f"{'error' if self.fatal else 'note'}: {self.text}"


@dataclass
class _Collector(Quarantine):
    """Keeps the bad rows of a file in memory, and the ids that stand in them."""

    ids: set[str] = field(default_factory=set)

    def put(self, source: Path, rejected: Sequence[tuple[DataError, bytes]]) -> None:
        self.problems += [problem for problem, _ in rejected]
        self.ids |= {raw.split(b",")[0].decode("utf-8", "replace").strip('"') for _, raw in rejected}


def submit_check(path: Path, corpus: Corpus) -> list[Problem]:
    """Check whether Kaggle would accept a submission for the rows of ``corpus``.

    It accepts files with exactly the header ``ID,A,B,NEITHER`` and every id of the corpus once and no other, in any
    order, with finite numbers from 0 up that are not all 0 in a row. Rows out of order, rows that do not sum to 1 and
    probabilities that Kaggle would clip are notes. Raises DataNotFoundError if there is no such file.

    Parameters
    ----------
    path : Path
        The submission.
    corpus : Corpus
        The competition's rows; labels are not looked at.

    Returns
    -------
    Problems, those that matter most first; Kaggle would take the file if none is ``fatal``.
    """
    bad = _Collector()
    try:
        ids, probabilities = read_submission(path, quarantine=bad)
    except DataError as problem:
        if not bad.problems:
            return [Problem(str(problem))]
        ids, probabilities = [], np.empty((0, 3))  # every single row is bad
    with open_bytes(path) as stream:
        header = stream.readline().removesuffix(b"\n").decode("utf-8")
    problems: list[Problem] = []
    if header != ",".join(SUBMISSION_COLUMNS):
        problems.append(
            Problem(f"the header is {header!r}; expected exactly {','.join(SUBMISSION_COLUMNS)!r}")
        )
    problems.extend(Problem(str(problem)) for problem in bad.problems[:_SHOWN])
    if len(bad.problems) > _SHOWN:
        problems.append(Problem(f"{len(bad.problems) - _SHOWN:,} further rows are bad"))
    present = set(ids) | bad.ids
    missing = [name for name in corpus.ids if name not in present]
    if missing:
        problems.append(Problem(describe_ids(missing, "not in the file", of=corpus.name)))
    expected = set(corpus.ids)
    unknown = [one for one in ids if one not in expected]
    if unknown:
        problems.append(Problem(describe_ids(unknown, f"not in {corpus.name}")))
    return problems + _notes(ids, probabilities, corpus, complete=not problems)


def _notes(ids: Sequence[str], probabilities: np.ndarray, corpus: Corpus, *, complete: bool) -> list[Problem]:
    """What Kaggle lets pass."""
    notes: list[str] = []
    if complete and list(ids) != corpus.ids:
        notes.append(f"the rows are not in the order of {corpus.name}; Kaggle matches them by id")
    sums = probabilities.sum(axis=1)
    off = int((np.abs(sums - 1) > SUM_TOLERANCE).sum())
    if off:
        notes.append(f"{off:,} rows do not sum to 1; Kaggle divides each by its sum")
    clipped = int((probabilities < FLOOR * sums[:, None]).any(axis=1).sum())
    if clipped:
        notes.append(
            f"{clipped:,} rows give an answer no chance at all (below {FLOOR:g}); "
            f"where it is the right one, Kaggle counts a loss of {-np.log(FLOOR):.1f}"
        )
    return [Problem(note, fatal=False) for note in notes]
