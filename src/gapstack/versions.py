"""Versions of software, and the source of a class in a development checkout: recorded with every stored result."""

from __future__ import annotations

import inspect
import platform
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from gapstack.files import fingerprint

_PACKAGES = (
    *("gapstack", "torch", "transformers", "scikit-learn", "lightgbm"),
    *("spacy", "allennlp-light", "numpy", "pandas"),
)


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
