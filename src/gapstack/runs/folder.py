"""The run folder ``models/<run>/``, which survives interruptions, and repositories of the Hub that hold one.

::

    run.json                     recipe, versions, corpus and label hashes
    folds.json                   the folds, with their hash
    members/<label>/
        fold-<i>/                complete or absent
            job.json             identity of the result, seconds, digests of the files of the folder
            held.parquet         probabilities of the held-out fold
            test.parquet         probabilities of the held-out split
            member/              the fitted member
            training/            evaluations during fine-tuning, JSON lines
        unfinished/fold-<i>/     checkpoints of a training that is running or was killed
    stack/                       complete or absent: state, out_of_fold.parquet, test.parquet, stack.json
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from gapstack.encoding.encoder_files import hub_snapshot
from gapstack.errors import DamageError, DataError, MismatchError, Place, RemoteError, first_line
from gapstack.files import atomic_path, discard
from gapstack.progress import progress
from gapstack.records import read_sealed, seal

if TYPE_CHECKING:
    import pandas as pd

    from gapstack.types import Probabilities

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")
_NOT_SHARED = ["*.lock", "*/unfinished/*", "*.partial/*"]
_PROJECT = Path(__file__).resolve().parents[3]
COLUMNS = ["A", "B", "NEITHER"]
STACK = "stack"  # label of a run's stack
DEFAULT = "default"
"""Name of the bundled model, wherever a run or a saved member is named."""
SAMPLE = "-sample"  # suffix of the names of runs on the embedded sample


def home() -> Path:
    """Folder of ``models/`` and ``submissions/``: ``GAPSTACK_HOME``, else the checkout, else the user's data folder."""
    stated = os.environ.get("GAPSTACK_HOME")
    if stated:
        return Path(stated).expanduser()
    if (_PROJECT / "pyproject.toml").is_file() and Path.cwd().is_relative_to(_PROJECT):
        return _PROJECT
    return Path(platformdirs.user_data_dir("gapstack"))


def run_names() -> list[str]:
    """Names of the runs in :func:`home`."""
    return sorted(place.parent.name for place in home().glob("models/*/run.json"))


def find_run(name: str) -> tuple[RunFolder, str] | None:
    """Run and member ("" for all) of ``RUN`` or ``RUN:MEMBER``, where RUN is a folder or a name in :func:`home`."""
    run, _, member = name.rpartition(":")
    for run_name, label in ((name, ""), (run, member)):
        for place in (Path(run_name), home() / "models" / run_name) if run_name else ():
            if RunFolder(place).exists:
                return RunFolder(place), label
    return None


def language_model(name: str) -> str | None:
    """Language model of a name ``prompted:MODEL`` or ``http://HOST/v1#NAME``; None for any other name."""
    if name.startswith(("http://", "https://")):
        return name
    return name.removeprefix("prompted:") if name.startswith("prompted:") else None


def write_probabilities(path: Path, ids: Sequence[str], probabilities: Probabilities) -> None:
    """Write probabilities with their ids as parquet, atomically."""
    import pandas as pd  # here, so that an unknown run is refused without this slow import

    frame = pd.DataFrame(probabilities, columns=COLUMNS)
    frame.insert(0, "ID", list(ids))
    with atomic_path(path) as temporary:
        frame.to_parquet(temporary, index=False)


def read_probabilities(path: Path) -> pd.DataFrame:
    """Read probabilities (n, 3) as float64, indexed by id."""
    import pandas as pd

    return pd.read_parquet(path).set_index("ID")[COLUMNS].astype("float64")


