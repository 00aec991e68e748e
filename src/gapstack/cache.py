"""Files of a cache, each named after the digest of its bytes: what is damaged is known by its name.

A damaged file is deleted with a line that says so, and whoever needs what it held computes it again. Files are never
changed, so their bytes are read for this once in a process, unless they are touched.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from gapstack.files import atomic_path, discard, sweep
from gapstack.progress import console

_DIGEST_BYTES = 16
_sound: dict[Path, tuple[int, int]] = {}
"""When files that were found sound were last changed, in nanoseconds, and their sizes."""


def put(folder: Path, blob: bytes, suffix: str, label: str = "") -> Path:
    """Store ``blob`` as ``label``, its digest and ``suffix``; give the path."""
    path = folder / f"{label}{_digest(blob)}{suffix}"
    with atomic_path(path) as temporary:
        temporary.write_bytes(blob)
    _sound[path] = _stamp(path)
    return path


def sound(folder: Path, suffix: str, label: str = "") -> list[Path]:
    """Files that :func:`put` stored and that are as it left them, sorted by name; damaged ones are deleted.

    Several processes may do so at once. What killed writers left in the folder is swept.
    """
    _sweep_once(folder)
    return [path for path in sorted(folder.glob(f"{label}*{suffix}")) if _is_sound(path, suffix, label)]


def _is_sound(path: Path, suffix: str, label: str) -> bool:
    if path.name.startswith("."):  # being written
        return False
    try:
        stamp = _stamp(path)
        if _sound.get(path) == stamp:
            return True
        if path.name == f"{label}{_digest(path.read_bytes())}{suffix}":
            _sound[path] = stamp
            return True
    except FileNotFoundError:  # another process has deleted it
        return False
    except OSError:  # a folder, a link to itself: nothing that was written here
        pass
    discard(path)
    warning = f"damaged cache file {path}: deleted, and what it held is computed again"
    console.print(warning, style="yellow", markup=False, highlight=False, soft_wrap=True)
    return False


def _stamp(path: Path) -> tuple[int, int]:
    state = path.stat()
    return state.st_mtime_ns, state.st_size


def _digest(blob: bytes) -> str:
    return hashlib.blake2b(blob, digest_size=_DIGEST_BYTES).hexdigest()


@cache
def _sweep_once(folder: Path) -> None:
    sweep(folder)
