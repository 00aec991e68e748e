"""Stored results of runs: probabilities that a run predicted for its own rows, and how far it is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from gapstack.data import Corpus
from gapstack.errors import DataError, MismatchError, Place
from gapstack.runs.folder import COLUMNS, STACK, RunFolder
from gapstack.runs.recipe import Recipe, corpora
from gapstack.runs.runner import Result, Run
from gapstack.types import Probabilities

HELD_OUT, OUT_OF_FOLD = "held out", "out of fold"


@dataclass(frozen=True)
class RunAnswers:
    """Probabilities (n, 3) of a run's members and of its stack, by label.

    ``part`` says whether the rows were held out or predicted out of fold; ``contaminated_by`` names, by member, the
    test sets that share rows with its training data.
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
        Where to look for GAP first, or ``sample``, as :func:`~gapstack.runs.recipe.corpora`.

    Raises
    ------
    MismatchError
        If the data are not those of the run.
    """
    train, test = _load_rows(folder, Recipe.of_run(folder).revised(labels="official"), data)
    return {HELD_OUT: test, OUT_OF_FOLD: train}


def _load_rows(folder: RunFolder, recipe: Recipe, data: str | None) -> tuple[Corpus, Corpus]:
    """Training and held-out rows of a run, under its recipe's labels."""
    _, train, test = corpora(recipe, data)
    now = {"training rows": train.fingerprint, "held-out rows": test.fingerprint}
    identity = folder.manifest()["identity"]
    other = [kind for kind, digest in now.items() if identity[kind] != digest]
    if other:
        raise MismatchError(
            f"{folder.root} was run on other {' and '.join(other)} than are found now; name its data with --data"
        )
    return train, test


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
    for part in (HELD_OUT, OUT_OF_FOLD):
        tables = {label: _read(folder, recipe, label, part) for label in labels}
        if all(set(rows.ids) <= set(table.index) for table in tables.values()):
            members = {label: _take(table, rows) for label, table in tables.items()}
            return RunAnswers(part, members, {label: contaminated_by[label] for label in labels})
    raise MismatchError(
        f"{folder.root} has no answers for all {len(rows)} rows of {rows.name}: it holds out "
        f"{', '.join(recipe.test)} and predicts {', '.join(recipe.train)} out of fold"
    )


def stored_run(folder: RunFolder, data: str | None = None, only: Collection[str] = ()) -> Run:
    """Read a run as :func:`~gapstack.runs.runner.run` returns it, without executing anything.

    Unfinished members are left out; ``reused`` counts the finished folds.

    Parameters
    ----------
    folder : RunFolder
    data : str, optional
        As for :func:`run_corpora`.
    only : collection of str
        Labels of members, or ``stack``, to read; all by default.

    Raises
    ------
    DataError
        If the folder holds no run, or a result is damaged.
    MismatchError
        If the data are not those of the run.
    """
    recipe = Recipe.of_run(folder)
    train, test = _load_rows(folder, recipe, data)
    contaminated_by, done = recipe.contaminated_by(), finished(folder, recipe)

    def result(label: str, seconds: float, parameters: int = 0) -> Result:
        out_of_fold = _take(_read(folder, recipe, label, OUT_OF_FOLD), train)
        held_out = _take(_read(folder, recipe, label, HELD_OUT), test)
        return Result(label, out_of_fold, held_out, seconds, parameters, contaminated_by[label])

    members = [
        result(label, member.seconds, member.parameters)
        for label, member in done.items()
        if member.folds == recipe.folds and (not only or label in only)
    ]
    record = folder.stack() if recipe.stacked and (not only or STACK in only) else None
    stack = None if record is None else result(STACK, record["seconds"])
    submission = folder.root.parents[1] / "submissions" / f"{recipe.name}.csv"
    note = "" if record is None else record["note"]
    reused = sum(member.folds for member in done.values())
    return Run(recipe, folder, train, test, tuple(members), stack, note, submission, reused)


@dataclass(frozen=True)
class Finished:
    """Number of a member's finished folds, their seconds, and the parameters of a fold's fit."""

    folds: int
    seconds: float
    parameters: int


def finished(folder: RunFolder, recipe: Recipe) -> dict[str, Finished]:
    """Return the progress of each member of a run by label; DamageError for a damaged record."""
    done = {}
    for label in (part.label for part in recipe.members):
        jobs = [job for fold in range(recipe.folds) if (job := folder.job(label, fold)) is not None]
        parameters = jobs[-1]["parameters"] if jobs else 0
        done[label] = Finished(len(jobs), sum(job["seconds"] for job in jobs), parameters)
    return done


def _take(table: pd.DataFrame, rows: Corpus) -> Probabilities:
    return table.loc[rows.ids, COLUMNS].to_numpy(dtype=np.float64)


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
