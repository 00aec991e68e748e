"""Data sets: which there are (``datasets.toml``), where they are found, and how they are downloaded.

Searched in this order: the folder that ``GAP_DATA``, ``--data`` or an argument ``data`` names, ``../shared/data``
relative to the current folder and to a source checkout, the cache, and the data that come with the package
(``embedded.tar.xz``, which ``scripts/embed_data.py`` writes). :mod:`gapstack.data.gap_data` loads GAP itself.
"""

import atexit
import hashlib
import os
import tarfile
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache, wraps
from inspect import signature
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple, ParamSpec, TypeVar

from gapstack.data.cells import read_json
from gapstack.errors import DataError, DataNotFoundError, IntegrityError
from gapstack.files import (
    CACHE,
    atomic_folder,
    cache_root,
    digest,
    discard,
    read_bytes,
    require_writable,
)
from gapstack.registry import unknown

SAMPLE = "sample"
"""Names the embedded sample where a data folder is expected."""
ARCHIVE = Path(__file__).parent / "embedded.tar.xz"
_DATASETS = Path(__file__).with_name("datasets.toml")
_PROJECT = Path(__file__).parents[3]
P = ParamSpec("P")
T = TypeVar("T")


class DownloadError(DataNotFoundError):
    """A download failed because of the network or the server, not because of the file's content."""


class RemoteFile(NamedTuple):
    """A file at a fixed address; ``name`` is its path in a data set that is a folder."""

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
    files: tuple[RemoteFile, ...] = ()  # empty if it cannot be downloaded
    embedded: bool = False  # True if it is part of the package

    def within(self, folder: Path) -> Path | None:
        """Path in a data folder, at ``path`` or directly under its name, plain, ``.gz`` or ``.xz``; None if missing."""
        return _packed(folder / self.path) or _packed(folder / Path(self.path).name)

    def is_intact(self, path: Path) -> bool:
        """True if the files at ``path``, unpacked, have the published checksums."""
        try:
            checksums = [hashlib.sha256(read_bytes(path / file.name)).hexdigest() for file in self.files]
            return checksums == [file.sha256 for file in self.files]
        except DataNotFoundError:  # a folder that lacks a file
            return False


def _packed(path: Path) -> Path | None:
    """The path itself, or with ``.gz`` or ``.xz``, whichever exists; None if none does."""
    paths = (path.with_name(path.name + suffix) for suffix in ("", ".gz", ".xz"))
    return next((packed for packed in paths if packed.exists()), None)


DATASETS: dict[str, Dataset] = {
    name: Dataset(name, **fields | {"files": tuple(RemoteFile(**f) for f in fields.get("files", ()))})
    for name, fields in tomllib.loads(_DATASETS.read_text(encoding="utf-8")).items()
}
"""Data sets by name, in the order of ``gap data status``."""


class DataLocation(NamedTuple):
    """The path of a data set, and the step of the search that found it."""

    path: Path
    origin: str


class Status(NamedTuple):
    """A line of ``gap data status``; ``intact`` is True if the bytes are the published ones, None if unknown."""

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
    """Set ``GAP_DATA``, which other processes inherit, while the block runs; None leaves it unchanged."""
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


def named_folder() -> str:
    """Value of ``GAP_DATA``: a folder, "sample", or ""."""
    return os.environ.get("GAP_DATA", "")


def places() -> Iterator[tuple[str, Path]]:
    """Origins and folders in the order searched; a folder named by the user must exist."""
    if named_folder() not in ("", SAMPLE):
        folder = Path(named_folder()).expanduser()
        if not folder.is_dir():
            raise DataNotFoundError(
                f"the data folder {folder} does not exist; correct GAP_DATA, --data or the argument data"
            )
        yield "given", folder
    shared = [Path.cwd().parent / "shared" / "data"]
    if (_PROJECT / "pyproject.toml").is_file():  # a source checkout, not an installed package
        shared.append(_PROJECT.parent / "shared" / "data")
    yield from (("../shared/data", folder) for folder in dict.fromkeys(shared))
    yield "cache", _data_cache()
    yield "embedded", embedded_folder()  # last, since it may have to be unpacked


