"""Records of stored results: JSON with checksums of itself and of the files next to it, and versions of software.

A folder of results has one record, written last and read first. Checksums only protect against accidents:
the author of a folder writes its checksums too.
"""

import inspect
import json
import platform
from collections.abc import Collection, Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from typing import Any

from gapstack.errors import DamageError, Place
from gapstack.files import discard, fingerprint, sha256, write_json

_PACKAGES = (
    *("gapstack", "torch", "transformers", "scikit-learn", "lightgbm"),
    *("spacy", "allennlp-light", "numpy", "pandas"),
)


def seal(path: Path, values: Mapping[str, Any], *, with_files: bool = False) -> None:
    """Write a record of JSON-able values atomically; ``with_files``: with checksums of all files in its folder."""
    if path.is_dir():
        discard(path)
    files = sorted(p for p in path.parent.rglob("*") if p.is_file() and p != path) if with_files else []
    checksums = {p.relative_to(path.parent).as_posix(): sha256(p) for p in files}
    record = json.loads(json.dumps({**values, "files": checksums}))  # as it will be read: keys are strings
    record.pop("digest", None)
    write_json(path, {**record, "digest": fingerprint(record)})


def read_sealed(path: Path, check: Collection[str] | None = None, *, remedy: str = "") -> dict[str, Any]:
    """Read a record and verify its files, or those that ``check`` names; DamageError with ``remedy``."""
    try:
        record = json.loads(_read(path, remedy, Path.read_bytes))
        stated = record.pop("digest")
        files = {PurePosixPath(name): str(checksum) for name, checksum in record["files"].items()}
        is_inside = not any(name.is_absolute() or ".." in name.parts for name in files)
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
        raise DamageError("not a valid record file", place=Place(path), remedy=remedy) from None
    if stated != fingerprint(record) or not is_inside:
        problem = "changed since it was written" if is_inside else "lists a file outside its folder"
        raise DamageError(problem, place=Place(path), remedy=remedy)
    for name, checksum in files.items():
        if check is None or not {str(name), *map(str, name.parents)}.isdisjoint(check):
            file = path.parent / name
            if _read(file, remedy, sha256) != checksum:
                raise DamageError("changed since it was written", place=Place(file), remedy=remedy)
    return {**record, "digest": stated}


def _read(path: Path, remedy: str, read: Any) -> Any:
    try:
        return read(path)
    except OSError as problem:
        missing = isinstance(problem, FileNotFoundError | NotADirectoryError)
        text = "missing" if missing else f"unreadable ({problem.strerror})"
        raise DamageError(text, place=Place(path), remedy=remedy) from None


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Versions of Python and of packages that can change a result."""
    result = {"python": platform.python_version(), "machine": platform.machine()}
    for package in _PACKAGES:
        try:
            result[package] = version(package)
        except PackageNotFoundError:  # run from a source tree that is not installed
            result[package] = "not installed"
    return result


def source_digest(kind: type, *packages: str) -> str:
    """Hash of the source files of a class and its bases in ``packages``; empty if installed: a version says enough."""
    prefixes = tuple(f"{package}." for package in packages)
    files = sorted(
        {inspect.getfile(base) for base in kind.__mro__ if f"{base.__module__}.".startswith(prefixes)}
    )
    checkout = [file for file in files if not {"site-packages", "dist-packages"} & set(Path(file).parts)]
    return fingerprint([Path(file).read_text(encoding="utf-8") for file in checkout]) if checkout else ""
