"""Soft labels: the probabilities of other systems (teachers) for unlabelled rows, and what members learn next to GAP.

The rows of stage 2 that are missing from the teachers' files were scored in the competition. Rows that share a page or
a passage with one of those, or with a row of GAP, are left out. The teachers may have been trained on all of GAP.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np

from gapstack.cache import by_content
from gapstack.data import sources
from gapstack.data.augment import AugmentationName, variants
from gapstack.data.contamination import shared_with
from gapstack.data.corpus import Corpus, one_hot
from gapstack.data.example import Example
from gapstack.data.extra import load
from gapstack.data.gap_files import read_gap, read_submission
from gapstack.errors import DataError, Place
from gapstack.files import contents, digest, fingerprint, no_such_file
from gapstack.settings import Reads
from gapstack.types import Floats

STAGE2 = "stage2"
"""Name of the default teacher: competitors' files for the rows of stage 2 that were not scored."""
ROWS = "rows.tsv"
"""Name of the file of rows in a teacher's folder; without it, the rows are those of stage 2."""
CONTAMINATES = ("gap-stage2",)
"""Test sets on which a member trained on soft labels must not be scored."""


class SoftLabels(NamedTuple):
    """n unlabelled rows, and the teachers' mean probabilities (n, 3), whose rows sum to 1."""

    corpus: Corpus
    probabilities: Floats


@by_content(lambda teacher: contents(teacher_files(teacher)), most=2)
def load_teacher(teacher: str | Sequence[str]) -> SoftLabels:
    """Read soft labels: the rows that all files predict, and their mean probabilities.

    ``teacher`` is ``"stage2"`` for the seven competitors' files, or names submission files or folders of them. A folder
    may contain the rows that its files predict (:data:`ROWS`); all other files predict stage 2. Raises DataError if no
    row is in all files.
    """
    submissions = _submissions(teacher)
    groups = [(read_gap(rows), files) for rows, files in submissions.items()]
    others = [read_gap(path) for path in _splits_of_gap()]
    for path, (rows, files) in zip(submissions, groups, strict=True):
        if path.name != ROWS:  # rows of stage 2 without predictions are those that were scored
            predicted = {identifier for file in files for identifier in _read_by_id(file)}
            others.append(Corpus([row for row in rows if row.id not in predicted], name="scored rows"))
    kept: list[tuple[Example, Floats]] = []
    for rows, files in groups:
        predictions = [_read_by_id(file) for file in files]
        keep = np.array([all(row.id in by_id for by_id in predictions) for row in rows], dtype=bool)
        if not keep.any():
            problem = f"no row of {rows.name} is in all of {', '.join(file.name for file in files)}"
            raise DataError(problem, place=Place(files[0]), expected=f"submissions for {rows.name}")
        for other in others:
            shared = shared_with(rows, other)
            keep &= ~(shared["page"] | shared["passage"])
        kept += [(row, np.mean([by_id[row.id] for by_id in predictions], axis=0)) for row in rows[keep]]
    return SoftLabels(
        Corpus([row for row, _ in kept], name="+".join(rows.name for rows, _ in groups)),
        np.array([mean for _, mean in kept]).reshape(-1, 3),
    )


def teacher_files(teacher: str | Sequence[str]) -> list[Path]:
    """All files that :func:`load_teacher` reads: submissions, the rows, and the available splits of GAP."""
    groups = _submissions(teacher).items()
    return [*(file for rows, files in groups for file in (*files, rows)), *_splits_of_gap()]


def _splits_of_gap() -> list[Path]:
    """Files of the available splits of GAP."""
    splits = (sources.find(f"gap-{split}") for split in ("development", "validation", "test"))
    return [path for path in splits if path]


def _teacher_digest(teacher: str | Sequence[str] | None) -> str:
    if not teacher:
        return ""
    files = teacher_files(teacher)
    for file in files:
        if not file.is_file():
            raise no_such_file(file)
    names = [teacher] if isinstance(teacher, str) else teacher
    return f"{'+'.join(Path(name).name for name in names)} {fingerprint([digest(file) for file in files])}"


TeacherNames = Annotated[
    str | Sequence[str] | None,
    Reads(_teacher_digest, in_training=True, contaminates=lambda names: CONTAMINATES if names else ()),
]
"""A setting for :func:`load_teacher`."""


def soft_labelled(
    extra: Sequence[str], teacher: str | Sequence[str] | None, augment: Sequence[AugmentationName]
) -> tuple[Corpus, Floats]:
    """Rows of extra corpora and a teacher with their augmented copies, and probabilities (n, 3) to learn."""
    parts = [(corpus, one_hot(corpus.labels)) for corpus in (load(name).corpus for name in extra)]
    if teacher:
        soft = load_teacher(teacher)
        parts.append((soft.corpus, soft.probabilities))
    rows: list[Example] = []
    targets: list[Floats] = []
    for source, (corpus, probabilities) in enumerate(parts):
        renamed = [replace(row, id=f"{source}:{row.id}", label=None) for row in corpus]
        rows += renamed
        targets.append(probabilities)
        for variant in variants(Corpus(renamed, name=corpus.name), tuple(augment)):
            changed = np.flatnonzero(variant.changed)
            rows += [replace(row, id=f"{row.id}~{variant.name}") for row in variant.corpus.take(changed)]
            # an exchange of columns is its own inverse
            targets.append(variant.restore(probabilities[changed]))
    return Corpus(rows, name="distilled"), np.concatenate(targets)


def _read_by_id(file: Path) -> dict[str, Floats]:
    """Probabilities (3,) of a submission by id, normalised to sum to 1."""
    submission = read_submission(file)
    probabilities = submission.probabilities / submission.probabilities.sum(axis=1, keepdims=True)
    return dict(zip(submission.ids, probabilities, strict=True))


def _submissions(teacher: str | Sequence[str]) -> dict[Path, list[Path]]:
    """Submission files, by the file of the rows that they predict."""
    groups: dict[Path, list[Path]] = {}
    for name in [teacher] if isinstance(teacher, str) else teacher:
        path = sources.require("stage2-submissions") if name == STAGE2 else Path(name)
        rows = path / ROWS if (path / ROWS).is_file() else sources.require(STAGE2)
        files = sorted(path.glob("*.csv*")) if path.is_dir() else [path]
        if not files:
            raise DataError("no submission here", place=Place(path), expected="files ID,A,B,NEITHER (.csv)")
        groups.setdefault(rows, []).extend(files)
    return groups
