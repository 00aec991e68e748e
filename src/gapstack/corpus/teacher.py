"""Soft labels from teachers: other systems' probabilities for unlabelled rows, for distillation.

The rows are Kaggle's second stage; the files are submissions. A member trained on them must not be scored on those rows
(:data:`CONTAMINATES`). The teachers may have been trained on every split of GAP, so soft labels carry second-hand
knowledge of all GAP; no text of GAP is among the rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import sources
from gapstack.corpus.corpus import Corpus
from gapstack.corpus.extra.overlap import shared_passages
from gapstack.corpus.readers import read_submission
from gapstack.errors import DataError, Place
from gapstack.files import by_content, contents

STAGE2 = "stage2"
"""Name of the default teacher: competitors' files for the rows that stage 2 did not score."""
CONTAMINATES = ("gap-stage2",)
"""Test sets on which a member trained on soft labels must not be scored."""


@dataclass(frozen=True)
class SoftLabels:
    """Rows with the teachers' probabilities.

    Attributes
    ----------
    corpus : Corpus
        n unlabelled rows.
    probabilities : (n, 3) float64
        Teachers' mean probabilities of A, B, NEITHER; rows sum to 1.
    teachers : tuple of str
        Names of the files.
    """

    corpus: Corpus
    probabilities: NDArray[np.float64]
    teachers: tuple[str, ...]


def _key(teacher: str | Sequence[str], data: Path | None = None) -> Hashable:
    files = teacher_files(teacher, data)
    return tuple(file.name for file in files), contents(files)


@by_content(_key, most=2)
def load_teacher(teacher: str | Sequence[str], data: Path | None = None) -> SoftLabels:
    """Read soft labels: the rows of stage 2 that are in all files, and the mean of their probabilities.

    Rows that share a passage of 13 words with an available split of GAP are left out. Raises DataNotFoundError if files
    or rows are missing; DataError if a file is no submission, or no row is in all files.

    Parameters
    ----------
    teacher : str or sequence of str
        ``"stage2"`` for the seven files of the data search, a folder of submission files, or the files.
    data : Path, optional
        Folder to search first.
    """
    files = _files(teacher, data)
    rows = sources.stage2(data)
    teachers = []
    for file in files:
        submission = read_submission(file)
        probabilities = submission.probabilities / submission.probabilities.sum(axis=1, keepdims=True)
        teachers.append(dict(zip(submission.ids, probabilities, strict=True)))
    keep = np.array([all(example.id in by_id for by_id in teachers) for example in rows], dtype=bool)
    if not keep.any():
        raise DataError(
            f"no row of stage 2 is in all of {', '.join(file.name for file in files)}",
            place=Place(files[0]),
            expected="submissions for stage 2",
        )
    for split in sources.SPLITS:
        if sources.find(f"gap-{split}", data) is not None:
            keep &= ~shared_passages(rows, sources.gap_split(split, data))
    corpus = rows.take(np.flatnonzero(keep))
    mean = np.array([np.mean([by_id[example.id] for by_id in teachers], axis=0) for example in corpus])
    return SoftLabels(corpus, mean, tuple(file.name for file in files))


def teacher_files(teacher: str | Sequence[str], data: Path | None = None) -> list[Path]:
    """All files that :func:`load_teacher` reads: submissions, the rows, and the splits of GAP at hand."""
    files = _files(teacher, data)
    splits = [sources.find(f"gap-{split}", data) for split in sources.SPLITS]
    rows = sources.require("stage2", data)
    return [*files, rows, *(split for split in splits if split is not None)]


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
