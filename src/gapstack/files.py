"""Files that are either whole or absent, and where the cache lies."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import lzma
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import platformdirs

from gapstack.errors import DataError, DataNotFoundError, Place

UNPACKED_BYTES, UNPACKED_RATIO = 256 << 20, 100
"""A packed file may unpack to so many bytes, or so many times its own size; ``GAPSTACK_UNPACKED_LIMIT`` sets bytes."""


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
    """Read a file whole, undoing ``.gz`` or ``.xz`` by its suffix; raises as :func:`open_bytes` does."""
    with open_bytes(path) as stream:
        return stream.read()


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, undoing ``.gz`` or ``.xz`` by its suffix; all packed input goes through here.

    Raises
    ------
    DataError
        If it is a folder or cannot be opened. Reading raises it too: for a damaged packed file, and for one that
        unpacks to more than :data:`UNPACKED_BYTES` and :data:`UNPACKED_RATIO` allow.
    DataNotFoundError
        If there is no such file.
    """
    path = Path(path)
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
    unpack = openers.get(path.suffix)
    try:
        return path.open("rb") if unpack is None else io.BufferedReader(_Unpacked(path, unpack(path, "rb")))
    except FileNotFoundError:
        raise DataNotFoundError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise DataError("is a folder", place=Place(path), expected="a file") from None
    except (OSError, ValueError) as problem:  # a ValueError for a NUL in the name
        raise DataError(
            f"cannot be opened ({getattr(problem, 'strerror', None) or problem})",
            place=Place(path),
            expected="a file that can be read",
        ) from problem


class _Unpacked(io.RawIOBase):
    """What a packed file unpacks to, as far as it may."""

    def __init__(self, path: Path, packed: Any):
        self._path, self._packed = path, packed
        stated = os.environ.get("GAPSTACK_UNPACKED_LIMIT", "")
        if stated and not (stated.isascii() and stated.isdigit() and len(stated) < 19):
            raise DataError(f"GAPSTACK_UNPACKED_LIMIT is {stated!r}", expected="a number of bytes")
        self._limit = int(stated) if stated else max(UNPACKED_BYTES, UNPACKED_RATIO * path.stat().st_size)
        self._left = self._limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        blob = self._take(len(buffer))
        buffer[: len(blob)] = blob
        return len(blob)

    def readall(self) -> bytes:
        return b"".join(iter(lambda: self._take(1 << 20), b""))

    def close(self) -> None:
        self._packed.close()
        super().close()

    def _take(self, size: int) -> bytes:
        try:
            blob: bytes = self._packed.read(size)
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as problem:
            raise DataError(
                f"cannot be unpacked ({problem})",
                place=Place(self._path),
                expected="a whole file, compressed as its suffix says",
                remedy="Get it again, or remove the suffix if it is plain text",
            ) from problem
        self._left -= len(blob)
        if self._left < 0:
            raise DataError(
                f"unpacks to more than {self._limit:,} bytes",
                place=Place(self._path),
                expected=f"at most {UNPACKED_RATIO} times its packed size",
                remedy="If you trust it, unpack it first, or set GAPSTACK_UNPACKED_LIMIT to more bytes",
            )
        return blob


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fingerprint(*parts: object) -> str:
    """Short stable hash (16 hexadecimal digits) of JSON-able parts, for cache keys and stored results."""
    blob = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(blob.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def cache_root() -> Path:
    """Folder for everything that can be computed again: ``GAPSTACK_CACHE``, else the user's cache folder."""
    chosen = os.environ.get("GAPSTACK_CACHE")
    return Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("gapstack"))
