"""Kinds of damage to stored files, those of the campaign by short names, and what tests need around them."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from scripts.campaign.damage import apply

_KINDS = {
    "flip": "flipped bit near the end",
    "halve": "truncated",
    "empty": "emptied",
    "delete": "deleted",
    "folder": "a folder in its place",
    "garbage": "garbage",
    "append": "appended to",
    "unreadable": "unreadable",
}
DAMAGES = tuple(_KINDS)
"""What can be done to a file without another one."""


def apply_damage(path: Path, kind: str, rng: random.Random) -> None:
    """Damage one file in place; what there is nothing to flip or cut of, since it is empty, gets more bytes."""
    empty = not path.stat().st_size
    apply(path, "appended to" if empty and kind in ("flip", "halve") else _KINDS[kind], rng)


def files_below(folder: Path) -> list[Path]:
    """All files of a folder at any depth, sorted by name, relative to it."""
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def copied(folder: Path, to: Path) -> Path:
    """A copy of a folder that may be damaged, in place of what lay there."""
    shutil.rmtree(to, ignore_errors=True)
    return Path(shutil.copytree(folder, to))
