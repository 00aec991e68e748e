"""Folds for cross-validation: grouped by page, stratified by gender and label.

Rows of one page share names and facts, so a page must not be split between training and held-out rows.
"""

from __future__ import annotations

import warnings
from dataclasses import InitVar, dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import strict_json
from gapstack.corpus.corpus import Corpus
from gapstack.errors import DataError, DataNotFoundError, IntegrityError, MismatchError, Place
from gapstack.files import fingerprint, read_bytes, write_json
from gapstack.types import Rows

_STORED = {"k": int, "seed": int, "corpus": str, "folds": str, "assignment": [int]}


@dataclass(frozen=True, eq=False)
class Folds:
    """Assignment of each row of a corpus to the fold in which it is held out.

    Raises DataError if a fold is empty, a number is out of range, or a group is in two folds.

    Attributes
    ----------
    assignment : (n,) int64
        Fold of each row, 0 to k - 1.
    k : int
        Number of folds.
    seed : int
        Random seed of the assignment.
    corpus_fingerprint : str
        Hash of the corpus (texts, spans and URLs; the same for all label sets).
    """

    assignment: Rows
    k: int
    seed: int
    corpus_fingerprint: str
    groups: InitVar[NDArray[np.str_]]

    def __post_init__(self, groups: NDArray[np.str_]) -> None:
        if self.assignment.shape != groups.shape:
            raise DataError(
                f"folds for {len(self.assignment)} rows and a corpus of {len(groups)}",
                expected="one fold for each row",
            )
        if not 0 < self.k <= len(groups):
            raise DataError(f"{self.k} folds of {len(groups)} rows", expected=f"1 to {len(groups)}")
        empty = sorted(set(range(self.k)).symmetric_difference(self.assignment.tolist()))
        if empty:
            raise DataError(
                f"fold {empty[0]} has no rows or is not one of the {self.k}",
                expected=f"folds 0 to {self.k - 1}, none empty",
                remedy="Take fewer folds",
            )
        pairs = np.unique(np.column_stack([groups, self.assignment.astype(str)]), axis=0)
        names, times = np.unique(pairs[:, 0], return_counts=True)
        if (times > 1).any():
            raise DataError(
                f"{str(names[times > 1][0])[:80]!r} is in two folds", expected="one fold for a page"
            )
        self.assignment.setflags(write=False)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the corpus, the number of folds, the seed and every row's fold."""
        return fingerprint(self.corpus_fingerprint, self.k, self.seed, self.assignment.tolist())

    def split(self, fold: int) -> tuple[Rows, Rows]:
        """Training rows and held-out rows of ``fold``, each in the corpus's order."""
        if not 0 <= fold < self.k:
            raise IndexError(f"fold {fold} of {self.k}: folds are numbered from 0")
        held_out = self.assignment == fold
        return np.flatnonzero(~held_out), np.flatnonzero(held_out)

    def save(self, path: Path) -> None:
        """Write the folds as JSON, atomically."""
        write_json(
            path,
            {
                "k": self.k,
                "seed": self.seed,
                "corpus": self.corpus_fingerprint,
                "folds": self.fingerprint,
                "assignment": self.assignment.tolist(),
            },
        )

    @classmethod
    def load(cls, path: Path, corpus: Corpus) -> Self:
        """Read the folds of ``corpus``.

        Raises MismatchError if they belong to another corpus; IntegrityError if the file was changed since it was
        written; DataError if it is no folds file.
        """
        place = Place(path)
        remedy = "Delete it to make the folds again"
        path = Path(path)
        if not path.is_file():
            raise DataNotFoundError(f"there are no folds at {path}")
        try:
            stored = strict_json.read(read_bytes(path), path, shape=_STORED)
        except DataError as problem:
            raise DataError(f"is no folds file ({problem.problem})", place=place, remedy=remedy) from None
        assignment = np.array(stored["assignment"], dtype=np.int64)
        k, seed, belongs, stated = (stored[key] for key in ("k", "seed", "corpus", "folds"))
        if belongs != corpus.fingerprint:
            raise MismatchError(
                f"{path}: the corpus differs. The folds were made for {len(assignment)} rows with fingerprint "
                f"{belongs}; {corpus.name} has {len(corpus)} rows with fingerprint {corpus.fingerprint}"
            )
        folds = cls(assignment, k, seed, belongs, corpus.groups)
        if folds.fingerprint != stated:
            raise IntegrityError(f"{path}: the folds were changed since they were written. {remedy}")
        return folds


def make_folds(corpus: Corpus, k: int = 5, *, seed: int = 0) -> Folds:
    """Make ``k`` random folds of a labelled corpus: groups stay whole, gender and label are stratified.

    The same corpus, ``k`` and ``seed`` give the same folds. Raises DataError if the corpus has no labels, or too few
    groups or rows of each kind for ``k`` folds.
    """
    from sklearn.model_selection import StratifiedGroupKFold  # slow to import

    strata = np.char.add(corpus.genders, corpus.labels.astype(str))
    assignment = np.full(len(corpus), -1, dtype=np.int64)
    try:
        splitter = StratifiedGroupKFold(n_splits=k, shuffle=True, random_state=seed)
        with warnings.catch_warnings():
            # a stratum smaller than k cannot be in every fold; the others still can
            warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
            for fold, (_, held_out) in enumerate(splitter.split(strata, strata, corpus.groups)):
                assignment[held_out] = fold
    except ValueError as problem:
        raise DataError(
            f"{corpus.name} cannot be cut into {k} folds ({problem})",
            expected="from 2 to as many folds as there are pages and rows of the commonest kind",
            remedy="Take fewer folds",
        ) from None
    return Folds(assignment, k, seed, corpus.fingerprint, corpus.groups)
