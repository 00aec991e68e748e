"""Files of a cache, each named after the SHA-256 of its bytes, so that damage shows.

A damaged file is deleted with a warning, and what it held is computed again. Files are never changed, so each is read
for this once in a process (:func:`gapstack.files.digest`), unless it is touched.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from gapstack.files import atomic_path, digest, discard, sweep
from gapstack.progress import console

_DIGITS = 32


def store(folder: Path, blob: bytes, suffix: str, label: str = "") -> Path:
    """Write ``blob`` to a file named by ``label``, its digest and ``suffix``; return the path."""
    path = folder / f"{label}{hashlib.sha256(blob).hexdigest()[:_DIGITS]}{suffix}"
    with atomic_path(path) as temporary:
        temporary.write_bytes(blob)
    return path


def intact_files(folder: Path, suffix: str, label: str = "") -> list[Path]:
    """Files that :func:`store` wrote and that still have the bytes it wrote, sorted by name.

    Damaged ones are deleted, and so is what killed writers left. Several processes may call it at once.
    """
    _sweep_once(folder)
    return [path for path in sorted(folder.glob(f"{label}*{suffix}")) if _is_intact(path, suffix, label)]


def _is_intact(path: Path, suffix: str, label: str) -> bool:
    if path.name.startswith("."):  # being written
        return False
    try:
        if path.name == f"{label}{digest(path)[:_DIGITS]}{suffix}":
            return True
    except FileNotFoundError:  # another process has deleted it
        return False
    except OSError:  # a folder, a link to itself: nothing that was written here
        pass
    discard(path)
    warning = f"damaged cache file {path}: deleted, and what it held is computed again"
    console.print(warning, style="yellow", markup=False, highlight=False, soft_wrap=True)
    return False


@cache
def _sweep_once(folder: Path) -> None:
    sweep(folder)
