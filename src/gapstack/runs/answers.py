"""Probabilities that a finished run predicted for its own rows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from gapstack.corpus import Corpus
from gapstack.errors import DataError, MismatchError, Place
from gapstack.members.member import Probabilities
from gapstack.runs.corpora import corpora
from gapstack.runs.folder import COLUMNS, STACK, RunFolder
from gapstack.runs.recipe import Recipe

HELD_OUT, OUT_OF_FOLD = "held out", "out of fold"
_PARTS = (HELD_OUT, OUT_OF_FOLD)


@dataclass(frozen=True)
class RunAnswers:
    """Probabilities (n, 3) of a run's members, and of its stack.

    ``part`` says whether the rows were held out or predicted out of fold; ``contaminated_by`` names, by
    member, the test sets that share rows with its training data.
    """

    part: str
    members: dict[str, Probabilities]
    contaminated_by: dict[str, tuple[str, ...]]


def run_corpora(folder: RunFolder, data: str | None = None) -> dict[str, Corpus]:
    """Load the rows that a run predicted, with official labels: by part, ``held out`` and ``out of fold``.

    Parameters
    ----------
    folder : RunFolder
    data : str, optional
        Where to look for GAP first, or ``sample``, as :func:`~gapstack.runs.corpora.corpora`.

    Raises
    ------
    MismatchError
        If the data are not those of the run.
    """
    manifest, recipe = folder.manifest(), Recipe.of_run(folder)
    _, train, test = corpora(recipe.revised(labels="official"), data)
    now = {"training rows": train.fingerprint, "held-out rows": test.fingerprint}
    other = [kind for kind, hashed in now.items() if manifest["identity"][kind] != hashed]
    if other:
        raise MismatchError(
            f"{folder.root} was run on other {' and '.join(other)} than are found now; name its data with --data"
        )
    return {HELD_OUT: test, OUT_OF_FOLD: train}


def run_answers(folder: RunFolder, rows: Corpus, only: Collection[str] = ()) -> RunAnswers:
    """Read the probabilities of a run's members for ``rows``, matched by id: of the held-out part, else out of fold.

    Parameters
    ----------
    folder : RunFolder
    rows : Corpus
    only : collection of str
        Labels of members, or ``stack``; all by default.

    Raises
    ------
    DataError
        If the run has no such member, is not finished, or is damaged.
    MismatchError
        If neither part has all the rows.
    """
    recipe = Recipe.of_run(folder)
    contaminated_by = recipe.contaminated_by()
    missing = sorted(set(only) - set(contaminated_by))
    if missing:
        raise DataError(
            f"run {folder.root.name} has no member {missing[0]!r}",
            expected=f"one of {', '.join(contaminated_by)}",
        )
    labels = [label for label in contaminated_by if not only or label in only]
    for part in _PARTS:
        tables = {label: _read(folder, recipe, label, part) for label in labels}
        if all(set(rows.ids) <= set(table.index) for table in tables.values()):
            members = {
                label: table.loc[rows.ids, COLUMNS].to_numpy(dtype=np.float64)
                for label, table in tables.items()
            }
            return RunAnswers(part, members, {label: contaminated_by[label] for label in labels})
    raise MismatchError(
        f"{folder.root} has no answers for all {len(rows)} rows of {rows.name}: it holds out "
        f"{', '.join(recipe.test)} and predicts {', '.join(recipe.train)} out of fold"
    )


def _read(folder: RunFolder, recipe: Recipe, label: str, part: str) -> pd.DataFrame:
    """Probabilities of a member or the stack for all rows of a part, by id; checks the files' digests."""
    if label == STACK:
        file = "test.parquet" if part == HELD_OUT else "out_of_fold.parquet"
        if folder.stack(check=[file]) is None:
            raise _unfinished(folder, folder.member(STACK))
        return pd.read_parquet(folder.member(STACK) / file).set_index("ID")
    tables, file = [], "test.parquet" if part == HELD_OUT else "held.parquet"
    for fold in range(recipe.folds):
        if folder.job(label, fold, check=[file]) is None:
            raise _unfinished(folder, folder.fold(label, fold))
        tables.append(pd.read_parquet(folder.fold(label, fold) / file).set_index("ID"))
    if part == OUT_OF_FOLD:
        return pd.concat(tables)
    mean = np.mean([table.loc[tables[0].index, COLUMNS].to_numpy() for table in tables], axis=0)
    return pd.DataFrame(mean, index=tables[0].index, columns=COLUMNS)


def _unfinished(folder: RunFolder, place: Path) -> DataError:
    return DataError("no probabilities here yet", place=Place(place), remedy=folder.remedy)
