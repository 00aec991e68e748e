"""Stored runs as Python objects: results, predictions for the run's own rows, and identity."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from gapstack.data import Corpus
from gapstack.display.render import Cell, Column, Section, Table
from gapstack.errors import DataError, MismatchError, Place
from gapstack.registry import unknown
from gapstack.runs.folder import COLUMNS, STACK, RunFolder, read_probabilities
from gapstack.runs.recipe import Recipe, corpora
from gapstack.types import Probabilities

HELD_OUT, OUT_OF_FOLD = "held out", "out of fold"


@dataclass(frozen=True)
class Result:
    """Results of one member of a run, or of its stack."""

    label: str
    out_of_fold: Probabilities
    """Probabilities of the training rows, (n, 3)."""
    test: Probabilities
    """Probabilities of the held-out rows, the mean over folds, (n, 3)."""
    seconds: float
    parameters: int = 0
    """Number of learned array elements of one fold's fit."""
    contaminated_by: tuple[str, ...] = ()
    """Test sets that share rows with its training data."""


@dataclass(frozen=True)
class Run:
    """Result of :func:`gapstack.run`."""

    recipe: Recipe
    """The recipe of the run."""
    folder: RunFolder
    """Folder of the stored results."""
    train: Corpus
    """Cross-validated rows."""
    test: Corpus
    """Held-out rows."""
    members: tuple[Result, ...]
    """Results of each member."""
    stack: Result | None
    """Results of the stack, if there is one."""
    stackers: tuple[Result, ...]
    """Results of each stacker to choose from, as if it were the only one."""
    stack_note: str
    """Which stacker was chosen, and why."""
    submission: Path
    """CSV with the probabilities of the held-out rows."""
    reused: int
    """Number of folds that were stored already."""


def run_corpora(folder: RunFolder) -> dict[str, Corpus]:
    """Rows that a run predicted, with official labels, by part: ``held out`` and ``out of fold``."""
    train, test = _load_rows(folder, Recipe.of_run(folder).revised(labels="official"))
    return {HELD_OUT: test, OUT_OF_FOLD: train}


def _load_rows(folder: RunFolder, recipe: Recipe) -> tuple[Corpus, Corpus]:
    """Training and held-out rows of a run, under the recipe's labels."""
    _, train, test = corpora(recipe)
    now = {"training rows": train.fingerprint, "held-out rows": test.fingerprint}
    identity = folder.manifest()["identity"]
    other = [kind for kind, digest in now.items() if identity[kind] != digest]
    if other:
        raise MismatchError(
            f"{folder.root} was run on other {' and '.join(other)} than are found now; name its data with data=FOLDER"
        )
    return train, test


def run_answers(folder: RunFolder, rows: Corpus, member: str = "") -> tuple[str, dict[str, Probabilities]]:
    """Part of a run that has all ``rows``, and the probabilities (n, 3) of its systems, or of one, for them.

    Raises UnknownNameError for an unknown member, MismatchError if no part has all rows.
    """
    recipe = Recipe.of_run(folder)
    labels = [member] if member else recipe.systems
    if member and member not in recipe.systems:
        raise unknown(f"member of run {folder.root.name}", member, recipe.systems)
    for part in (HELD_OUT, OUT_OF_FOLD):
        tables = {label: _read(folder, recipe, label, part) for label in labels}
        if all(set(rows.ids) <= set(table.index) for table in tables.values()):
            return part, {label: table.loc[rows.ids].to_numpy() for label, table in tables.items()}
    raise MismatchError(
        f"{folder.root} does not have predictions for all {len(rows)} rows of {rows.name}; compare it on "
        f"{', '.join(recipe.test)}, which it holds out, or {', '.join(recipe.train)}, which it predicts out of fold"
    )


