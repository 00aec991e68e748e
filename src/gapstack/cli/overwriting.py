"""Refusal of outputs that would overwrite an input of the same command."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path

from gapstack.errors import DataError

_NEVER_INPUTS = frozenset({".conll", ".conllu", ".graphml", ".ann", ".tokens", ".entities", ".book"})
"""Formats that commands with folders as inputs do not read."""


def refuse_overwriting(outputs: Sequence[Path], inputs: Iterable[Path]) -> None:
    """Raise DataError if an output is an input, a link to one, or another output, or if files would replace inputs.

    A folder is refused as output if inputs lie in it, and so is an existing file of a folder that is an input, unless
    gapstack wrote it.
    """
    for first, second in combinations(outputs, 2):
        if first.absolute() == second.absolute() or _are_same(first, second):
            raise DataError(f"{first} is the place of two outputs", expected="a place for each output")
    for output in filter(Path.exists, outputs):
        for path in inputs:
            if problem := _overwrites(output, path):
                remedy = "Choose another place to write to"
                raise DataError(problem, expected="an output that is not an input", remedy=remedy)
        if output.is_file() and (name := _data_set(output)):
            raise DataError(
                f"{output} is a file of the data set {name}, and would be overwritten",
                remedy="Choose another place to write to",
            )


def _overwrites(output: Path, path: Path) -> str:
    """What speaks against writing ``output``, which exists; empty if nothing does."""
    if _are_same(output, path):
        return f"{output} is both input and output"
    if output.is_dir() and path.is_file() and _are_same(output, path.absolute().parent):
        return f"the folder {output}, in which files are written, has the input {path}"
    is_inside = output.is_file() and path.is_dir() and output.resolve().is_relative_to(path.resolve())
    if is_inside and not _may_be_written_again(output):
        return f"{output} is a file of the input {path}"
    return ""


def _may_be_written_again(output: Path) -> bool:
    """True for a result of an earlier command within an input's folder."""
    from gapstack.data.documents import is_result  # slow, and only needed if something is overwritten

    return output.suffix in _NEVER_INPUTS or is_result(output)


def _are_same(one: Path, other: Path) -> bool:
    """True for one file, by whatever names and links; devices are never the same."""
    return (one.is_file() or one.is_dir()) and other.exists() and one.samefile(other)


def _data_set(output: Path) -> str | None:
    from gapstack.data.sources import data_set_of  # slow, and only needed if something is overwritten

    return data_set_of(output)
