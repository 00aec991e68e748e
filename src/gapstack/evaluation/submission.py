"""Submissions to Kaggle: a check of the file, and its upload through Kaggle's own command line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gapstack.data import Corpus
from gapstack.data.cells import Quarantine
from gapstack.data.gap_files import SUBMISSION_COLUMNS, read_submission
from gapstack.errors import DataError, ExtraError, RemoteError
from gapstack.evaluation.files import describe_ids
from gapstack.evaluation.metrics import FLOOR
from gapstack.files import open_bytes
from gapstack.types import Floats

_SHOWN = 5

SUM_TOLERANCE = 1e-4
"""Row sums further from 1 are worth a note; sums of float32 probabilities stay well within."""


@dataclass(frozen=True, slots=True)
class SubmissionProblem:
    """A problem of a submission: ``fatal`` if Kaggle would refuse the file for it, else worth knowing."""

    text: str
    fatal: bool = True

    def __str__(self) -> str:
        return f"{'error' if self.fatal else 'note'}: {self.text}"


@dataclass
class _BadRows(Quarantine):
    """Collects the bad rows of a file in memory, and their ids."""

    ids: set[str] = field(default_factory=set)

    def put(self, source: Path, rejected: Sequence[tuple[DataError, bytes]]) -> None:
        self.problems += [problem for problem, _ in rejected]
        self.ids |= {raw.split(b",")[0].decode("utf-8", "replace").strip('"') for _, raw in rejected}


def submit_check(path: Path, corpus: Corpus) -> list[SubmissionProblem]:
    """Check if Kaggle would accept a submission for the rows of ``corpus``: problems, fatal ones first.

    It accepts files with exactly the header ``ID,A,B,NEITHER`` and every id of the corpus once and no other, in any
    order, with finite numbers from 0 up that are not all 0 in a row. Rows out of order, rows that do not sum to 1 and
    probabilities that Kaggle would clip are notes. Raises DataNotFoundError if there is no such file.
    """
    bad = _BadRows()
    try:
        ids, probabilities = read_submission(path, quarantine=bad)
    except DataError as problem:
        if not bad.problems:
            return [SubmissionProblem(str(problem))]
        ids, probabilities = [], np.empty((0, 3))  # every single row is bad
    with open_bytes(path) as stream:
        header = stream.readline().removesuffix(b"\n").decode("utf-8")
    texts = []
    if header != ",".join(SUBMISSION_COLUMNS):
        texts.append(f"the header is {header!r}; expected exactly {','.join(SUBMISSION_COLUMNS)!r}")
    texts += [str(problem) for problem in bad.problems[:_SHOWN]]
    if len(bad.problems) > _SHOWN:
        texts.append(f"{len(bad.problems) - _SHOWN:,} further rows are bad")
    present, expected = set(ids) | bad.ids, set(corpus.ids)
    if missing := [name for name in corpus.ids if name not in present]:
        texts.append(describe_ids(missing, "not in the file", of=corpus.name))
    if unknown := [name for name in ids if name not in expected]:
        texts.append(describe_ids(unknown, f"not in {corpus.name}"))
    notes = _notes(ids, probabilities, corpus, complete=not texts)
    return [*map(SubmissionProblem, texts), *(SubmissionProblem(note, fatal=False) for note in notes)]


def _notes(ids: Sequence[str], probabilities: Floats, corpus: Corpus, *, complete: bool) -> list[str]:
    """What Kaggle accepts silently."""
    notes = []
    if complete and list(ids) != corpus.ids:
        notes.append(f"the rows are not in the order of {corpus.name}; Kaggle matches them by id")
    sums = probabilities.sum(axis=1)
    if off := int((np.abs(sums - 1) > SUM_TOLERANCE).sum()):
        notes.append(f"{off:,} rows do not sum to 1; Kaggle divides each by its sum")
    if clipped := int((probabilities < FLOOR * sums[:, None]).any(axis=1).sum()):
        notes.append(
            f"{clipped:,} rows give an answer no chance at all (below {FLOOR:g}); "
            f"where it is the right one, Kaggle counts a loss of {-np.log(FLOOR):.1f}"
        )
    return notes


def submit(competition: str, submission: Path, message: str) -> str:
    """Upload a file with ``kaggle competitions submit``, without checking it; returns the command's output.

    Raises ExtraError if the command is not installed, and RemoteError if it fails: no token, competition or network.
    """
    # an environment need not be activated, so the folder of this Python counts too
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])
    command = shutil.which("kaggle", path=places)
    if command is None:
        raise ExtraError("Kaggle's command line", "kaggle")
    arguments = ["competitions", "submit", "-c", competition, "-f", str(submission), "-m", message]
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").splitlines()
        raise RemoteError(f"kaggle did not take {submission} for {competition}: {lines[-1]}")
    return done.stdout.strip()
