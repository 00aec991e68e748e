"""``-`` as a file name: standard input is copied to a temporary file, standard output is written when a command ends.

Code that reads files twice or writes them atomically thus works with streams too.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_INPUT, _OUTPUT = "standard-input", "standard-output"
_folders: list[Path] = []
"""The folder of the running command's streams, innermost last."""


@contextmanager
def standard_streams() -> Iterator[None]:
    """Let ``-`` mean standard input and output while the block runs."""
    with tempfile.TemporaryDirectory(prefix="gapstack-") as folder:
        _folders.append(Path(folder))
        try:
            yield
        finally:
            output = _folders.pop() / _OUTPUT
            if output.exists():  # not where the command failed before it
                sys.stdout.flush()
                sys.stdout.buffer.write(output.read_bytes())


def input_file(name: str) -> Path:
    """Path of an input file, ``-`` for standard input."""
    if name != "-":
        return Path(name)
    path = _folders[-1] / _INPUT
    if not path.exists():
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def output_file(name: str) -> Path:
    """Path of an output file, ``-`` for standard output."""
    return Path(name) if name != "-" else _folders[-1] / _OUTPUT


def is_stream(path: Path) -> bool:
    """True if a path stands for standard input or output."""
    return path.parent in _folders
