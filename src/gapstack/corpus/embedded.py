"""Small data sets with free licences that come with the package, so that audits work on an installed wheel, offline.

They lie in ``embedded.tar.xz`` as in a data folder, byte for byte as upstream has them, with their licences.
``scripts/embed_data.py`` writes the archive.
"""

from __future__ import annotations

import hashlib
import tarfile
from functools import lru_cache
from pathlib import Path

from gapstack.files import atomic_folder, cache_root, digest

ARCHIVE = Path(__file__).parent / "embedded.tar.xz"
SUMS = "SHA256SUMS"
"""Digests of the other files, a line for each, as ``sha256sum`` writes and checks them."""


def folder() -> Path:
    """Data folder with the files, unpacked into the cache; a copy that was changed there is made anew."""
    return _unpacked(cache_root() / "embedded" / digest(ARCHIVE)[:16])


@lru_cache(maxsize=4)
def _unpacked(target: Path) -> Path:
    if not _is_intact(target):
        with atomic_folder(target) as temporary, tarfile.open(ARCHIVE) as archive:
            archive.extractall(temporary, filter="data")
    return target


def _is_intact(target: Path) -> bool:
    try:
        lines = (target / SUMS).read_text(encoding="utf-8").splitlines()
        return all(
            hashlib.sha256((target / name).read_bytes()).hexdigest() == expected
            for expected, name in (line.split("  ", 1) for line in lines)
        )
    except (OSError, ValueError):
        return False
