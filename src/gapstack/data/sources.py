"""Where data come from.

Searched in this order: ``--data``, the folder that ``GAP_DATA`` names, ``../shared/data`` relative to the current
folder and to a source checkout, the cache, and the data that come with the package. GAP itself is downloaded if it is
nowhere; if that fails, the embedded sample replaces it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from gapstack.data.cells import Quarantine, read_json
from gapstack.data.corpus import Corpus
from gapstack.data.datasets import (
    DATASETS,
    Dataset,
    DownloadError,
    data_cache,
    download,
    embedded_folder,
    is_offline,
    require_dataset,
)
from gapstack.data.gap_files import read_gap
from gapstack.data.labels import with_labels
from gapstack.errors import DataError, DataNotFoundError, IntegrityError, MismatchError
from gapstack.files import by_content, contents, read_bytes
from gapstack.progress import print_note
from gapstack.registry import unknown
from gapstack.settings import OneOf

SPLITS = ("development", "validation", "test")
STAGE2 = "stage2"
HELD_OUT = (*SPLITS, STAGE2)
"""What a recipe may hold out: a split, or the unlabelled rows of Kaggle's second stage."""
_TABLES = (".tsv", ".tsv.gz", ".tsv.xz")
SplitName = Annotated[str, OneOf(SPLITS, _TABLES)]
HeldOutName = Annotated[str, OneOf(HELD_OUT, _TABLES)]
"""Splits of GAP, or files of rows like GAP's."""
PAPERS = ("webster2018", "webster2019", "rudinger2018", "dawkins2021")
"""Papers whose figures the data set ``papers`` has."""
_SAMPLE = Path(__file__).parent / "sample"
_PROJECT = Path(__file__).parents[3]


class DataLocation(NamedTuple):
    """The path of a data set, and the step of the search that found it."""

    path: Path
    origin: str


class Status(NamedTuple):
    """A line of ``gap data status``: number of examples; True if the bytes are the published ones, None if unknown."""

    dataset: Dataset
    location: DataLocation | None
    rows: int | None
    intact: bool | None


@dataclass(frozen=True)
class GapData:
    """GAP (``development``, ``validation``, ``test``), or the embedded sample (``train``, ``test``) in its place."""

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
    """Find a data set by its name in :data:`~gapstack.data.datasets.DATASETS` without downloading it.

    Raises UnknownNameError for an unknown name; DataNotFoundError if ``data`` or ``GAP_DATA`` is not a folder;
    IntegrityError if the cache has other bytes than the published ones.
    """
    dataset = require_dataset(name)
    for origin, folder in _places(data):
        path = dataset.within(folder)
        if path is not None:
            if origin == "cache" and not dataset.is_intact(path):
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
    path = find(name, data)
    if path is not None:
        return path
    dataset = DATASETS[name]
    places = "; ".join(f"{origin}: {folder}" for origin, folder in _places(data))
    how = f"Get it with: gap data fetch {name}" if dataset.files else f"It comes from {dataset.upstream}"
    raise DataNotFoundError(
        f"{name} ({dataset.path}) is at none of the places searched ({places}). {how}, or name its folder "
        "with --data or GAP_DATA"
    )


def file_of(dataset: str, file: str, data: Path | None) -> Path:
    """Path of a file in a data set's folder, plain or packed; DataNotFoundError if either is missing."""
    folder = require(dataset, data)
    for suffix in ("", ".xz", ".gz"):
        path = folder / (file + suffix)
        if path.is_file():
            return path
    raise DataNotFoundError(f"{folder} has no {file}, which is a part of {dataset} (see `gap data status`)")


def data_folder(data: str | None) -> Path | None:
    """Folder to search first; None if ``data`` names none, or the embedded sample."""
    return Path(data) if data and data != "sample" else None


def load_gap(
    data: Path | str | None = None, *, label_set: str = "official", quarantine: Quarantine | None = None
) -> GapData:
    """Load the three GAP splits from the first place that has them, and print to stderr which one that was.

    ``data`` is a folder, ``"sample"`` for the embedded sample, or None to search. If GAP is nowhere it is downloaded;
    if that fails, or ``GAPSTACK_OFFLINE`` is set, the embedded sample replaces it.
    A ``quarantine`` takes bad rows. Raises DataNotFoundError if a named folder lacks a split, or a label set's
    corrections are missing; IntegrityError if the cache or the download has other bytes than the published ones;
    MismatchError for the sample with other labels than ``official``.
    """
    if data == "sample":
        return load_sample("the sample was chosen")
    data = Path(data) if data else None
    reason = "downloads are switched off"
    origin = _origin_of_splits(data)
    if origin is None and not is_offline():
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
    paths = {split: require(f"gap-{split}", data) for split in SPLITS}
    folder = paths["test"].parent
    changed = [split for split, path in paths.items() if not DATASETS[f"gap-{split}"].is_intact(path)]
    print_note(f"Data: GAP from {folder} ({origin}), {label_set} labels")
    if changed:
        print_note(
            f"Warning: these splits differ from the published GAP: {', '.join(changed)}", "bold yellow"
        )
    return GapData(splits, f"GAP from {folder} ({origin})", is_sample=False)


