"""Where data come from.

Searched in this order, each place laid out like :data:`~gapstack.corpus.datasets.DATASETS` or with the files directly
in it: ``--data``, the folder that ``GAP_DATA`` names, ``../shared/data`` seen from the current folder and from the
project's, the cache, and what comes with the package. GAP itself is downloaded into the cache if it is nowhere; if that
fails, the embedded sample replaces it. Loading GAP prints to stderr which one it was. ``GAPSTACK_OFFLINE=1`` forbids
downloads.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path

from gapstack.corpus import embedded
from gapstack.corpus.cells import Quarantine
from gapstack.corpus.corpus import Corpus
from gapstack.corpus.datasets import DATASETS, Dataset
from gapstack.corpus.download import DownloadError, download
from gapstack.corpus.labels import with_labels
from gapstack.corpus.readers import read_gap
from gapstack.errors import DataError, DataNotFoundError, IntegrityError, MismatchError, printable
from gapstack.files import by_content, cache_root, contents, discard, read_bytes, sha256
from gapstack.progress import console
from gapstack.registry import unknown

SPLITS = ("development", "validation", "test")
STAGE2 = "stage2"
HELD_OUT = (*SPLITS, STAGE2)
"""What a recipe may hold out: a split, or the unlabelled rows of Kaggle's second stage."""
_SAMPLE = Path(__file__).parent / "sample"
_PROJECT = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True)
class DataLocation:
    """The path of a data set, and the step of the search that found it."""

    path: Path
    origin: str


@dataclass(frozen=True, slots=True)
class Status:
    """A line of ``gap data status``.

    ``rows`` counts the examples of a table. ``intact``: whether the bytes are the published ones; None if the data set
    is missing or has no published checksum.
    """

    dataset: Dataset
    location: DataLocation | None
    rows: int | None
    intact: bool | None

    @property
    def fetchable(self) -> bool:
        """Whether ``gap data fetch`` can get it."""
        return bool(self.dataset.files)


@dataclass(frozen=True)
class GapData:
    """GAP, or the embedded sample in its place.

    Attributes
    ----------
    splits : dict of str to Corpus
        ``development``, ``validation`` and ``test``; the sample has ``train`` and ``test``.
    source : str
        Where they come from, in words.
    is_sample : bool
        Whether this is the embedded sample.
    """

    splits: dict[str, Corpus]
    source: str
    is_sample: bool

    @property
    def train(self) -> Corpus:
        """All splits but ``test``, one after the other."""
        return reduce(add, (corpus for name, corpus in self.splits.items() if name != "test"))

    @property
    def test(self) -> Corpus:
        """The held-out split."""
        return self.splits["test"]


def search(name: str, data: Path | None = None) -> DataLocation | None:
    """Find a data set by its name in :data:`~gapstack.corpus.datasets.DATASETS`, without any download.

    Raises DataError if the name is unknown; DataNotFoundError if ``data`` or ``GAP_DATA`` names a folder that is not
    there; IntegrityError if the cache has it with other bytes than the published ones.
    """
    dataset = require_dataset(name)
    for origin, folder in _places(data):
        path = dataset.within(folder)
        if path is not None:
            if origin == "cache" and dataset.files and not _intact(path, dataset):
                raise IntegrityError(
                    f"{path}: the SHA-256 is not the published one. Delete it, or get it again with: gap data fetch "
                    f"{name}"
                )
            return DataLocation(path, origin)
    return None


def find(name: str, data: Path | None = None) -> Path | None:
    """Path of a data set, or None if it is at none of the places; raises as :func:`search` does."""
    location = search(name, data)
    return location.path if location else None


def require(name: str, data: Path | None = None) -> Path:
    """Path of a data set; DataNotFoundError with the places searched and its upstream home if there is none."""
    location = search(name, data)
    if location is not None:
        return location.path
    dataset = DATASETS[name]
    places = "; ".join(f"{origin}: {folder}" for origin, folder in _places(data))
    how = f"Get it with: gap data fetch {name}" if dataset.files else f"It comes from {dataset.upstream}"
    raise DataNotFoundError(
        f"{name} ({dataset.path}) is at none of the places searched ({places}). {how}, or name its folder "
        "with --data or GAP_DATA"
    )


def data_folder(data: str | None) -> Path | None:
    """Folder to look in first; None where ``data`` names none, or the embedded sample."""
    return Path(data) if data and data != "sample" else None


