"""Folds for cross-validation: grouped by page, whose rows share names and facts, stratified by gender and label."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from gapstack.data.corpus import Corpus
from gapstack.errors import DataError
from gapstack.files import fingerprint, write_json
from gapstack.types import Rows


@dataclass(frozen=True, eq=False)
class Folds:
    """Folds of a corpus: ``assignment`` (n,) int64 is the fold, 0 to k - 1, in which each row is held out."""

    assignment: Rows
    k: int
    seed: int
    corpus_fingerprint: str

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the corpus, the number of folds, the seed and every row's fold."""
        return fingerprint(self.corpus_fingerprint, self.k, self.seed, self.assignment.tolist())

    def split(self, fold: int) -> tuple[Rows, Rows]:
        """Training rows and held-out rows of ``fold``, each in the corpus's order."""
        held_out = self.assignment == fold
        return np.flatnonzero(~held_out), np.flatnonzero(held_out)

    def save(self, path: Path) -> None:
        """Write the folds as JSON, atomically."""
        stored = {
            "k": self.k,
            "seed": self.seed,
            "corpus": self.corpus_fingerprint,
            "folds": self.fingerprint,
        }
        write_json(path, stored | {"assignment": self.assignment.tolist()})


def make_folds(corpus: Corpus, k: int = 5, *, seed: int = 0) -> Folds:
    """Make ``k`` random folds of a labelled corpus, grouped by page and stratified by gender and label.

    Raises DataError if the corpus has no labels, or too few pages or rows of each kind.
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
            f"{corpus.name} cannot be split into {k} folds ({problem})",
            expected="2 to as many folds as there are pages and rows of the most frequent kind",
        ) from None
    if len(np.unique(assignment)) < k:
        raise DataError(f"a fold of {corpus.name} would be empty", remedy="Use fewer folds")
    return Folds(assignment, k, seed, corpus.fingerprint)