def stored_run(folder: RunFolder, only: str = "", rows: tuple[Corpus, Corpus] | None = None) -> Run:
    """Read a run, or ``only`` one of its systems, as :func:`~.runner.run` returns it, without computing anything."""
    recipe = Recipe.of_run(folder)
    train, test = rows or _load_rows(folder, recipe)
    contaminated_by, jobs = recipe.contaminated_by(), finished_jobs(folder, recipe)

    def result(label: str, seconds: float, parameters: int = 0, stacker: str = "") -> Result:
        out_of_fold, held_out = (
            _read(folder, recipe, label, part, stacker).loc[rows.ids].to_numpy()
            for part, rows in ((OUT_OF_FOLD, train), (HELD_OUT, test))
        )
        shown = f"{label}: {stacker}" if stacker else label
        return Result(shown, out_of_fold, held_out, seconds, parameters, contaminated_by[label])

    members = [
        result(label, sum(job["seconds"] for job in done), done[-1]["parameters"])
        for label, done in jobs.items()
        if len(done) == recipe.folds and only in ("", label)
    ]
    record = folder.stack() if recipe.stacked and only in ("", STACK) else None
    stack = None if record is None else result(STACK, record["seconds"])
    stackers = record.get("stackers", ()) if record else ()  # none in records of an earlier version
    alone = (
        [result(STACK, record["seconds"], stacker=name) for name in stackers] if record and not only else []
    )
    note = "" if record is None else record["note"]
    submission = folder.root.parents[1] / "submissions" / f"{recipe.name}.csv"
    reused = sum(map(len, jobs.values()))
    return Run(recipe, folder, train, test, tuple(members), stack, tuple(alone), note, submission, reused)


def finished_jobs(folder: RunFolder, recipe: Recipe) -> dict[str, list[dict[str, Any]]]:
    """Records of each member's finished folds, by label; DamageError for a damaged one."""
    return {
        part.label: [job for fold in range(recipe.folds) if (job := folder.job(part.label, fold)) is not None]
        for part in recipe.members
    }


def _read(folder: RunFolder, recipe: Recipe, label: str, part: str, stacker: str = "") -> pd.DataFrame:
    """Probabilities of a member, the stack or one of its stackers for the rows of a part, by id; verifies digests."""
    if label == STACK:
        file = str(PurePosixPath(stacker, "test.parquet" if part == HELD_OUT else "out_of_fold.parquet"))
        records = {folder.member(STACK): folder.stack(check=[file])}
    else:
        file = "test.parquet" if part == HELD_OUT else "held.parquet"
        folds = range(recipe.folds)
        records = {folder.fold(label, fold): folder.job(label, fold, check=[file]) for fold in folds}
    for place, record in records.items():
        if record is None:
            raise DataError("no probabilities here yet", place=Place(place), remedy=folder.remedy)
    tables = [read_probabilities(place / file) for place in records]
    if part == OUT_OF_FOLD:
        return pd.concat(tables)
    return pd.DataFrame(np.mean(tables, axis=0), index=tables[0].index, columns=COLUMNS)


def run_identity(folder: RunFolder) -> dict[str, Any]:
    """Identities of a run's results: what all share, and what is specific to each."""
    manifest, recipe = folder.manifest(), Recipe.of_run(folder)
    shared = dict(manifest["identity"])
    for key, part in (("training rows", "train"), ("held-out rows", "test")):
        name, count = manifest["rows"][part]
        shared[key] = f"{name}, {count:,} rows, {shared[key]}"
    records = {label: (jobs, f"of {recipe.folds}") for label, jobs in finished_jobs(folder, recipe).items()}
    if recipe.stacked:
        records[STACK] = ([record] if (record := folder.stack()) else [], "of 1")
    results = []
    for label, (jobs, total) in records.items():
        origins = [{"identity": job["identity"], "versions": job["versions"]} for job in jobs]
        distinct = [origin for number, origin in enumerate(origins) if origin not in origins[:number]]
        for origin in distinct or [{"identity": {}, "versions": {}}]:
            results.append({"label": label, "done": f"{origins.count(origin)} {total}", **origin})
    return {"name": recipe.name, "folder": str(folder.root), "shared": shared, "results": results}


def identity_parts(record: Mapping[str, Any]) -> list[Table | str]:
    """:func:`run_identity` as paragraphs, and a table in which digests are cut to their first digits."""
    shared, results = record["shared"], record["results"]
    versions = dict.fromkeys(
        f"{name} {version}" for result in results for name, version in result["versions"].items()
    )

    def cut(value: str) -> str:
        name, _, digest = value.rpartition(" ")
        return f"{name} {digest[:8]}".lstrip()

    rows: list[tuple[str, dict[str, Cell]]] = [
        (result["label"], {"done": result["done"]} | {k: cut(v) for k, v in result["identity"].items()})
        for result in results
    ]
    keys = dict.fromkeys(key for _, cells in rows for key in cells if key not in shared)
    return [
        f"run {record['name']} in {record['folder']}",
        *(f"{key}: {value}" for key, value in shared.items()),
        f"versions: {', '.join(versions)}",
        Table([Column(key, key) for key in keys], [Section("", rows)], name_title="result"),
    ]