def load_gap(
    data: Path | None = None,
    *,
    label_set: str = "official",
    fetch_missing: bool = True,
    quarantine: Quarantine | None = None,
) -> GapData:
    """Load the three GAP splits from the first place that has them, and say on stderr which one that was.

    All splits come from one place: a folder that is named (``data``, ``GAP_DATA``) or shared and has only some of them
    is an error, not a reason to look on. Without GAP anywhere it is downloaded; if that fails, or ``fetch_missing`` is
    False or ``GAPSTACK_OFFLINE`` set, the embedded sample takes its place. A ``quarantine`` takes bad rows, so that the
    others can be read. Raises DataNotFoundError if a folder named lacks a split, or a label set's corrections are
    nowhere; IntegrityError if the cache or the download has other bytes than the published ones; MismatchError if
    another label set than ``official`` is asked of the sample.
    """
    reason = "downloads are switched off"
    origin = _origin_of_splits(data)
    if origin is None and fetch_missing and not _offline():
        try:
            fetch(f"gap-{split}" for split in SPLITS)
            origin = "cache"
        except DownloadError as problem:
            reason = str(problem)
    if origin is None:
        if label_set != "official":
            raise MismatchError(
                f"GAP is not available, and the sample has no {label_set} labels. Use official"
            )
        return load_sample(f"GAP was not found ({reason})")
    splits = {split: gap_split(split, data, label_set=label_set, quarantine=quarantine) for split in SPLITS}
    folder = require("gap-test", data).parent
    changed = [s for s in SPLITS if not _intact(require(f"gap-{s}", data), DATASETS[f"gap-{s}"])]
    _say(f"Data: GAP from {folder} ({origin}), {label_set} labels")
    if changed:
        _warn(f"These splits differ from the published GAP: {', '.join(changed)}")
    return GapData(splits, f"GAP from {folder} ({origin})", is_sample=False)


def load_sample(reason: str) -> GapData:
    """Load the embedded sample instead of GAP, with a warning on stderr that gives the reason."""
    splits = sample()
    rows = sum(map(len, splits.values()))
    _warn(
        f"{reason}. Using the embedded sample of {rows} invented snippets: good for trying things out, and its "
        "scores say nothing about GAP."
    )
    return GapData(splits, f"the embedded sample ({rows} invented snippets)", is_sample=True)


def gap_split(
    split: str,
    data: Path | None = None,
    *,
    label_set: str = "official",
    quarantine: Quarantine | None = None,
) -> Corpus:
    """Load one GAP split, named ``gap-<split>``, from where the search finds it; nothing is downloaded.

    Raises DataNotFoundError if it, or the corrections of the label set, is nowhere; UnknownNameError if there is no
    such split; DataError if its file is bad.
    """
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    return relabel(read_gap(require(f"gap-{split}", data), quarantine=quarantine), label_set, data)


def rows_of(ids: Iterable[str], data: Path | None = None) -> Corpus:
    """Load the GAP splits that ``ids`` belong to, as ids of GAP say themselves (``test-12``).

    Raises DataError if some are no ids of GAP; DataNotFoundError if a split is nowhere.
    """
    splits = dict.fromkeys(name.rpartition("-")[0] for name in ids)
    others = [split for split in splits if split not in SPLITS]
    if others or not splits:
        raise DataError(
            "the ids are not those of a split of GAP" if others else "there are no ids",
            expected=f"ids such as {SPLITS[-1]}-1, which say their rows",
            remedy="Name the labelled rows with --gold",
        )
    return reduce(add, (gap_split(split, data) for split in SPLITS if split in splits))


def relabel(corpus: Corpus, label_set: str, data: Path | None = None) -> Corpus:
    """Apply :func:`~gapstack.corpus.labels.with_labels` with the corrections that the search finds."""
    if label_set == "official":
        return with_labels(corpus, label_set)
    listed = f"corrections-{label_set}" if f"corrections-{label_set}" in DATASETS else "corrections-liu"
    return with_labels(corpus, label_set, require(listed, data).parent)


@by_content(lambda data=None: contents([require("stage2", data)]), most=1)
def stage2(data: Path | None = None) -> Corpus:
    """Load the 12,359 unlabelled rows of Kaggle's second stage; DataNotFoundError if they are nowhere."""
    return read_gap(require("stage2", data))


def sample() -> dict[str, Corpus]:
    """Load the embedded sample: ``train`` and ``test``, written for this project about invented people."""
    return {split: read_gap(_SAMPLE / f"gap-sample-{split}.tsv") for split in ("train", "test")}


