"""Files that are either whole or absent, and where the cache lies."""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import platformdirs


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


def fingerprint(*parts: object) -> str:
    """Short stable hash (16 hexadecimal digits) of JSON-able parts, for cache keys and stored results."""
    blob = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(blob.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def cache_root() -> Path:
    """Folder for everything that can be computed again: ``GAPSTACK_CACHE``, else the user's cache folder."""
    chosen = os.environ.get("GAPSTACK_CACHE")
    return Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("gapstack"))
