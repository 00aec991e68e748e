"""Files that are either whole or absent, and where the cache lies."""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import os
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import platformdirs

_SETTLED = 2.0  # seconds


@contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """Give a temporary path beside ``target`` that takes its place only when the block ends without error.

    The suffix is kept, since several writers choose their format by it.
    """
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=target.suffix, dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes files private to the user; give them what the umask would have given
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(target: Path, text: str) -> None:
    """Write ``text`` to ``target`` as UTF-8, atomically, compressed where its suffix is ``.gz`` or ``.xz``."""
    blob = text.encode("utf-8")
    if Path(target).suffix == ".gz":
        blob = gzip.compress(blob, mtime=0)
    elif Path(target).suffix == ".xz":
        blob = lzma.compress(blob)
    with atomic_path(target) as temporary:
        temporary.write_bytes(blob)


def write_json(target: Path, value: Any) -> None:
    """Write ``value`` as indented JSON, atomically."""
    write_text(target, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_bytes(path: Path) -> bytes:
    """Read a file whole, undoing ``.gz`` or ``.xz`` by its suffix."""
    path = Path(path)
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".xz":
        return lzma.decompress(path.read_bytes())
    return path.read_bytes()


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest(path: Path) -> str:
    """As :func:`sha256`, but a file that has not been touched since is read once in a process.

    Other contents have another inode, size or time of change; a file that has changed just now is read again, since
    clocks of file systems tick slowly.
    """
    state = Path(path).stat()
    if time.time() - max(state.st_mtime, state.st_ctime) < _SETTLED:
        return sha256(path)
    times = (state.st_mtime_ns, state.st_ctime_ns)
    return _digest(Path(path), (state.st_dev, state.st_ino, state.st_size, *times))


@lru_cache(maxsize=4096)
def _digest(path: Path, _: tuple[int, ...]) -> str:
    return sha256(path)


def tree_digest(folder: Path, leave_out: Collection[str] = ()) -> str:
    """Short hash of all files in a folder, by their places in it and their contents; or of a file alone.

    Links count as what they lead to; files whose suffix is among ``leave_out`` do not count.
    """
    folder = Path(folder)
    if folder.is_file():
        return digest(folder)[:16]
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in leave_out)
    return fingerprint([(str(path.relative_to(folder)), digest(path)) for path in files])


def fingerprint(*parts: object) -> str:
    """Short stable hash (16 hexadecimal digits) of JSON-able parts, for cache keys and stored results."""
    blob = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(blob.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def cache_root() -> Path:
    """Folder for everything that can be computed again: ``GAPSTACK_CACHE``, else the user's cache folder."""
    chosen = os.environ.get("GAPSTACK_CACHE")
    return Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("gapstack"))
