"""The run folder ``models/<run>/``: self-describing, safe to kill, never half-read.

::

    run.json                     recipe, versions, corpus and label hashes
    folds.json                   the folds, with their hash
    members/<label>/
        views.json               seconds spent on views for all rows
        fold-<i>/                appears whole or not at all
            job.json             hash of everything that decided this result, seconds
            held.parquet         probabilities of the held-out fold
            test.parquet         probabilities of the held-out split
            member/              the fitted member
            training/            its training's evaluations, JSON lines, if it is fine-tuned
        out_of_fold.parquet      the folds' held parts, in corpus order
        test.parquet             mean over the folds
        unfinished/fold-<i>/     checkpoints of a training that is under way or was killed
    stack/                       the same for the stack
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import filelock
import numpy as np
import pandas as pd

from gapstack.errors import DataError, MismatchError, Place
from gapstack.files import atomic_path, write_json
from gapstack.members.base import Probabilities

COLUMNS = ["A", "B", "NEITHER"]
STACK = "stack"
"""What a run calls its stack, beside its members' labels."""


def home() -> Path:
    """Folder that holds ``models/`` and ``submissions/``: ``GAPSTACK_HOME``, else the current folder."""
    return Path(os.environ.get("GAPSTACK_HOME") or Path.cwd())


def find_run(name: str) -> tuple[RunFolder, str] | None:
    """Find the run that ``name`` means, and the member ("" for all of it); None if it means no run.

    ``RUN`` or ``RUN:MEMBER``, where a run is given by its folder or by its name in :func:`home`; or the label of a
    member that one run there has.

    Raises
    ------
    DataError
        If more than one run there has a member of this name.
    """
    run, _, member = name.rpartition(":")
    for called, wanted in ((name, ""), (run, member)):
        for place in (Path(called), home() / "models" / called) if called else ():
            if (place / "run.json").is_file():
                return RunFolder(place), wanted
    if Path(name).name != name:
        return None
    having = sorted(found.parents[1] for found in home().glob(f"models/*/members/{glob.escape(name)}"))
    having = [place for place in having if (place / "run.json").is_file()]
    if len(having) > 1:
        raise DataError(
            f"{len(having)} runs have a member {name!r}",
            expected=f"one of {', '.join(f'{place.name}:{name}' for place in having)}",
        )
    return (RunFolder(having[0]), name) if having else None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder alone while the block runs; MismatchError if another process has it."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise MismatchError(
            f"another process is working on {folder}; wait for it or use another name"
        ) from None
    try:
        yield
    finally:
        lock.release()


def write_probabilities(path: Path, ids: Sequence[str], probabilities: Probabilities) -> None:
    """Write probabilities with their ids as parquet, atomically."""
    frame = pd.DataFrame(probabilities, columns=COLUMNS)
    frame.insert(0, "ID", list(ids))
    with atomic_path(path) as temporary:
        frame.to_parquet(temporary, index=False)


def read_probabilities(path: Path, ids: Sequence[str]) -> Probabilities:
    """Read probabilities back, checking that they belong to ``ids`` in this order.

    Raises
    ------
    DataError
        If there is no such file.
    MismatchError
        If they are another corpus's.
    """
    if not path.is_file():
        raise DataError(
            "no probabilities here", place=Place(path), remedy="Run the recipe again: finished work is kept"
        )
    frame = pd.read_parquet(path)
    if frame["ID"].tolist() != list(ids):
        raise MismatchError(
            f"{path} holds other rows than the corpus asked for ({len(frame)} against {len(ids)})"
        )
    return frame[COLUMNS].to_numpy(dtype=np.float64)


class RunFolder:
    """Paths and rules of one run folder."""

    def __init__(self, root: Path):
        self.root = Path(root)

    @property
    def manifest_path(self) -> Path:
        """``run.json``."""
        return self.root / "run.json"

    def manifest(self) -> dict[str, Any]:
        """Read ``run.json``; DataError if this is no run folder."""
        if not self.manifest_path.is_file():
            raise DataError(
                "no run here", place=Place(self.manifest_path), expected="a folder that `gap run` made"
            )
        manifest: dict[str, Any] = json.loads(self.manifest_path.read_text(encoding="utf-8"))
        return manifest

    def claim(self, manifest: dict[str, Any], *, fresh: bool) -> None:
        """Start or take up a run described by ``manifest``.

        Raises
        ------
        MismatchError
            If the folder holds a run on another corpus, label set or other folds, unless ``fresh``, which
            throws that run away.
        """
        if fresh:
            for entry in self.root.iterdir():
                if entry.name != ".lock":
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        if self.manifest_path.is_file():
            before, now = self.manifest()["identity"], manifest["identity"]
            differing = [key for key in now if before.get(key) != now[key]]
            if differing:
                changes = "; ".join(f"{key}: {before.get(key)} there, {now[key]} now" for key in differing)
                raise MismatchError(
                    f"{self.root} holds a run on other {' and '.join(differing)} ({changes}). "
                    "Give the recipe another name, or throw the old run away with --fresh"
                )
        write_json(self.manifest_path, manifest)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder alone while the block runs; MismatchError if another process has it."""
        with locked(self.root):
            # what a killed process left behind half-written
            for leftover in self.root.glob("**/.fold-*"):
                shutil.rmtree(leftover, ignore_errors=True)
            yield

    def member(self, label: str) -> Path:
        """Folder of one member, or of the stack."""
        return self.root / "stack" if label == STACK else self.root / "members" / label

    def fold(self, label: str, fold: int) -> Path:
        """Folder of one finished fold of one member."""
        return self.member(label) / f"fold-{fold}"

    def unfinished(self, label: str, fold: int) -> Path:
        """Folder for what a fold's fit needs to go on after a kill."""
        return self.member(label) / "unfinished" / f"fold-{fold}"

    def sweep(self, keys: Collection[str]) -> None:
        """Delete what killed trainings left, but for those of jobs of these keys."""
        for place in self.root.glob("members/*/unfinished/*/*"):
            if place.name not in keys:
                shutil.rmtree(place, ignore_errors=True)

    def job(self, label: str, fold: int) -> dict[str, Any] | None:
        """What is recorded of a finished fold, None if it is not finished."""
        path = self.fold(label, fold) / "job.json"
        if not path.is_file():
            return None
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return record

    @contextmanager
    def finishing(self, label: str, fold: int) -> Iterator[Path]:
        """Give an empty folder that becomes the fold's when the block ends without error."""
        target = self.fold(label, fold)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=".fold-", dir=target.parent))
        try:
            yield temporary
            shutil.rmtree(target, ignore_errors=True)
            temporary.replace(target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
