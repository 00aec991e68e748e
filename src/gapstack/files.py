"""Files that are either whole or absent, and where the cache lies."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import lzma
import os
import re
import secrets
import shutil
import socket
import tempfile
import time
import zlib
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from difflib import get_close_matches
from functools import lru_cache, wraps
from pathlib import Path
from typing import IO, Any, ParamSpec, TypeVar

import platformdirs

from gapstack.errors import DataError, DataNotFoundError, Place

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
_SETTLED = 2.0  # seconds

UNPACKED_BYTES, UNPACKED_RATIO = 256 << 20, 100
"""A packed file may unpack to so many bytes, or so many times its own size; ``GAPSTACK_UNPACKED_LIMIT`` sets bytes."""


@contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """Give a temporary path beside ``target`` that takes its place only when the block ends without error.

    The content is on the disk before it gets its name, so that no crash leaves a file that is cut off or full of zeros.
    The suffix is kept, since several writers choose their format by it. Raises DataError if ``target`` is a folder.
    """
    target = Path(target)
    if target.is_dir():
        raise DataError(
            "a folder is in the way", place=Place(target), expected="a file or nothing", remedy="Move it away"
        )
    temporary = _temporary(target)
    try:
        temporary.touch()
        yield temporary
        durable = not _is_within_temporary(target)
        if durable:
            _to_disk(temporary)
        temporary.replace(target)
        if durable:
            _to_disk(target.parent)
    finally:
        discard(temporary)


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """Give a temporary folder that takes ``target``'s place, whatever lay there, as :func:`atomic_path` does."""
    target = Path(target)
    temporary = _temporary(target)
    try:
        temporary.mkdir()
        yield temporary
        durable = not _is_within_temporary(target)
        for folder, _, files in os.walk(temporary, topdown=False) if durable else ():
            for path in (*(Path(folder, name) for name in files), Path(folder)):
                _to_disk(path)
        discard(target)
        temporary.replace(target)
        if durable:
            _to_disk(target.parent)
    finally:
        discard(temporary)


def discard(path: Path) -> None:
    """Delete what lies at ``path``, if anything does: a file, a link, or a folder with all that is in it."""
    try:
        path.unlink(missing_ok=True)
    except (IsADirectoryError, PermissionError):  # POSIX leaves open which of them a folder gives
        if not path.is_dir():
            raise
        path.chmod(0o700)  # a folder that may not be looked into cannot be emptied
        for folder, names, _ in os.walk(path):
            for inner in (Path(folder, name) for name in names):
                if not inner.is_symlink():
                    inner.chmod(0o700)
        shutil.rmtree(path)
    except NotADirectoryError:  # nothing lies there: a file has the place of a folder above
        pass


def sweep(folder: Path, *, deep: bool = False) -> None:
    """Delete temporary files that killed writers left in ``folder``, and with ``deep`` below it.

    Those of living processes on this machine stay, and so do those of other machines that changed within a day.
    """
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            if _is_left_over(Path(place, name)):
                with suppress(OSError):  # another process swept it, or will
                    discard(Path(place, name))
        if not deep:
            break


_HOST = re.sub(r"[^A-Za-z0-9]+", "_", socket.gethostname())[:40]
_TEMPORARY = re.compile(r"\.writing-(\w*)-(\d+)-[0-9a-f]{12}(\..*)?")
_ABANDONED = 86_400.0
"""Seconds without a change after which a temporary file counts as abandoned, whichever machine wrote it."""


def _temporary(target: Path) -> Path:
    """A free name beside ``target`` that identifies the writing machine and process."""
    target.parent.mkdir(parents=True, exist_ok=True)
    name = f".writing-{_HOST}-{os.getpid()}-{secrets.token_hex(6)}{target.suffix}"
    return target.with_name(name)


def _is_left_over(path: Path) -> bool:
    match = _TEMPORARY.fullmatch(path.name)
    if match is None:
        return False
    try:
        if time.time() - path.lstat().st_mtime > _ABANDONED:
            return True
        if match[1] != _HOST or os.name != "posix":
            return False
        os.kill(int(match[2]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:  # gone, or another user's living process
        return False
    return False


def _to_disk(path: Path) -> None:
    """Wait until a file's content, or a folder's entries, are on the disk."""
    if os.name == "posix":  # elsewhere folders cannot be opened
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _is_within_temporary(target: Path) -> bool:
    """Whether a temporary folder is being filled, which goes to the disk as a whole when it gets its name."""
    return any(_TEMPORARY.fullmatch(part) for part in target.parent.parts)


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
        raise DataNotFoundError(f"there is no file {path}{_alike(path)}") from None
    except IsADirectoryError:
        raise DataError("is a folder", place=Place(path), expected="a file") from None
    except (OSError, ValueError) as problem:  # a ValueError for a NUL in the name
        raise DataError(
            f"cannot be opened ({getattr(problem, 'strerror', None) or problem})",
            place=Place(path),
            expected="a file that can be read",
        ) from problem


def _alike(path: Path) -> str:
    """The closest match beside a missing file, in words."""
    with suppress(OSError):
        matches = get_close_matches(path.name, sorted(other.name for other in path.parent.iterdir()), n=1)
        return f"; did you mean {path.with_name(matches[0])}?" if matches else ""
    return ""


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


def by_content(
    key: Callable[Arguments, Hashable], most: int = 8
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Have a function that reads files read the same contents once in a process, and share what it gives.

    Parameters
    ----------
    key : callable
        Of the function's arguments: digests of all that it reads, and whatever else decides what it gives.
    most : int
        How many results are remembered, the latest ones.
    """

    def remembering(read: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        results: dict[Hashable, Result] = {}

        @wraps(read)
        def remember(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            before = key(*args, **kwargs)
            if before in results:
                return results[before]
            result = read(*args, **kwargs)
            if key(*args, **kwargs) == before:  # else a file changed meanwhile
                for oldest in list(results)[: max(0, len(results) + 1 - most)]:
                    del results[oldest]
                results[before] = result
            return result

        return remember

    return remembering


def contents(files: Iterable[Path]) -> tuple[str, ...]:
    """Digest of each file, for :func:`by_content`; empty for one that is not there, which its reader refuses."""
    return tuple(digest(file) if Path(file).is_file() else "" for file in files)


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


_SCRATCH: ContextVar[Path | None] = ContextVar("scratch cache", default=None)


@contextmanager
def scratch_cache() -> Iterator[None]:
    """Keep what is cached while the block runs in a folder of its own, in memory where there is such, and delete it.

    For passing texts, which would leave a cache of many small files behind. What a killed process leaves is swept away
    by the next one.
    """
    home = Path("/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir())
    sweep(home)
    folder = _temporary(home / "cache")
    folder.mkdir(mode=0o700)
    token = _SCRATCH.set(folder)
    try:
        yield
    finally:
        _SCRATCH.reset(token)
        discard(folder)


def cache_root() -> Path:
    """Folder for everything that can be computed again.

    That of :func:`scratch_cache` within its block, else ``GAPSTACK_CACHE``, else the user's cache folder.
    """
    scratch = _SCRATCH.get()
    if scratch is not None:
        return scratch
    folder = os.environ.get("GAPSTACK_CACHE")
    return Path(folder).expanduser() if folder else Path(platformdirs.user_cache_dir("gapstack"))
