"""What a run was made with."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = (
    "gapstack",
    "torch",
    "transformers",
    "scikit-learn",
    "lightgbm",
    "spacy",
    "allennlp-light",
    "numpy",
    "pandas",
)


def versions() -> dict[str, str]:
    """Versions of Python and of the packages whose version can change a number."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a source tree that is not installed
            found[package] = "not installed"
    return found
