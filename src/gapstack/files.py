"""Atomic writes, packed input, content hashes, and the cache folder."""

import errno
import gzip
import hashlib
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
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import platformdirs

from gapstack.errors import DataError, DataNotFoundError, MismatchError, Place

_HOST = re.sub(r"[^A-Za-z0-9]+", "_", socket.gethostname())[:40]
_TEMPORARY = re.compile(r"\.writing-(\w*)-(\d+)-[0-9a-f]{12}(\..*)?")
_ABANDONED = 86_400.0  # seconds without a change
FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Numbers of the errors of a disk, a quota or a file that is full."""
_CLOCK_STEP = 2.0  # seconds that a file system's clock may take to show a change


@contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces ``target``, on the disk, when the block ends without error."""
    if Path(target).is_dir():
        raise DataError(
            "is a folder", place=Place(target), expected="a file or nothing", remedy="Move it away"
        )
    if is_device(target):
        raise DataError("is a device or pipe", place=Place(target), expected="a file or nothing")
    with _replacing(Path(target)) as temporary:
        temporary.touch()
        yield temporary


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """Yield a temporary folder that replaces ``target``, a file or a folder, as :func:`atomic_path` does."""
    with _replacing(Path(target)) as temporary:
        temporary.mkdir()
        yield temporary


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    temporary = _temporary(target)
    try:
        yield temporary
        for path in (*temporary.rglob("*"), temporary):
            _flush(path)
        if temporary.is_dir():
            discard(target)
        temporary.replace(target)
        _flush(target.parent)
    except OSError as error:
        if error.filename is None and error.errno in FULL_DISK:  # errors of writing have no name
            error.filename = str(target)
        raise
    finally:
        discard(temporary)


_OPEN_FILES = Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd")
"""Folders whose files are devices or stand for open files, whatever they are."""
_BLOCK = bytes(4096)


def is_device(path: Path) -> bool:
    """True for a device, a pipe, or what stands for an open file (``/dev/stdout``): writing must not replace it."""
    path = Path(path).absolute()
    return path.exists() and not path.is_dir() and (not path.is_file() or path.parent in _OPEN_FILES)


def require_writable(folder: Path, variable: str = "") -> None:
    """Raise DataError, with the environment variable that moves it, if a folder cannot be written or made."""
    folder = Path(folder)
    nearest = next((path for path in (folder, *folder.absolute().parents) if path.exists()), folder)
    try:
        # permissions do not tell for root, on read-only and on full disks
        with tempfile.TemporaryFile(dir=nearest) as file:
            file.write(_BLOCK)
            file.flush()
        return
    except NotADirectoryError:
        problem = "is not a folder"
    except OSError as error:
        problem = f"cannot be written ({error.strerror})"
    where = "" if nearest == folder else f", so {folder} cannot be made"
    remedy = f"Set {variable} to" if variable else "Choose"
    raise DataError(
        f"{problem}{where}", place=Place(nearest), remedy=f"{remedy} a folder that can be written"
    )


def discard(path: Path) -> None:
    """Delete a file, a link, or a folder with everything in it, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        with suppress(NotADirectoryError):  # a file has the place of a folder above
            path.unlink(missing_ok=True)


def sweep(folder: Path, *, deep: bool = False) -> None:
    """Delete temporary files of killed writers in ``folder``, or ``deep`` below it; of other machines after a day."""
    for path in list(folder.rglob(".writing-*") if deep else folder.glob(".writing-*")):
        with suppress(OSError):  # another process deletes it too
            if _is_left_over(path):
                discard(path)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder alone, without what killed writers left, while the block runs; MismatchError if it is held."""
    import filelock  # slow to import

    folder.mkdir(parents=True, exist_ok=True)
    try:
        with filelock.FileLock(folder / ".lock", timeout=0):
            sweep(folder, deep=True)
            yield
    except filelock.Timeout:
        raise MismatchError(
            f"another process is working on {folder}; wait for it or use another name"
        ) from None


def _temporary(target: Path) -> Path:
    """A free name next to ``target`` that identifies the writing machine and process."""
    target.parent.mkdir(parents=True, exist_ok=True)
    name = f".writing-{_HOST}-{os.getpid()}-{secrets.token_hex(6)}{target.suffix}"
    return target.with_name(name)