def _data_cache() -> Path:
    """Folder of downloads, laid out like a data folder."""
    return cache_root() / "data"


def embedded_folder() -> Path:
    """Data folder with the embedded data sets, unpacked into the cache, or for this process if that is not writable."""
    target = cache_root() / "embedded" / digest(ARCHIVE)[:16]
    if not target.is_dir():
        try:
            require_writable(target, CACHE)
        except DataError:
            return _unpacked_for_this_process()
        with atomic_folder(target) as temporary:
            _unpack(temporary)
    return target


@cache
def _unpacked_for_this_process() -> Path:
    folder = Path(mkdtemp(prefix="gapstack-"))
    atexit.register(discard, folder)
    _unpack(folder)
    return folder


def _unpack(folder: Path) -> None:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")


def search(name: str) -> DataLocation | None:
    """Find a data set without downloading it, None if it is missing.

    Raises UnknownNameError for an unknown name, and IntegrityError if a cached file is not the published one.
    """
    dataset = require_dataset(name)
    location = _first(dataset)
    if location and location.origin == "cache" and not dataset.is_intact(location.path):
        raise IntegrityError(
            f"{location.path}: the SHA-256 is not the published one. Delete it, or get it again with: gap data fetch "
            f"{name}"
        )
    return location


def _first(dataset: Dataset) -> DataLocation | None:
    """First location that has a data set, intact or not."""
    paths = ((dataset.within(folder), origin) for origin, folder in places())
    return next((DataLocation(path, origin) for path, origin in paths if path), None)


def find(name: str) -> Path | None:
    """Path of a data set, None if it is missing; raises as :func:`search` does."""
    location = search(name)
    return location.path if location else None


def require(name: str) -> Path:
    """Path of a data set; DataNotFoundError, with the places searched and its upstream source, if it is missing."""
    return location_of(name).path


def location_of(name: str) -> DataLocation:
    """Path of a data set and where it was found; raises as :func:`require`."""
    location = search(name)
    if location is None:
        dataset = DATASETS[name]
        searched = "; ".join(f"{origin}: {folder}" for origin, folder in places())
        how = f"Get it with: gap data fetch {name}" if dataset.files else f"It comes from {dataset.upstream}"
        raise DataNotFoundError(
            f"{name} ({dataset.path}) is at none of the places searched ({searched}). {how}, or name its folder "
            "with data=FOLDER"
        )
    return location


def file_of(dataset: str, file: str) -> Path:
    """Path of a file in a data set's folder, plain or packed; DataNotFoundError if either is missing."""
    folder = require(dataset)
    if path := _packed(folder / file):
        return path
    raise DataNotFoundError(
        f"{folder} has no {file}, which is part of {dataset}; see `gap data status` for its source"
    )


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
    """Name of the data set that a file belongs to; None if it belongs to none."""
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
    """Names of the data sets that can be downloaded and are not part of the package."""
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
        elif again or not path.exists() or not dataset.is_intact(path):
            _download(dataset, path)
        paths.append(path)
    return paths


def _download(dataset: Dataset, target: Path) -> None:
    if is_offline():
        raise DownloadError(
            f"{dataset.name} is not in the cache, and GAPSTACK_OFFLINE forbids downloads; unset it or use data=FOLDER"
        )
    require_writable(target.parent, CACHE)
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


def paper(name: str) -> dict[str, Any]:
    """Figures of a paper such as ``webster2018``, from its file in the data set ``papers``."""
    path = file_of("papers", f"{name}.json")
    figures: dict[str, Any] = read_json(path.read_bytes(), path, kind=dict[str, Any])
    return figures
