"""The interface of all live resolvers: a package, a model's path, and texts in, clusters out."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gapstack.errors import DataError, DataNotFoundError
from gapstack.files import sha256
from gapstack.resolvers.output import Output

Pages = Sequence[str | None]
"""Addresses of the pages that texts are from, for a resolver that reads their titles; None where it must not."""
Predict = Callable[[Sequence[str], Pages], Sequence[Output | None]]
"""Maps texts to outputs, in order; None where the resolver failed."""


def files_digest(model: Path) -> str:
    """Hash of a file, or of all files of a folder with their names."""
    files = sorted(path for path in model.rglob("*") if path.is_file()) if model.is_dir() else [model]
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(model.parent)} {sha256(path)}\n".encode())
    return digest.hexdigest()


@dataclass(frozen=True)
class Adapter:
    """A library that can be run here.

    Attributes
    ----------
    name : str
        On the command line of ``gap resolve``.
    package : str
        Distribution whose version goes into the file.
    needs : str
        Which model it needs, and where that comes from.
    load : callable
        Takes the model's path; gives the :data:`Predict`. Raises DataNotFoundError if package or model are missing.
    default : callable, optional
        Gives the model's path where none is named.
    contaminated_by : callable, optional
        Takes the model's path; names the test sets that it has learned from, where that is known.
    identity : callable
        Takes the model's path; gives a hash of all that it is, by default of its files.
    """

    name: str
    package: str
    needs: str
    load: Callable[[Path], Predict]
    default: Callable[[], Path] | None = None
    contaminated_by: Callable[[Path], Sequence[str]] = lambda model: ()
    identity: Callable[[Path], str] = files_digest

    def version(self, model: Path) -> str:
        """Name package version, model and the first of its identity: another model is another resolver."""
        return f"{package_version(self.package)}+{model.name}-{self.identity(model)[:8]}"


def package_version(package: str) -> str:
    """Version of an installed distribution."""
    return importlib.metadata.version(package)


def library(module: str, extra: str) -> Any:
    """Import a module of an optional extra.

    Raises DataNotFoundError if it cannot be imported; says what to install.
    """
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise DataNotFoundError(
            f"{module.partition('.')[0]} cannot be imported ({problem}); run: pip install 'gapstack[{extra}]'"
        ) from problem


def required(model: Path, needs: str, *files: str) -> Path:
    """Give the model's folder if it is one and has ``files``.

    Raises DataNotFoundError with what is needed otherwise.
    """
    missing = [name for name in files if not (model / name).is_file()]
    if not model.is_dir() or missing:
        problem = f"has no {missing[0]}" if model.is_dir() else "is no folder"
        raise DataNotFoundError(f"{model} {problem}; expected {needs}")
    return model


def unusable(model: Path, needs: str, problem: Exception) -> DataError:
    """Error for a model that its library does not take."""
    reason = str(problem).strip().split("\n")[0] or type(problem).__name__
    return DataError(f"{model} cannot be loaded ({reason})", expected=needs)