def fetch(
    names: Iterable[str] | None = None, *, again: bool = False, home: str | None = None, timeout: float = 30.0
) -> list[Path]:
    """Download data sets into the cache, those that are there and intact excepted.

    Raises DownloadError if a file cannot be had, or ``GAPSTACK_OFFLINE`` is set; IntegrityError if a file's checksum is
    not the published one; DataNotFoundError if a data set has no public file to download.

    Parameters
    ----------
    names : iterable of str, optional
        What to get; by default all that can be downloaded and does not come with the package.
    again : bool
        Download even what is there.
    home : str, optional
        Address of the folder that serves the files; their public homes by default.
    timeout : float
        Seconds to wait for the server's next bytes.
    """
    paths: list[Path] = []
    for dataset in map(require_dataset, fetchable() if names is None else names):
        if not dataset.files:
            if dataset.embedded:
                paths.append(embedded.folder() / dataset.path)
                continue
            raise DataNotFoundError(
                f"{dataset.name} cannot be fetched; it comes from {dataset.upstream}. Put it at {dataset.path} in "
                "a folder and name that with --data or GAP_DATA"
            )
        target = _cache() / dataset.path
        if again or not (target.exists() and _intact(target, dataset)):
            if _offline():
                raise DownloadError(f"{dataset.name} is not in the cache, and GAPSTACK_OFFLINE is set")
            _download(dataset, target, again=again, home=home, timeout=timeout)
        paths.append(target)
    return paths


def _download(dataset: Dataset, target: Path, *, again: bool, home: str | None, timeout: float) -> None:
    """Download a file into its place, or a folder's files beside its place, which they take when they are all there."""
    single = not dataset.files[0].path
    beside = target if single else _cache() / "unfinished" / dataset.name
    for file in dataset.files:
        place = beside / file.path
        if again or single or not (place.is_file() and sha256(place) == file.sha256):
            download(f"{home or file.home}/{file.remote}", place, sha256=file.sha256, timeout=timeout)
    if not single:
        discard(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        beside.replace(target)


def status(data: Path | None = None) -> list[Status]:
    """Location, rows and integrity of every data set."""
    lines: list[Status] = []
    for dataset in DATASETS.values():
        places = ((origin, dataset.within(folder)) for origin, folder in _places(data))
        location = next((DataLocation(path, origin) for origin, path in places if path is not None), None)
        rows = intact = None
        if location is not None and dataset.rows is not None:
            rows = read_bytes(location.path).count(b"\n") - 1  # the header
        if location is not None and dataset.files and location.origin != "embedded":
            intact = _intact(location.path, dataset)
        lines.append(Status(dataset, location, rows, intact))
    return lines


def fetchable() -> list[str]:
    """Names of the data sets that can be downloaded and do not come with the package."""
    return [name for name, dataset in DATASETS.items() if dataset.files and not dataset.embedded]


def require_dataset(name: str) -> Dataset:
    """The data set of this name; UnknownNameError, with the closest match, if there is none."""
    if name not in DATASETS:
        raise unknown("data set", name, DATASETS)
    return DATASETS[name]


def _cache() -> Path:
    return cache_root() / "data"


def _offline() -> bool:
    return os.environ.get("GAPSTACK_OFFLINE", "") not in {"", "0"}


def _places(data: Path | None) -> Iterator[tuple[str, Path]]:
    """Origins and folders in the order searched; a folder named by the user must exist."""
    for origin, value in (("--data", data), ("GAP_DATA", os.environ.get("GAP_DATA"))):
        if value:
            folder = Path(value).expanduser()
            if not folder.is_dir():
                raise DataNotFoundError(f"{origin} names the folder {folder}, which is not there")
            yield origin, folder
    shared = [Path.cwd().parent / "shared" / "data"]
    if (_PROJECT / "pyproject.toml").is_file():  # a source checkout, not an installed package
        shared.append(_PROJECT.parent / "shared" / "data")
    yield from (("../shared/data", folder) for folder in dict.fromkeys(shared))
    yield "cache", _cache()
    yield "embedded", embedded.folder()  # last, since it may have to be unpacked


def _origin_of_splits(data: Path | None) -> str | None:
    """Origin of the first place that has GAP; a place with some splits only is an error, except the cache."""
    for origin, folder in _places(data):
        missing = [split for split in SPLITS if DATASETS[f"gap-{split}"].within(folder) is None]
        if not missing:
            return origin
        some = len(missing) < len(SPLITS)
        if (some and origin != "cache") or origin in {"--data", "GAP_DATA"}:
            raise DataNotFoundError(
                f"{folder} ({origin}) lacks {', '.join(f'gap-{split}.tsv' for split in missing)}; expected the "
                "three GAP splits, in it or in its folder gap"
            )
    return None


def _intact(path: Path, dataset: Dataset) -> bool:
    try:
        return all(
            hashlib.sha256(read_bytes(path / file.path)).hexdigest() == file.sha256  # unpacked
            for file in dataset.files
        )
    except DataNotFoundError:  # a folder that lacks a file
        return False


def _warn(message: str) -> None:
    _say(f"Warning: {message}", style="bold yellow")


def _say(message: str, style: str | None = None) -> None:
    console.print(printable(message), style=style, markup=False, highlight=False, soft_wrap=True)
