"""Stored results that show when they are damaged: a JSON record that carries digests of itself and of files beside it.

A folder of results has one record, written last and read first, which checks every file that the reader needs: nothing
that was changed, cut off or lost after it was written is taken for a result.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from gapstack.errors import DamageError, Place
from gapstack.files import discard, fingerprint, sha256, write_json

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
    vouched = sorted(p for p in path.parent.rglob("*") if p.is_file() and p != path) if beside else []
    files = {p.relative_to(path.parent).as_posix(): sha256(p) for p in vouched}
    record = json.loads(json.dumps({**values, _FILES: files}))  # as it will be read: keys are strings
    record.pop(_DIGEST, None)  # of the record that these values were read from
    write_json(path, {**record, _DIGEST: fingerprint(record)})


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
        For the error.
    """
    try:
        record = json.loads(path.read_bytes())
        stated = record.pop(_DIGEST)
        files, digest_now = record[_FILES], fingerprint(record)
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


def _unreadable(problem: OSError) -> str:
    if isinstance(problem, FileNotFoundError | NotADirectoryError):
        return "missing"
    folder = isinstance(problem, IsADirectoryError)
    return "a folder, not a file" if folder else f"unreadable ({problem.strerror})"
