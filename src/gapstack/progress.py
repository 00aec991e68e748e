"""Progress of long work: a bar with rate and time left on a terminal, silence elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

console = Console(stderr=True)


class _Rate(ProgressColumn):
    """Units a second, as measured by rich over the last seconds."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.1f}/s", style="progress.data.speed")


class Ticker:
    """Handle of one running bar."""

    def __init__(self, bar: Progress | None, task: int | None):
        self._bar, self._task = bar, task

    def advance(self, steps: float = 1, note: str | None = None) -> None:
        """Move the bar by ``steps`` units; ``note`` replaces the text at its end (a loss, say)."""
        if self._bar is not None and self._task is not None:
            fields = {} if note is None else {"note": note}
            self._bar.update(self._task, advance=steps, **fields)  # type: ignore[arg-type]


@contextmanager
def progress(title: str, total: float) -> Iterator[Ticker]:
    """Show a bar titled ``title`` for ``total`` units while the block runs, if the output is a terminal."""
    if not console.is_terminal:
        yield Ticker(None, None)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        yield Ticker(bar, bar.add_task(title, total=total, note=""))
