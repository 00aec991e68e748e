"""Progress of long work: bars on terminals and in notebooks, lines in the logs of commands, otherwise nothing.

Nested work has a bar below the outer one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from textwrap import fill
from threading import Event, Thread

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from gapstack.errors import printable

console = Console(stderr=True)
"""Where bars and notes go."""


def print_note(message: str, style: str | None = None) -> None:
    """Print a line to standard error, whatever it contains; a terminal breaks it between words, but no path."""
    if console.quiet:
        return
    text = printable(message)
    if console.is_terminal:
        text = fill(text, console.width, break_long_words=False, break_on_hyphens=False)
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)
    if _lines:
        _lines[0].heard()


def silence() -> None:
    """Show no bars and no notes in this process, a worker."""
    console.quiet = True
    # of the process that forked this one, whose threads draw them and may hold their locks
    _shown.clear()
    _lines.clear()


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
        return Text("" if speed is None else _rate(speed), style="progress.data.speed")


def _rate(speed: float) -> str:
    return f"{speed:,.{0 if speed >= 100 else 1}f}/s" if speed >= 1 else f"{60 * speed:.1f}/min"


@dataclass
class Stage:
    """Work of ``total`` units, begun at ``start`` seconds of the log's clock."""

    title: str
    total: float
    start: float
    done: float = 0
    note: str = ""

    def state(self, now: float) -> str:
        """Units done, rate, time left and note."""
        done = min(self.done, self.total)  # totals may be estimates
        text, seconds = f"{self.title}: {done:,.0f} of {self.total:,.0f}", now - self.start
        if self.done > 0 and seconds > 0:
            left = seconds * max(0, self.total - self.done) / self.done
            text += f", {_rate(self.done / seconds)}, {duration(left)} left"
        return f"{text} ({self.note})" if self.note else text


@dataclass
class LineLog:
    """Prints a line when a stage ends that took 5 seconds or more, and a line after 30 seconds without any."""

    clock: Callable[[], float] = time.monotonic
    stages: list[Stage] = field(default_factory=list)
    waits: bool = False
    """True while nothing may be going on, and only stages are reported."""

    def __post_init__(self) -> None:
        self._start = self._heard = self.clock()

    def heard(self) -> None:
        """Note that a line was printed now."""
        self._heard = self.clock()

    def due(self) -> float:
        """Return the seconds until the next line is due, 0 or less when it is."""
        return self._heard + _SILENCE - self.clock()

    def beat(self) -> None:
        """Print the state of all stages, the innermost last, if a line is due."""
        if self.due() <= 0:
            now = self.clock()
            states = "; ".join(stage.state(now) for stage in list(self.stages))
            if states or not self.waits:
                print_note(states or f"working for {duration(now - self._start)}")
            else:
                self.heard()

    def end(self, stage: Stage) -> None:
        """Remove a stage, and print how long it took."""
        self.stages.remove(stage)
        seconds = self.clock() - stage.start
        if seconds >= _LONG:
            print_note(f"{stage.title}: {stage.done:,.0f} in {duration(seconds)}")


_SILENCE, _LONG = 30.0, 5.0
_lines: list[LineLog] = []  # at most one


@contextmanager
def waiting() -> Iterator[None]:
    """Log no lines about work within the block, such as a server's, except for stages."""
    for log in _lines:
        log.waits = True
    try:
        yield
    finally:
        for log in _lines:
            log.waits = False


@contextmanager
def logged_lines(clock: Callable[[], float] = time.monotonic) -> Iterator[LineLog | None]:
    """Log the progress of a block line by line, unless it is shown as bars."""
    if console.is_terminal or console.is_jupyter or console.quiet or _lines:
        yield None
        return
    log, ended = LineLog(clock), Event()
    _lines.append(log)

    def follow() -> None:
        while not ended.wait(max(0.1, log.due())):
            log.beat()

    thread = Thread(target=follow, name="progress-lines", daemon=True)
    thread.start()
    try:
        yield log
    finally:
        ended.set()
        thread.join()
        _lines.clear()


class Ticker:
    """Handle of one running bar."""

    def __init__(self, bar: Progress | None = None, task: TaskID | None = None, stage: Stage | None = None):
        self._bar, self._task, self._stage = bar, task, stage

    def finish(self) -> None:
        """Move the bar to its end, where an estimated total was too large."""
        if self._bar is not None and self._task is not None:
            self._bar.update(
                self._task, completed=self._bar.tasks[self._bar.task_ids.index(self._task)].total
            )
        if self._stage is not None:
            self._stage.done = self._stage.total

    def advance(self, steps: float = 1, note: str | None = None) -> None:
        """Move the bar by ``steps`` units; ``note`` replaces the text at its end (a loss, say)."""
        if self._bar is not None and self._task is not None:
            fields = {} if note is None else {"note": printable(note)}
            self._bar.update(self._task, advance=steps, **fields)  # type: ignore[arg-type]
        if self._stage is not None:
            self._stage.done += steps
            self._stage.note = self._stage.note if note is None else printable(note)


@contextmanager
def progress(title: str, total: float) -> Iterator[Ticker]:
    """Show the progress of ``total`` units in a block: a bar on a terminal or in a notebook that has ipywidgets.

    In a command's log, see :class:`LineLog`.
    """
    title = printable(title)
    if total and _lines:
        log = _lines[0]
        stage = Stage(title, total, log.clock())
        log.stages.append(stage)
        try:
            yield Ticker(stage=stage)
        finally:
            log.end(stage)
        return
    in_notebook = console.is_jupyter and find_spec("ipywidgets") is not None
    if not total or console.quiet or not (console.is_terminal or in_notebook):
        yield Ticker()
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
        SpinnerColumn(),  # moves between two steps, which may take seconds
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
