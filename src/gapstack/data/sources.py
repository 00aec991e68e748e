"""Data sets: which there are (``datasets.toml``), where they are found, how they are downloaded, and GAP itself.

Searched in this order: the folder that ``GAP_DATA``, ``--data`` or an argument ``data`` names, ``../shared/data``
relative to the current folder and to a source checkout, the cache, and the data that come with the package
(``embedded.tar.xz``, which ``scripts/embed_data.py`` writes). GAP itself is downloaded if it is nowhere; if that fails,
or if ``sample`` is named, the embedded sample replaces it.
"""

import hashlib
import os
import tarfile
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import reduce, wraps
from inspect import signature
from operator import add
from pathlib import Path
from typing import Annotated, Any, NamedTuple, ParamSpec, TypeVar

from gapstack.cache import by_content
from gapstack.data.cells import Quarantine, read_json
from gapstack.data.corpus import Corpus
from gapstack.data.gap_files import read_gap
from gapstack.data.labels import LABEL_SETS, lists_of, with_labels
from gapstack.errors import DataError, DataNotFoundError, IntegrityError, MismatchError
from gapstack.files import (
    CACHE,
    atomic_folder,
    cache_root,
    contents,
    digest,
    discard,
    read_bytes,
    require_writable,
)
from gapstack.progress import print_note
from gapstack.registry import unknown
from gapstack.settings import OneOf

SPLITS = ("development", "validation", "test")
STAGE2 = "stage2"
HELD_OUT = (*SPLITS, STAGE2)
"""What a recipe may hold out: a split, or the unlabelled rows of Kaggle's second stage."""
_TABLES = (".tsv", ".tsv.gz", ".tsv.xz")
SplitName = Annotated[str, OneOf(SPLITS, _TABLES)]
HeldOutName = Annotated[str, OneOf(HELD_OUT, _TABLES)]  # splits of GAP, or files of rows like GAP's
SAMPLE = "sample"
_SAMPLE = Path(__file__).parent / SAMPLE
_PROJECT = Path(__file__).parents[3]
ARCHIVE = Path(__file__).parent / "embedded.tar.xz"
P = ParamSpec("P")
T = TypeVar("T")


class DownloadError(DataNotFoundError):
    """A download failed because of the network or the server, not because of the file's content."""


class RemoteFile(NamedTuple):
    """A file at a fixed address; ``name`` is its place in a data set that is a folder."""

    url: str
    sha256: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """One file or folder of data, at ``path`` in a data folder, with its published number of rows."""

    name: str
    path: str
    upstream: str
    licence: str
    rows: int | None = None  # published number of examples
    files: tuple[RemoteFile, ...] = ()  # can be downloaded
    embedded: bool = False  # comes with the package

    def within(self, folder: Path) -> Path | None:
        """Find it in a data folder: at ``path`` or directly under its own name; plain, ``.gz`` or ``.xz``."""
        return _packed(folder / self.path) or _packed(folder / Path(self.path).name)

    def is_intact(self, path: Path) -> bool:
        """True if the files at ``path``, unpacked, have the published checksums."""
        try:
            found = [hashlib.sha256(read_bytes(path / file.name)).hexdigest() for file in self.files]
            return found == [file.sha256 for file in self.files]
        except DataNotFoundError:  # a folder that lacks a file
            return False


def _packed(path: Path) -> Path | None:
    """The path, or with ``.gz`` or ``.xz``, that exists."""
    paths = (path.with_name(path.name + suffix) for suffix in ("", ".gz", ".xz"))
    return next((one for one in paths if one.exists()), None)


DATASETS: dict[str, Dataset] = {
    name: Dataset(name, **fields | {"files": tuple(RemoteFile(**f) for f in fields.get("files", ()))})
    for name, fields in tomllib.loads((_SAMPLE.parent / "datasets.toml").read_text(encoding="utf-8")).items()
}
"""By name, in the order that ``gap data status`` shows."""


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


