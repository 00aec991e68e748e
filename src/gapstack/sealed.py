"""Stored results that show when they are damaged: a JSON record that carries digests of itself and of files beside it.

A folder of results has one record, written last. Whoever reads from the folder reads the record first, and thereby
checks every file that it needs. Nothing that was changed, cut off or lost after it was written is taken for a result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from gapstack.errors import DamageError, Place
from gapstack.files import discard, sha256, write_json

_FILES, _DIGEST = "files", "digest"


def seal(path: Path, values: Mapping[str, Any], *, beside: bool = False) -> None:
    """Write a record, atomically, whatever lay in its place.

    Parameters
    ----------
    path : Path
        Where the record goes.
    values : mapping
        JSON-able; the keys ``files`` and ``digest`` are the record's own.
    beside : bool
        Vouch for every file that lies in the record's folder now, at any depth.
    """
    if path.is_dir():
        discard(path)
    found = sorted(p for p in path.parent.rglob("*") if p.is_file() and p != path) if beside else []
    files = {p.relative_to(path.parent).as_posix(): sha256(p) for p in found}
    record = json.loads(json.dumps({**values, _FILES: files}))  # as it will be read: keys are strings
    record.pop(_DIGEST, None)  # of the record that these values were read from
    write_json(path, {**record, _DIGEST: _digest(record)})


def read_sealed(path: Path, check: Collection[str] | None = None, *, remedy: str = "") -> dict[str, Any]:
    """Read a record and check the files that it vouches for.

    Raises DamageError if the record or one of the files is missing, cannot be read, or is not what was written; it
    names the file.

    Parameters
    ----------
    path : Path
        The record.
    check : collection of str, optional
        Files to check, or folders of them, relative to the record's; by default all, none for ``()``.
    remedy : str
        What the error tells to do.
    """
    try:
        record = json.loads(path.read_bytes())
        stated = record.pop(_DIGEST)
        files, digest_now = record[_FILES], _digest(record)
    except OSError as problem:
        raise DamageError(_unreadable(problem), place=Place(path), remedy=remedy) from None
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
        raise DamageError(
            "damaged, or of an earlier version: this is no record with a digest",
            place=Place(path),
            remedy=remedy,
        ) from None
    if stated != digest_now:
        raise DamageError("changed since it was written", place=Place(path), remedy=remedy)
    for name, digest in files.items():
        if check is None or not {name, *map(str, PurePosixPath(name).parents)}.isdisjoint(check):
            file = path.parent / name
            try:
                wrong = "" if sha256(file) == digest else "changed since it was written"
            except OSError as problem:
                wrong = _unreadable(problem)
            if wrong:
                raise DamageError(wrong, place=Place(file), remedy=remedy)
    return {**record, _DIGEST: stated}


def _digest(record: Mapping[str, Any]) -> str:
    """SHA-256 of a record's content, whatever the order of its keys and the spaces between them."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _unreadable(problem: OSError) -> str:
    if isinstance(problem, FileNotFoundError | NotADirectoryError):
        return "missing"
    return (
        "a folder, not a file"
        if isinstance(problem, IsADirectoryError)
        else f"unreadable ({problem.strerror})"
    )
