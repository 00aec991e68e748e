"""Soft labels: what other systems said of rows that have no labels, as something to learn from.

The rows are Kaggle's second stage; the files are submissions. A member that learns from them has seen answers to
those rows, if only other systems' answers, and must not be scored on them: :data:`CONTAMINATES`. Those systems may
themselves have learned from every split of GAP, so what reaches a member through them is second-hand knowledge of
all GAP; no text of GAP is among the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import sources
from gapstack.corpus.corpus import Corpus
from gapstack.corpus.extra.overlap import shared_passages
from gapstack.corpus.readers import read_submission
from gapstack.errors import DataError, Place

STAGE2 = "stage2"
"""Name of the teacher that the data search finds: competitors' files for the rows that stage 2 did not score."""
CONTAMINATES = ("gap-stage2",)
"""Test sets that a taught member must not be scored on."""


@dataclass(frozen=True)
class Taught:
    """Rows and what the teachers say of them.

    Attributes
    ----------
    corpus : Corpus
        n unlabelled rows.
    probabilities : (n, 3) float64
        Mean over the teachers of A, B, NEITHER; rows sum to 1.
    teachers : tuple of str
        Names of the files.
    """

    corpus: Corpus
    probabilities: NDArray[np.float64]
    teachers: tuple[str, ...]


def load_teacher(teacher: str | Sequence[str], data: Path | None = None) -> Taught:
    """Read a teacher: the rows of stage 2 that all its files answer, and the mean of their answers.

    Rows that share a passage of 13 words with any split of GAP at hand are left out.

    Parameters
    ----------
    teacher : str or sequence of str
        ``"stage2"`` for the seven files of the data search, a folder of submission files, or the files.
    data : Path, optional
        Folder to search first.

    Raises
    ------
    DataNotFoundError
        If files or rows are nowhere.
    DataError
        If a file is no submission, or no row is answered by all.
    """
    files = _files(teacher, data)
    rows = sources.stage2(data)
    answers = []
    for file in files:
        submission = read_submission(file)
        found = submission.probabilities / submission.probabilities.sum(axis=1, keepdims=True)
        answers.append(dict(zip(submission.ids, found, strict=True)))
    answered = np.array([all(example.id in one for one in answers) for example in rows], dtype=bool)
    if not answered.any():
        raise DataError(
            f"no row of stage 2 is answered by all of {', '.join(file.name for file in files)}",
            place=Place(files[0]),
            expected="submissions for stage 2",
        )
    for split in sources.SPLITS:
        if sources.find(f"gap-{split}", data) is not None:
            answered &= ~shared_passages(rows, sources.gap_split(split, data))
    corpus = rows.take(np.flatnonzero(answered))
    mean = np.array([np.mean([one[example.id] for one in answers], axis=0) for example in corpus])
    return Taught(corpus, mean, tuple(file.name for file in files))


def teacher_files(teacher: str | Sequence[str], data: Path | None = None) -> list[Path]:
    """All files that :func:`load_teacher` reads: submissions, the rows, and the splits of GAP at hand."""
    splits = [sources.find(f"gap-{split}", data) for split in sources.SPLITS]
    rows = sources.require("stage2", data)
    return [*_files(teacher, data), rows, *(split for split in splits if split is not None)]


def _files(teacher: str | Sequence[str], data: Path | None) -> list[Path]:
    if not isinstance(teacher, str):
        return [Path(file) for file in teacher]
    path = sources.require("stage2-submissions", data) if teacher == STAGE2 else Path(teacher)
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.csv*"))
    if not files:
        raise DataError("no submission here", place=Place(path), expected="files ID,A,B,NEITHER (.csv)")
    return files
