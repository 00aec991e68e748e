"""Kinds of damage to stored files, for tests and campaigns."""

import random
import shutil
from pathlib import Path

DAMAGES = ("flip", "halve", "empty", "delete", "folder", "garbage", "append", "unreadable")
"""What can be done to a file: a bit flipped, cut in half, emptied, deleted, replaced by a folder or by random bytes,
bytes appended, and a link to itself put in its place, which not even the superuser can read."""


def apply_damage(path: Path, kind: str, rng: random.Random) -> None:
    """Damage one file in place; where nothing can be flipped or cut, since it is empty, bytes are appended."""
    content = path.read_bytes()
    if kind in ("flip", "halve") and not content:
        kind = "append"
    if kind == "flip":
        at = rng.randrange(len(content))
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :])
    elif kind == "halve":
        path.write_bytes(content[: len(content) // 2])
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "delete":
        path.unlink()
    elif kind == "folder":
        path.unlink()
        path.mkdir()
        (path / "inside").write_bytes(content)
    elif kind == "garbage":
        path.write_bytes(rng.randbytes(max(16, min(len(content), 4096))))
    elif kind == "unreadable":
        path.unlink()
        path.symlink_to(path.name)
    elif kind == "append":
        path.write_bytes(content + rng.randbytes(16))
    else:
        raise ValueError(f"unknown damage {kind!r}; there are: {', '.join(DAMAGES)}")


def files_below(folder: Path) -> list[Path]:
    """All files of a folder at any depth, sorted by name, relative to it."""
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def copied(folder: Path, to: Path) -> Path:
    """A copy of a folder that may be damaged, in place of what lay there."""
    shutil.rmtree(to, ignore_errors=True)
    return Path(shutil.copytree(folder, to))