def load_sample(reason: str) -> GapData:
    """Load the embedded sample instead of GAP, with a warning on stderr that gives the reason."""
    splits = sample()
    rows = sum(map(len, splits.values()))
    print_note(
        f"Warning: {reason}. Using the embedded sample of {rows} invented snippets: good for trying things out, but "
        "its scores say nothing about GAP.",
        "bold yellow",
    )
    return GapData(splits, f"the embedded sample ({rows} invented snippets)", is_sample=True)


def gap_split(
    split: str,
    data: Path | None = None,
    *,
    label_set: str = "official",
    quarantine: Quarantine | None = None,
) -> Corpus:
    """Load one GAP split from where the search finds it; raises as :func:`require` and :func:`read_gap`."""
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    return relabel(read_gap(require(f"gap-{split}", data), quarantine=quarantine), label_set, data)


def rows_of(ids: Iterable[str], data: Path | None = None) -> Corpus:
    """Load the GAP splits that ``ids`` such as ``test-12`` belong to; DataError if some are not ids of GAP."""
    splits = dict.fromkeys(name.rpartition("-")[0] for name in ids)
    if not splits or not splits.keys() <= set(SPLITS):
        raise DataError(
            "the ids are not those of a split of GAP" if splits else "there are no ids",
            expected=f"ids such as {SPLITS[-1]}-1",
            remedy="Name the labelled rows with --gold",
        )
    return reduce(add, (gap_split(split, data) for split in SPLITS if split in splits))


def relabel(corpus: Corpus, label_set: str, data: Path | None = None) -> Corpus:
    """Apply :func:`~gapstack.data.labels.with_labels` with the corrections that the search finds."""
    if label_set == "official":
        return with_labels(corpus, label_set)
    listed = f"corrections-{label_set}" if f"corrections-{label_set}" in DATASETS else "corrections-liu"
    return with_labels(corpus, label_set, require(listed, data).parent)


@by_content(lambda data=None: contents([require("stage2", data)]), most=1)
def stage2(data: Path | None = None) -> Corpus:
    """Load the 12,359 unlabelled rows of Kaggle's second stage; DataNotFoundError if they are missing."""
    return read_gap(require("stage2", data))


def sample() -> dict[str, Corpus]:
    """Load the embedded sample: ``train`` and ``test``, written for this project about invented people."""
    return {split: read_gap(_SAMPLE / f"gap-sample-{split}.tsv") for split in ("train", "test")}


def paper(name: str, data: Path | None = None) -> dict[str, Any]:
    """Figures of one of the :data:`PAPERS`, as its file has them; empty if the data set ``papers`` is missing."""
    folder = find("papers", data)
    path = folder / f"{name}.json" if folder else None
    figures: dict[str, Any] = {}
    if path and path.is_file():
        figures = read_json(path.read_bytes(), path, kind=dict[str, Any])
    return figures


def papers_note(*names: str, data: Path | None = None) -> str:
    """What a table says if papers' figures are missing; "" if none is."""
    missing = [f"{name}.json" for name in names if not paper(name, data)]
    text = f"{', '.join(missing)} of the data set papers not found, so the columns with the paper's figures are empty."
    return text if missing else ""


def fetch(names: Iterable[str] | None = None, *, again: bool = False) -> list[Path]:
    """Download data sets (all of :func:`fetchable` by default) into the cache, except intact ones unless ``again``.

    Raises as :func:`~gapstack.data.datasets.download`; DataNotFoundError if a data set has no public file.
    """
    paths: list[Path] = []
    for dataset in map(require_dataset, fetchable() if names is None else names):
        if dataset.files:
            paths.append(download(dataset, again=again))
        elif dataset.embedded:
            paths.append(embedded_folder() / dataset.path)
        else:
            raise DataNotFoundError(
                f"{dataset.name} cannot be fetched; it comes from {dataset.upstream}. Put it at {dataset.path} in "
                "a folder and name that with --data or GAP_DATA"
            )
    return paths


def fetchable() -> list[str]:
    """Names of the data sets that can be downloaded and do not come with the package."""
    return [name for name, dataset in DATASETS.items() if dataset.files and not dataset.embedded]


def status(data: Path | None = None) -> list[Status]:
    """Location, rows and integrity of every data set."""
    lines: list[Status] = []
    places = list(_places(data))
    for dataset in DATASETS.values():
        paths = ((dataset.within(folder), origin) for origin, folder in places)
        location = next((DataLocation(path, origin) for path, origin in paths if path is not None), None)
        rows = intact = None
        if location is not None and dataset.rows is not None:
            rows = read_bytes(location.path).count(b"\n") - 1  # the header
        if location is not None and dataset.files and location.origin != "embedded":
            intact = dataset.is_intact(location.path)
        lines.append(Status(dataset, location, rows, intact))
    return lines


def _places(data: Path | None) -> Iterator[tuple[str, Path]]:
    """Origins and folders in the order searched; a folder named by the user must exist."""
    for origin, value in (("--data", data), ("GAP_DATA", os.environ.get("GAP_DATA"))):
        if value:
            folder = Path(value).expanduser()
            if not folder.is_dir():
                raise DataNotFoundError(f"{origin} names the folder {folder}, which does not exist")
            yield origin, folder
    shared = [Path.cwd().parent / "shared" / "data"]
    if (_PROJECT / "pyproject.toml").is_file():  # a source checkout, not an installed package
        shared.append(_PROJECT.parent / "shared" / "data")
    yield from (("../shared/data", folder) for folder in dict.fromkeys(shared))
    yield "cache", data_cache()
    yield "embedded", embedded_folder()  # last, since it may have to be unpacked


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
