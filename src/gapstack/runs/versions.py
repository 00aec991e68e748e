"""Versions of software that a run depends on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = (
    *("gapstack", "torch", "transformers", "scikit-learn", "lightgbm"),
    *("spacy", "allennlp-light", "numpy", "pandas"),
)


def versions() -> dict[str, str]:
    """Versions of Python and of packages that can change a result."""
    result = {"python": platform.python_version(), "machine": platform.machine()}
    for package in _PACKAGES:
        try:
            result[package] = version(package)
        except PackageNotFoundError:  # run from a source tree that is not installed
            result[package] = "not installed"
    return result
