"""Progress bars with rate and time left, on terminals and in notebooks; nested work has a bar below the outer one."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from textwrap import fill

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
from rich.table import Column
from rich.text import Text

from gapstack.errors import printable

console = Console(stderr=True)
"""Where bars and notes go; ``console.quiet = True`` silences a worker."""


def print_note(message: str, style: str | None = None) -> None:
    """Print a line to standard error, whatever it contains; a terminal breaks it between words, but no path."""
    text = printable(message)
    if console.is_terminal:
        text = fill(text, console.width, break_long_words=False, break_on_hyphens=False)
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def duration(seconds: float) -> str:
    """Return a duration in words: ``3 hours``."""
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"


_WIDE = 100  # columns of a terminal for long bars
_RATE_SECONDS = 86_400.0  # a rate is the mean of a bar's last thousand steps, since jobs take minutes
_shown: list[Progress] = []  # a console takes only one


class _Note(ProgressColumn):
    """The text at the end of a bar, the only column that is cut where a line is too short."""

    def render(self, task: Task) -> Text:
        return Text(task.fields["note"], no_wrap=True, overflow="ellipsis")


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        shown = ""
        if speed is not None:
            shown = f"{speed:,.{0 if speed >= 100 else 1}f}/s" if speed >= 1 else f"{60 * speed:.1f}/min"
        return Text(shown, style="progress.data.speed")


class Ticker:
    """Handle of one running bar."""

    def __init__(self, bar: Progress | None, task: int | None):
        self._bar, self._task = bar, task

    def advance(self, steps: float = 1, note: str | None = None) -> None:
        """Move the bar by ``steps`` units; ``note`` replaces the text at its end (a loss, say)."""
        if self._bar is not None and self._task is not None:
            fields = {} if note is None else {"note": printable(note)}
            self._bar.update(self._task, advance=steps, **fields)  # type: ignore[arg-type]


@contextmanager
def progress(title: str, total: float) -> Iterator[Ticker]:
    """Show a bar for ``total`` units while the block runs, on a terminal, or a notebook that has ipywidgets."""
    title = printable(title)
    in_notebook = console.is_jupyter and find_spec("ipywidgets") is not None
    if not total or console.quiet or not (console.is_terminal or in_notebook):
        yield Ticker(None, None)
        return
    if _shown:
        task = _shown[0].add_task(title, total=total, note="")
        try:
            yield Ticker(_shown[0], task)
        finally:
            _shown[0].remove_task(task)
        return
    whole = Column(no_wrap=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=12 if console.width < _WIDE else 40, table_column=whole),
        MofNCompleteColumn(table_column=whole),
        _Rate(table_column=whole),
        TimeRemainingColumn(compact=True, table_column=whole),
        _Note(),
    )
    with Progress(*columns, console=console, transient=True, speed_estimate_period=_RATE_SECONDS) as bar:
        _shown.append(bar)
        try:
            yield Ticker(bar, bar.add_task(title, total=total, note=""))
        finally:
            _shown.clear()
