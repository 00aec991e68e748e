"""Options and output shared by commands."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from gapstack.cli.streams import is_stream
from gapstack.errors import printable
from gapstack.progress import console as stderr

if TYPE_CHECKING:
    from gapstack.data import Corpus
    from gapstack.data.cells import Quarantine
    from gapstack.display.render import Table

stdout = Console(highlight=False, soft_wrap=True)


class OnError(StrEnum):
    """Handling of bad input rows."""

    STOP = "stop"
    QUARANTINE = "quarantine"


class Executor(StrEnum):
    """Where the jobs of a run are executed."""

    LOCAL = "local"
    RAY = "ray"


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


class _OnTerminal(logging.Handler):
    """Shows the library's log like the commands' own notes."""

    def emit(self, record: logging.LogRecord) -> None:
        warning = "Warning: " if record.levelno >= logging.WARNING else ""
        log_note(warning + record.getMessage())


@contextmanager
def shown_log() -> Iterator[None]:
    """Show the log of the library, from INFO on, on standard error while the block runs."""
    logger, handler = logging.getLogger("gapstack"), _OnTerminal()
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False  # some libraries install a handler of their own at the root
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


def log_note(line: str) -> None:
    """Print a dim line on standard error, control characters escaped."""
    stderr.print(printable(line), style="dim", highlight=False, markup=False, soft_wrap=True)


def report_written(path: Path) -> None:
    """Report a written file on standard error, unless it is standard output."""
    if not is_stream(path):
        log_note(f"wrote {path}")


def print_line(line: str) -> None:
    """Print a line on standard output, control characters escaped."""
    print(printable(line))


def width() -> int:
    """Width of standard output in columns."""
    from gapstack.display.render import pipe_width

    return stdout.width if stdout.is_terminal else pipe_width()


def print_result(table: Table, as_json: bool) -> None:
    """Print a table for people, or its JSON."""
    if as_json:
        print(json.dumps(table.json(), indent=2))
    else:
        table.print(stdout)


def quarantine_for(on_error: OnError) -> Quarantine | None:
    """Collector of bad rows, or None if the first bad row is an error."""
    from gapstack.data.cells import Quarantine

    return Quarantine() if on_error is OnError.QUARANTINE else None


def report_quarantine(quarantine: Quarantine | None) -> None:
    """Warn about rows that were set aside."""
    if quarantine is not None and quarantine.count:
        files = ", ".join(map(str, quarantine.paths))
        log_note(f"Warning: {quarantine.count} bad rows were set aside, with their reasons, in {files}")


def labelled(path: Path, labels: str | None, data: str | None) -> Corpus:
    """Read a labelled corpus under a label set."""
    from gapstack.data.gap_files import read_gap
    from gapstack.data.sources import relabel

    return relabel(read_gap(path), labels or "official", Path(data) if data else None)


def spare_imports(model: str | None, parser: str | None = None) -> None:
    """Skip heavy optional imports, unless a parser is configured; see :func:`gapstack.text.parses.spare_imports`.

    Call this before anything heavy is imported.
    """
    from gapstack.runs.folder import find_run
    from gapstack.text import parses

    if model is not None:
        run = find_run(model)
        records = list((run[0].root if run else Path(model)).glob("*.json"))
        if not records or any('"parser": "' in record.read_text(encoding="utf-8") for record in records):
            return
    parses.spare_imports(parser)


def refuse_unknown_run(name: str) -> None:
    """Raise UnknownNameError if ``name`` is neither a path nor a run, before heavy imports."""
    from gapstack.runs.recipe import require_run

    if not Path(name).exists():
        require_run(name)