def _is_left_over(path: Path) -> bool:
    match = _TEMPORARY.fullmatch(path.name)
    if match is None:
        return False
    if time.time() - path.lstat().st_mtime > _ABANDONED:
        return True
    if match[1] != _HOST or os.name != "posix":
        return False
    try:
        os.kill(int(match[2]), 0)
    except ProcessLookupError:
        return True
    return False


def _flush(path: Path) -> None:
    """Wait until a file's content, or a folder's entries, are on the disk."""
    if os.name == "posix":  # elsewhere folders cannot be opened
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_text(target: Path, text: str) -> None:
    """Write ``text`` as UTF-8, atomically, compressed if the suffix is ``.gz`` or ``.xz``."""
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
    """Read a whole file, unpacked; raises as :func:`open_bytes` does."""
    with open_bytes(path) as stream:
        return stream.read()


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading; ``.gz`` and ``.xz`` are unpacked. DataError if that fails within the block."""
    path = Path(path)
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
    try:
        stream = openers.get(path.suffix, open)(path, "rb")
    except FileNotFoundError:
        raise no_such_file(path) from None
    except (OSError, ValueError) as problem:  # a ValueError for a NUL in the name
        is_folder = isinstance(problem, IsADirectoryError)
        reason = "is a folder" if is_folder else f"cannot be opened ({getattr(problem, 'strerror', problem)})"
        raise DataError(reason, place=Place(path), expected="a readable file") from problem
    with stream:
        try:
            yield stream
        except (gzip.BadGzipFile, EOFError, lzma.LZMAError, zlib.error) as problem:
            expected = "a complete file, compressed as its suffix says"
            raise DataError(
                f"cannot be unpacked ({problem})", place=Place(path), expected=expected
            ) from problem


def no_such_file(path: Path) -> DataNotFoundError:
    """Make the error for a missing file, with the closest name in its folder."""
    names = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    matches = get_close_matches(path.name, sorted(names), n=1)
    hint = f"; did you mean {path.with_name(matches[0])}?" if matches else ""
    return DataNotFoundError(f"no such file: {path}{hint}")


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest(path: Path) -> str:
    """SHA-256 of a file; it is read again only if its inode, size or times have changed, or changed just now."""
    state = Path(path).stat()
    if time.time() - max(state.st_mtime, state.st_ctime) < _CLOCK_STEP:
        return sha256(path)
    times = (state.st_mtime_ns, state.st_ctime_ns)
    return _digest(Path(path), (state.st_dev, state.st_ino, state.st_size, *times))


@lru_cache(maxsize=4096)
def _digest(path: Path, _: tuple[int, ...]) -> str:
    return sha256(path)


def contents(files: Iterable[Path]) -> tuple[str, ...]:
    """Digest of each file, for :func:`gapstack.cache.by_content`; ``""`` for a missing file (the reader raises)."""
    return tuple(digest(file) if Path(file).is_file() else "" for file in files)


def tree_digest(folder: Path, leave_out: Collection[str] = ()) -> str:
    """Short hash of the names and contents of all files in a folder, except these suffixes; or of one file."""
    folder = Path(folder)
    if folder.is_file():
        return digest(folder)[:16]
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in leave_out)
    return fingerprint([(str(path.relative_to(folder)), digest(path)) for path in files])


def fingerprint(*parts: object) -> str:
    """Short stable hash (16 hexadecimal digits) of JSON-able parts, for cache keys and stored results."""
    blob = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(blob.encode("utf-8", "surrogatepass")).hexdigest()[:16]


CACHE = "GAPSTACK_CACHE"
"""Environment variable of the cache folder."""
_SCRATCH: ContextVar[Path | None] = ContextVar("scratch cache", default=None)


@contextmanager
def scratch_cache() -> Iterator[None]:
    """Use a temporary cache folder, in memory if possible, while the block runs; for texts that are seen once."""
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


def cache_root(*, scratch: bool = True) -> Path:
    """Folder of :func:`scratch_cache`, if ``scratch``, else ``GAPSTACK_CACHE``, else the user's cache."""
    folder = (_SCRATCH.get() if scratch else None) or os.environ.get(CACHE)
    return Path(folder).expanduser() if folder else Path(platformdirs.user_cache_dir("gapstack"))