class RunFolder:
    """Paths and records of one run folder."""

    def __init__(self, root: Path):
        self.root = Path(root)
        self.manifest_path = self.root / "run.json"

    @property
    def exists(self) -> bool:
        """True if there is a run here, even a damaged one."""
        return any(os.path.lexists(self.root / name) for name in ("run.json", "folds.json"))

    @property
    def remedy(self) -> str:
        """Advice for a run that is unfinished or damaged."""
        return f"Finish or repair it; intact results are kept: gap run {shlex.quote(str(self.root))}"

    def manifest(self) -> dict[str, Any]:
        """Read ``run.json``; DataError if this is not a run folder, DamageError if it is damaged."""
        if not self.exists:
            place = Place(self.manifest_path)
            raise DataError("no run here", place=place, expected="a folder that `gap run` made")
        remedy = f"Run its recipe again; intact results are kept: gap run RECIPE --name {self.root.name}"
        return read_sealed(self.manifest_path, remedy=remedy)

    def claim(
        self, manifest: dict[str, Any], labels: Sequence[str], folds: int, *, fresh: bool = False
    ) -> list[str]:
        """Start or resume a run; returns a line for each damaged result, all of which are deleted.

        ``fresh`` deletes an earlier run first. Raises MismatchError if the folder holds a run on other rows, labels or
        folds.
        """
        if fresh:
            for entry in self.root.iterdir():
                if entry.name != ".lock":
                    discard(entry)
        damages: list[DamageError] = []
        before = now = manifest["identity"]
        if self.exists:
            try:
                before = self.manifest()["identity"]
            except DamageError as damage:
                damages.append(damage)
            differing = [key for key in now if before.get(key) != now[key]]
            if differing:
                raise MismatchError(
                    f"{self.root} holds a run on other {' and '.join(differing)}. "
                    "Give the recipe another name, or discard the old run with fresh=True"
                )
        seal(self.manifest_path, manifest)
        records = [self.fold(label, fold) / "job.json" for label in labels for fold in range(folds)]
        records.append(self.member(STACK) / "stack.json")
        with progress("checking stored results", len(records)) as ticker:
            for record in records:
                try:
                    self._record(record, None)
                except DamageError as damage:
                    damages.append(damage)
                    discard(record.parent)
                ticker.advance()
        return [
            f"{Path(damage.place.file).relative_to(self.root)} ({damage.problem})"
            for damage in damages
            if damage.place
        ]

    def member(self, label: str) -> Path:
        """Folder of one member, or of the stack."""
        return self.root / "stack" if label == STACK else self.root / "members" / label

    def fold(self, label: str, fold: int) -> Path:
        """Folder of one finished fold of one member."""
        return self.member(label) / f"fold-{fold}"

    def unfinished(self, label: str, fold: int) -> Path:
        """Folder for checkpoints of a fold's fit."""
        return self.member(label) / "unfinished" / f"fold-{fold}"

    def job(self, label: str, fold: int, check: Collection[str] | None = ()) -> dict[str, Any] | None:
        """Record of a finished fold, None if it is unfinished; ``check`` as in :func:`read_sealed`."""
        return self._record(self.fold(label, fold) / "job.json", check)

    def stack(self, check: Collection[str] | None = ()) -> dict[str, Any] | None:
        """Record of the stack, None if there is none yet; ``check`` as for :meth:`job`."""
        return self._record(self.member(STACK) / "stack.json", check)

    def _record(self, path: Path, check: Collection[str] | None) -> dict[str, Any] | None:
        # folders are renamed when they are complete, so one without a record is damaged
        return read_sealed(path, check, remedy=self.remedy) if os.path.lexists(path.parent) else None


def is_repository(name: str) -> bool:
    """True for names of the form ``owner/name`` or ``owner/name@revision``."""
    return _REPOSITORY.fullmatch(name) is not None


def on_hub(name: str) -> bool:
    """True for ``owner/name``, ``owner/name@revision`` and ``owner/name:MEMBER``, unless ``owner`` is a folder here."""
    return is_repository(name.partition(":")[0]) and not Path(name).parent.is_dir()


def fetch(name: str) -> str:
    """Download the repository of an :func:`on_hub` name; returns the name with the local folder in its place.

    Raises DataNotFoundError if the Hub has no such repository or cannot be reached.
    """
    whole, colon, label = name.partition(":")
    repository, _, revision = whole.partition("@")
    problem = (
        f"{whole} is not a run, member or file here ({Path(whole).absolute()}), and the Hub has no repository "
        "of this name"
    )
    return f"{hub_snapshot(repository, problem, revision=revision or None)}{colon}{label}"


def push(folder: Path, repository: str, card: str, *, private: bool = False) -> str:
    """Replace the files of a repository, created if needed, by those of a folder; returns the commit's address.

    Raises RemoteError without a token, or if the Hub refuses.
    """
    import httpx
    from huggingface_hub import HfApi, get_token

    if get_token() is None:
        raise RemoteError("there is no token for the Hub; run: hf auth login, or set HF_TOKEN")
    api = HfApi()
    common: dict[str, Any] = {"repo_id": repository, "commit_message": f"{folder.name}, by gap push"}
    try:
        api.create_repo(repository, private=private, exist_ok=True)
        commit = api.upload_folder(
            folder_path=folder, ignore_patterns=_NOT_SHARED, delete_patterns="*", **common
        )
        if not (folder / "README.md").exists():
            commit = api.upload_file(path_or_fileobj=card.encode(), path_in_repo="README.md", **common)
    except (OSError, ValueError, httpx.HTTPError) as error:
        raise RemoteError(
            f"the Hub refused {repository} ({first_line(error)}); check the name and the rights of your token"
        ) from error
    return str(commit.commit_url)
