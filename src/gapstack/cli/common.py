"""What commands share: options, and what is said on standard error."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gapstack.corpus import Corpus
from gapstack.corpus.cells import Quarantine
from gapstack.corpus.readers import read_gap
from gapstack.errors import printable
from gapstack.progress import console as stderr

stdout = Console(highlight=False, soft_wrap=True)


class OnError(StrEnum):
    """What to do with a bad input row."""

    STOP = "stop"
    QUARANTINE = "quarantine"


DataOption = Annotated[
    str | None,
    typer.Option(
        "--data", help="Folder with the GAP files, or 'sample' for the embedded sample. Default: search."
    ),
]
LabelsOption = Annotated[
    str | None, typer.Option("--labels", help="Label set: official, liu, kaggle, attree, majority.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
EncoderOption = Annotated[str | None, typer.Option("--encoder", help="Folder or hub name. Default: MiniLM.")]
ParserOption = Annotated[str | None, typer.Option("--parser", help="spaCy pipeline. Default: en_gapstack.")]
OnErrorOption = Annotated[
    OnError, typer.Option("--on-error", help="Stop at a bad row, or set bad rows aside.")
]


def say(line: str) -> None:
    """Print a line on standard error, as work goes on; what would steer a terminal is written out."""
    stderr.print(printable(line), style="dim", highlight=False, markup=False, soft_wrap=True)


def show(line: str) -> None:
    """Print a line on standard output; what would steer a terminal is written out."""
    print(printable(line))


def quarantine_for(on_error: OnError) -> Quarantine | None:
    """Where bad rows are set aside, if that was asked for."""
    return Quarantine() if on_error is OnError.QUARANTINE else None


def tell(quarantine: Quarantine | None) -> None:
    """Say how many rows were set aside, and where."""
    if quarantine is not None and quarantine.count:
        files = ", ".join(map(str, quarantine.paths))
        say(f"Warning: {quarantine.count} bad rows were set aside, with their reasons, in {files}")


def labelled(path: Path, labels: str | None, data: str | None) -> Corpus:
    """A labelled corpus from a file, under the label set asked for."""
    from gapstack.corpus.sources import relabel

    return relabel(read_gap(path), labels or "official", Path(data) if data else None)


def refuse_unknown_run(name: str) -> None:
    """Refuse what is neither a path nor a run, with the closest match, before anything heavy is imported."""
    from gapstack.runs.recipe import require_run

    if not Path(name).exists():
        require_run(name)