def require_dataset(name: str) -> Dataset:
    """The data set of this name; UnknownNameError, with the closest match, if there is none."""
    if name not in DATASETS:
        raise unknown("data set", name, DATASETS)
    return DATASETS[name]


@contextmanager
def data_in(folder: str | Path | None) -> Iterator[None]:
    """Set ``GAP_DATA``, which other processes inherit, while the block runs; None keeps what it is."""
    before = os.environ.get("GAP_DATA", "")
    os.environ["GAP_DATA"] = str(folder or before)
    try:
        yield
    finally:
        os.environ["GAP_DATA"] = before


def searches_data(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function to search the folder in its argument ``data`` first while it runs."""
    parameters = signature(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with data_in(parameters.bind(*args, **kwargs).arguments.get("data")):
            return function(*args, **kwargs)

    return call


def _named() -> str:
    """The folder that ``GAP_DATA`` names, "sample", or nothing."""
    return os.environ.get("GAP_DATA", "")


def _places() -> Iterator[tuple[str, Path]]:
    """Origins and folders in the order searched; a folder named by the user must exist."""
    if _named() not in ("", SAMPLE):
        folder = Path(_named()).expanduser()
        if not folder.is_dir():
            raise DataNotFoundError(f"the data folder {folder} (GAP_DATA or --data) does not exist")
        yield "given", folder
    shared = [Path.cwd().parent / "shared" / "data"]
    if (_PROJECT / "pyproject.toml").is_file():  # a source checkout, not an installed package
        shared.append(_PROJECT.parent / "shared" / "data")
    yield from (("../shared/data", folder) for folder in dict.fromkeys(shared))
    yield "cache", _data_cache()
    yield "embedded", embedded_folder()  # last, since it may have to be unpacked


def _data_cache() -> Path:
    """Folder that downloads go to, laid out like a data folder."""
    return cache_root() / "data"


def embedded_folder() -> Path:
    """Data folder with the embedded data sets, unpacked into the cache."""
    target = cache_root() / "embedded" / digest(ARCHIVE)[:16]
    if not target.is_dir():
        require_writable(target, CACHE)
        with atomic_folder(target) as temporary, tarfile.open(ARCHIVE) as archive:
            archive.extractall(temporary, filter="data")
    return target


def search(name: str) -> DataLocation | None:
    """Find a data set by its name without downloading it; IntegrityError for other than the published bytes."""
    dataset = require_dataset(name)
    location = _first(dataset)
    if location and location.origin == "cache" and not dataset.is_intact(location.path):
        raise IntegrityError(
            f"{location.path}: the SHA-256 is not the published one. Delete it, or get it again with: gap data fetch "
            f"{name}"
        )
    return location


def _first(dataset: Dataset) -> DataLocation | None:
    """The first place that has a data set, whether intact or not."""
    paths = ((dataset.within(folder), origin) for origin, folder in _places())
    return next((DataLocation(path, origin) for path, origin in paths if path), None)


def find(name: str) -> Path | None:
    """Path of a data set, or None if it is at none of the places; raises as :func:`search` does."""
    location = search(name)
    return location.path if location else None


def require(name: str) -> Path:
    """Path of a data set; DataNotFoundError with the places searched and its upstream home if there is none."""
    return _located(name).path


def _located(name: str) -> DataLocation:
    location = search(name)
    if location is None:
        dataset = DATASETS[name]
        places = "; ".join(f"{origin}: {folder}" for origin, folder in _places())
        how = f"Get it with: gap data fetch {name}" if dataset.files else f"It comes from {dataset.upstream}"
        raise DataNotFoundError(
            f"{name} ({dataset.path}) is at none of the places searched ({places}). {how}, or name its folder "
            "with data=FOLDER"
        )
    return location


def file_of(dataset: str, file: str) -> Path:
    """Path of a file in a data set's folder, plain or packed; DataNotFoundError if either is missing."""
    folder = require(dataset)
    if path := _packed(folder / file):
        return path
    raise DataNotFoundError(f"{folder} has no {file}, which is a part of {dataset} (see `gap data status`)")


def status() -> list[Status]:
    """Location, rows and integrity of every data set."""
    lines: list[Status] = []
    for dataset in DATASETS.values():
        location = _first(dataset)
        rows = intact = None
        if location is not None and dataset.rows is not None:
            rows = read_bytes(location.path).count(b"\n") - 1  # the header
        if location is not None and dataset.files and location.origin != "embedded":
            intact = dataset.is_intact(location.path)
        lines.append(Status(dataset, location, rows, intact))
    return lines


def data_set_of(file: Path) -> str | None:
    """Name of the data set that a file is, or is a part of; None if it is of none that is found."""
    for name, dataset in DATASETS.items():
        location = _first(dataset)
        if location and file.resolve().is_relative_to(location.path.resolve()):
            return name
        if location and location.path.is_file() and location.path.samefile(file):
            return name
    return None


def is_offline() -> bool:
    """True if ``GAPSTACK_OFFLINE`` forbids downloads."""
    return os.environ.get("GAPSTACK_OFFLINE", "") not in {"", "0"}


def fetchable() -> list[str]:
    """Names of the data sets that can be downloaded and do not come with the package."""
    return [name for name, dataset in DATASETS.items() if dataset.files and not dataset.embedded]


def fetch(names: Iterable[str] | None = None, *, again: bool = False) -> list[Path]:
    """Download data sets (all of :func:`fetchable` by default) into the cache, except intact ones unless ``again``."""
    paths: list[Path] = []
    for dataset in map(require_dataset, fetchable() if names is None else names):
        path = _data_cache() / dataset.path
        if dataset.embedded and not dataset.files:
            path = embedded_folder() / dataset.path
        elif not dataset.files:
            raise DataNotFoundError(
                f"{dataset.name} cannot be fetched; it comes from {dataset.upstream}. Put it at {dataset.path} in "
                "a folder and name that with data=FOLDER"
            )
        elif again or not dataset.is_intact(path):
            _download(dataset, path)
        paths.append(path)
    return paths


def _download(dataset: Dataset, target: Path) -> None:
    if is_offline():
        raise DownloadError(f"{dataset.name} is not in the cache, and GAPSTACK_OFFLINE is set")
    import pooch  # slow to import

    pooch.get_logger().setLevel("WARNING")
    downloader = pooch.HTTPDownloader(timeout=30)
    is_folder = bool(dataset.files[0].name)
    if not is_folder:
        discard(target)
    with atomic_folder(target) if is_folder else nullcontext(target.parent) as folder:
        for url, sha256, name in dataset.files:
            try:
                pooch.retrieve(url, f"sha256:{sha256}", name or target.name, folder, downloader=downloader)
            except OSError as problem:
                raise DownloadError(
                    f"cannot download {url}: {problem}. Check the network, or download the file yourself and give its "
                    "folder with data=FOLDER"
                ) from problem
            except ValueError as problem:  # pooch raises it for another hash
                raise IntegrityError(
                    f"{url}: {problem}. Try again; if this repeats, something between here and the server changes files"
                ) from problem


@dataclass(frozen=True)
class GapData:
    """Result of :func:`gapstack.load_gap`: GAP, or the embedded sample in its place."""

    splits: dict[str, Corpus]
    """``development``, ``validation`` and ``test``; of the sample, ``train`` and ``test``."""
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


@searches_data
def load_gap(
    data: Path | str | None = None, *, label_set: str = "official", quarantine: Quarantine | None = None
) -> GapData:
    """Load GAP, or the embedded sample if GAP cannot be found or downloaded, and print to stderr which one.

    Parameters
    ----------
    data : str or Path, optional
        Folder to search first, by default that of ``GAP_DATA``; or ``sample`` for the embedded sample.
    label_set : str
        Labels to use (:data:`~gapstack.data.labels.LABEL_SETS`).
    quarantine : Quarantine, optional
        Collects invalid rows, which otherwise raise.

    Raises DataNotFoundError if a named folder lacks a split, or a label set's corrections are missing; IntegrityError
    if a cached or downloaded file is not the published one; MismatchError for labels that the sample does not have.
    """
    if _named() == SAMPLE:
        return _load_sample("the sample was chosen")
    origin, folder = next(_places())
    lacks = [f"gap-{split}.tsv" for split in SPLITS if DATASETS[f"gap-{split}"].within(folder) is None]
    if lacks and origin == "given":
        raise DataNotFoundError(
            f"{folder} lacks {', '.join(lacks)}; expected the three GAP splits, in it or in its folder gap"
        )
    if not all(find(f"gap-{split}") for split in SPLITS):
        try:
            fetch(f"gap-{split}" for split in SPLITS)
        except DownloadError as problem:
            if label_set != "official":
                raise MismatchError(
                    f"GAP is not available, and the sample has no {label_set} labels. Use official"
                ) from problem
            return _load_sample(f"GAP was not found ({problem})")
    splits = {split: gap_split(split, label_set=label_set, quarantine=quarantine) for split in SPLITS}
    found = {split: _located(f"gap-{split}") for split in SPLITS}
    changed = [split for split, one in found.items() if not DATASETS[f"gap-{split}"].is_intact(one.path)]
    source = f"GAP from {found['test'].path.parent} ({found['test'].origin})"
    print_note(f"Data: {source}, {label_set} labels")
    if changed:
        print_note(
            f"Warning: these splits differ from the published GAP: {', '.join(changed)}", "bold yellow"
        )
    return GapData(splits, source, is_sample=False)


def _load_sample(reason: str) -> GapData:
    """Load the embedded sample instead of GAP, with a warning on stderr that gives the reason."""
    splits = sample()
    rows = sum(map(len, splits.values()))
    print_note(
        f"Warning: {reason}. Using the embedded sample of {rows} invented snippets: good for trying things out, but "
        "its scores say nothing about GAP.",
        "bold yellow",
    )
    return GapData(splits, f"the embedded sample ({rows} invented snippets)", is_sample=True)


def gap_split(split: str, *, label_set: str = "official", quarantine: Quarantine | None = None) -> Corpus:
    """Load one GAP split from where the search finds it; raises as :func:`require` and :func:`read_gap`."""
    return relabel(read_gap(require(f"gap-{split}"), quarantine=quarantine), label_set)


def rows_of(ids: Iterable[str]) -> Corpus:
    """Load the GAP splits that ``ids`` such as ``test-12`` belong to; DataError if some are not ids of GAP."""
    splits = dict.fromkeys(name.rpartition("-")[0] for name in ids)
    if not splits or not splits.keys() <= set(SPLITS):
        raise DataError(
            "the ids are not those of a split of GAP" if splits else "there are no ids",
            expected=f"ids such as {SPLITS[-1]}-1",
            remedy="Name the labelled rows with gold=ROWS",
        )
    return reduce(add, (gap_split(split) for split in SPLITS if split in splits))


def relabel(corpus: Corpus, label_set: str) -> Corpus:
    """Apply :func:`~gapstack.data.labels.with_labels` with the corrections that the search finds."""
    if label_set not in LABEL_SETS:
        raise unknown("label set", label_set, LABEL_SETS)
    return with_labels(corpus, label_set, [require(f"corrections-{one}") for one in lists_of(label_set)])


@by_content(lambda: contents([require("stage2")]), most=1)
def stage2() -> Corpus:
    """Load the 12,359 unlabelled rows of Kaggle's second stage; DataNotFoundError if they are missing."""
    return read_gap(require("stage2"))


def sample() -> dict[str, Corpus]:
    """Load the embedded sample: ``train`` and ``test``, written for this project about invented people."""
    return {split: read_gap(_SAMPLE / f"gap-sample-{split}.tsv") for split in ("train", "test")}


def paper(name: str) -> dict[str, Any]:
    """Figures of a paper such as ``webster2018``, as its file in the data set ``papers`` has them."""
    path = file_of("papers", f"{name}.json")
    figures: dict[str, Any] = read_json(path.read_bytes(), path, kind=dict[str, Any])
    return figures
