"""The data sets that gapstack knows, listed in ``datasets.toml``, and how they are downloaded.

Small ones with a free licence come with the package in ``embedded.tar.xz``, which ``scripts/embed_data.py`` writes.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gapstack.errors import DataNotFoundError, IntegrityError
from gapstack.files import atomic_folder, cache_root, digest, discard, read_bytes
from gapstack.registry import unknown

ARCHIVE = Path(__file__).parent / "embedded.tar.xz"
SUMS = "SHA256SUMS"
"""Digests of the archive's other files, as ``sha256sum`` writes and checks them."""


class DownloadError(DataNotFoundError):
    """A download failed because of the network or the server, not because of the file's content."""


class RemoteFile(NamedTuple):
    """A file at a fixed address; ``name`` is its place in a data set that is a folder."""

    url: str
    sha256: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """One file or folder of data, at ``path`` in a data folder.

    ``rows`` is the published number of examples; ``files`` can be downloaded, ``embedded`` data come with the package.
    """

    name: str
    path: str
    upstream: str
    licence: str
    rows: int | None = None
    files: tuple[RemoteFile, ...] = ()
    embedded: bool = False

    def within(self, folder: Path) -> Path | None:
        """Find it in a data folder: at ``path`` or directly under its own name; plain, ``.gz`` or ``.xz``."""
        for relative in (self.path, Path(self.path).name):
            for suffix in ("", ".gz", ".xz"):
                candidate = Path(folder) / (relative + suffix)
                if candidate.exists():
                    return candidate
        return None

    def is_intact(self, path: Path) -> bool:
        """True if the files at ``path``, unpacked, have the published checksums."""
        try:
            return all(
                hashlib.sha256(read_bytes(path / file.name)).hexdigest() == file.sha256 for file in self.files
            )
        except DataNotFoundError:  # a folder that lacks a file
            return False


def _load() -> dict[str, Dataset]:
    listed: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {
        name: Dataset(name, **fields | {"files": tuple(RemoteFile(**f) for f in fields.get("files", ()))})
        for name, fields in listed.items()
    }


DATASETS: dict[str, Dataset] = _load()
"""By name, in the order that ``gap data status`` shows."""


def require_dataset(name: str) -> Dataset:
    """The data set of this name; UnknownNameError, with the closest match, if there is none."""
    if name not in DATASETS:
        raise unknown("data set", name, DATASETS)
    return DATASETS[name]


def data_cache() -> Path:
    """Folder that downloads go to, laid out like a data folder."""
    return cache_root() / "data"


def is_offline() -> bool:
    """True if ``GAPSTACK_OFFLINE`` forbids downloads."""
    return os.environ.get("GAPSTACK_OFFLINE", "") not in {"", "0"}


def download(dataset: Dataset, *, again: bool = False) -> Path:
    """Download a data set into the cache, unless it is there and intact, and return its path.

    Raises DownloadError if a file cannot be downloaded or ``GAPSTACK_OFFLINE`` is set; IntegrityError if its checksum
    is not the published one.
    """
    target = data_cache() / dataset.path
    if not again and target.exists() and dataset.is_intact(target):
        return target
    if is_offline():
        raise DownloadError(f"{dataset.name} is not in the cache, and GAPSTACK_OFFLINE is set")
    import pooch  # slow to import

    pooch.get_logger().setLevel("WARNING")
    is_folder = bool(dataset.files[0].name)
    folder = data_cache() / "unfinished" / dataset.name if is_folder else target.parent
    if again:
        discard(folder if is_folder else target)
    downloader = pooch.HTTPDownloader(timeout=30)
    for file in dataset.files:
        try:
            pooch.retrieve(
                file.url, f"sha256:{file.sha256}", file.name or target.name, folder, downloader=downloader
            )
        except OSError as problem:
            raise DownloadError(
                f"cannot download {file.url}: {problem}. Check the network, or download the file yourself and give "
                "its folder with --data"
            ) from problem
        except ValueError as problem:  # pooch raises it for another hash
            raise IntegrityError(
                f"{file.url}: {problem}. Try again; if this repeats, something between here and the server changes "
                "files"
            ) from problem
    if is_folder:
        discard(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        folder.replace(target)
    return target


def embedded_folder() -> Path:
    """Data folder with the embedded data sets, unpacked into the cache."""
    target = cache_root() / "embedded" / digest(ARCHIVE)[:16]
    if not target.is_dir():
        with atomic_folder(target) as temporary, tarfile.open(ARCHIVE) as archive:
            archive.extractall(temporary, filter="data")
    return target
