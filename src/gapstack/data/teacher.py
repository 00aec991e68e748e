"""Soft labels from teachers: other systems' probabilities for unlabelled rows, for distillation.

Rows of stage 2 that the teachers' files leave out were scored in the competition: rows that share a page or a passage
with one of them, or with a row of GAP, are not learned from. The teachers may have been trained on all of GAP.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gapstack.data import sources
from gapstack.data.contamination import shared_with
from gapstack.data.corpus import Corpus
from gapstack.data.example import Example
from gapstack.data.gap_files import read_gap, read_submission
from gapstack.errors import DataError, Place
from gapstack.files import by_content, contents
from gapstack.types import Floats

STAGE2 = "stage2"
"""Name of the default teacher: competitors' files for the rows that stage 2 did not score."""
ROWS = "rows.tsv"
"""Name of the rows that the other files of a folder are about, if they are not stage 2's."""
CONTAMINATES = ("gap-stage2",)
"""Test sets on which a member trained on soft labels must not be scored."""


class SoftLabels(NamedTuple):
    """n unlabelled rows, the teachers' mean probabilities (n, 3), whose rows sum to 1, and the names of their files."""

    corpus: Corpus
    probabilities: Floats
    teachers: tuple[str, ...]


def _content_key(teacher: str | Sequence[str], data: Path | None = None) -> Hashable:
    files = teacher_files(teacher, data)
    return tuple(file.name for file in files), contents(files)


@by_content(_content_key, most=2)
def load_teacher(teacher: str | Sequence[str], data: Path | None = None) -> SoftLabels:
    """Read soft labels: the rows that are in all files about them, and the mean of their probabilities.

    ``teacher`` is ``"stage2"`` for the seven files of the data search, files, or folders of files; a folder's are about
    the rows of its :data:`ROWS` if it has one (such as a model's own predictions for mined rows), all others about
    stage 2. ``data`` is a folder to search first. Raises DataNotFoundError if files or rows are missing; DataError if a
    file is not a submission, or no row is in all files.
    """
    folders, about_stage2 = _resolve(teacher, data)
    groups = [(str(folder / ROWS), read_gap(folder / ROWS), _submissions(folder)) for folder in folders]
    others = [
        sources.gap_split(split, data) for split in sources.SPLITS if sources.find(f"gap-{split}", data)
    ]
    if about_stage2:
        stage2 = sources.stage2(data)
        predicted = {identifier for file in about_stage2 for identifier in _read_by_id(file)}
        others.append(Corpus([row for row in stage2 if row.id not in predicted], name="scored rows"))
        groups.insert(0, ("stage 2", stage2, about_stage2))
    taught: list[tuple[Example, Floats]] = []
    for title, rows, files in groups:
        predictions = [_read_by_id(file) for file in files]
        keep = np.array([all(row.id in by_id for by_id in predictions) for row in rows], dtype=bool)
        if not keep.any():
            raise DataError(
                f"no row of {title} is in all of {', '.join(file.name for file in files)}",
                place=Place(files[0]),
                expected=f"submissions for {title}",
            )
        for other in others:
            shared = shared_with(rows, other)
            keep &= ~(shared["page"] | shared["passage"])
        taught += [(row, np.mean([by_id[row.id] for by_id in predictions], axis=0)) for row in rows[keep]]
    return SoftLabels(
        Corpus([row for row, _ in taught], name="+".join(rows.name for _, rows, _ in groups)),
        np.array([mean for _, mean in taught]).reshape(-1, 3),
        tuple(file.name for *_, files in groups for file in files),
    )


def teacher_files(teacher: str | Sequence[str], data: Path | None = None) -> list[Path]:
    """All files that :func:`load_teacher` reads: submissions, the rows, and the available splits of GAP."""
    folders, about_stage2 = _resolve(teacher, data)
    files = [*about_stage2, *(file for folder in folders for file in (*_submissions(folder), folder / ROWS))]
    if about_stage2:
        files.append(sources.require(STAGE2, data))
    return [*files, *filter(None, (sources.find(f"gap-{split}", data) for split in sources.SPLITS))]


def _read_by_id(file: Path) -> dict[str, Floats]:
    """A submission's probabilities (3,), which sum to 1, by row."""
    submission = read_submission(file)
    probabilities = submission.probabilities / submission.probabilities.sum(axis=1, keepdims=True)
    return dict(zip(submission.ids, probabilities, strict=True))


def _resolve(teacher: str | Sequence[str], data: Path | None) -> tuple[list[Path], list[Path]]:
    """Folders with rows of their own, and files about stage 2."""
    folders, about_stage2 = [], []
    for name in [teacher] if isinstance(teacher, str) else teacher:
        path = sources.require("stage2-submissions", data) if name == STAGE2 else Path(name)
        if (path / ROWS).is_file():
            folders.append(path)
        else:
            about_stage2 += _submissions(path) if path.is_dir() else [path]
    return folders, about_stage2


def _submissions(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.csv*"))
    if not files:
        raise DataError("no submission here", place=Place(folder), expected="files ID,A,B,NEITHER (.csv)")
    return files
