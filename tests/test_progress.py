"""Bars on a terminal, as many as there is work within work; lines in a log, none elsewhere."""

import io
import time

import pytest
from rich.console import Console

from gapstack import progress as module
from gapstack.progress import logged_lines, progress


@pytest.fixture
def screen(monkeypatch):
    """A terminal."""
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    monkeypatch.setattr(module, "console", console)
    return console


def work() -> None:
    with progress("outer", 2) as jobs:
        for fold in range(2):
            with progress("inner", 3) as steps:
                steps.advance(3, note="loss 0.5")
            jobs.advance(note=f"fold {fold}")


def test_work_within_work_shows_both_bars(screen):
    with pytest.raises(ZeroDivisionError), progress("broken", 2):
        _ = 1 / 0
    work()
    shown = screen.file.getvalue()
    assert all(text in shown for text in ("broken", "outer", "inner", "fold 1"))


def test_a_narrow_terminal_cuts_the_note_alone(monkeypatch):
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    monkeypatch.setattr(module, "console", console)
    with progress("computing features", 12_000) as bar:
        bar.advance(11_999, note="question_answering_of_a_large_encoder, fold 3")
    shown = console.file.getvalue()
    assert "computing features" in shown
    assert "11999/12000" in shown
    assert "question_answ" in shown


@pytest.mark.parametrize("change", [{"quiet": True}, {"force_terminal": False}])
def test_nothing_is_shown_where_nobody_looks(monkeypatch, change):
    console = Console(**{"file": io.StringIO(), "force_terminal": True, **change})
    monkeypatch.setattr(module, "console", console)
    work()
    assert console.file.getvalue() == ""


def test_a_finished_bar_is_at_its_end(screen):
    with progress("reading", 1000) as bar:
        bar.advance(1)
        bar.finish()
    assert "1000/1000" in screen.file.getvalue()


def test_a_terminal_breaks_notes_between_words_and_no_path(screen):
    screen.width = 20
    module.print_note("wrote the file /a/path/longer/than/the-line.csv in the end")
    assert screen.file.getvalue() == "wrote the file\n/a/path/longer/than/the-line.csv\nin the end\n"


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def written(monkeypatch):
    """Reads the lines that were written to a console that is not a terminal."""
    console = Console(file=io.StringIO(), width=100)
    monkeypatch.setattr(module, "console", console)
    return lambda: console.file.getvalue().splitlines()


def test_a_log_has_a_line_for_each_long_stage_and_after_every_silence(written):
    clock = Clock()
    with logged_lines(clock) as log:
        with progress("quick", 2) as ticker:
            clock.seconds += 1
            ticker.advance(2)
        assert written() == []
        with progress("fitting", 8) as ticker:
            longest, last = 0.0, clock.seconds
            for second in range(200):
                if second % 50 == 49:
                    ticker.advance(note=f"fold {second // 50}")
                clock.seconds += 1
                before = len(written())
                log.beat()
                if len(written()) > before:
                    longest, last = max(longest, clock.seconds - last), clock.seconds
    assert longest <= 30
    states, (end,) = written()[:-1], written()[-1:]
    assert states[0].startswith("fitting: 0 of 8")
    assert states[2] == "fitting: 1 of 8, 0.7/min, 10 minutes left (fold 0)"
    assert end == "fitting: 4 in 3 minutes"


def test_work_within_work_and_work_without_a_stage_are_not_silent(written):
    clock = Clock()
    with logged_lines(clock) as log:
        clock.seconds += 31
        log.beat()
        with progress("outer", 2), progress("inner", 3) as steps:
            clock.seconds += 29
            log.beat()
            steps.advance()
            clock.seconds += 1
            log.beat()
    alone, nested = written()[:2]
    assert "31 seconds" in alone
    assert "outer: 0 of 2" in nested
    assert "inner: 1 of 3" in nested


def test_a_server_that_waits_is_silent_and_its_work_is_not(written):
    clock = Clock()
    with logged_lines(clock) as log, module.waiting():
        clock.seconds += 31
        log.beat()
        with progress("work", 2):
            clock.seconds += 31
            log.beat()
    assert [line.split(":")[0] for line in written()[:1]] == ["work"]


def test_notes_count_as_lines(written):
    clock = Clock()
    with logged_lines(clock) as log:
        for _ in range(10):
            clock.seconds += 20
            module.print_note("still here")
            log.beat()
    assert written() == ["still here"] * 10


def test_the_log_beats_by_itself(written, monkeypatch):
    monkeypatch.setattr(module, "_SILENCE", 0.0)
    with logged_lines(), progress("long", 5):
        end = time.monotonic() + 20
        while not written() and time.monotonic() < end:
            time.sleep(0.05)
    assert written()[0].startswith("long: 0 of 5")


def test_bars_and_lines_exclude_each_other(screen):
    with logged_lines() as log:
        assert log is None
        work()
    assert "outer" in screen.file.getvalue()


def test_an_estimated_total_is_not_exceeded_and_the_end_is_all_of_it(written):
    clock = Clock()
    with logged_lines(clock) as log, progress("reading", 4) as ticker:
        ticker.advance(6)
        clock.seconds += 31
        log.beat()
        ticker.finish()
    state, end = written()
    assert state.startswith("reading: 4 of 4")
    assert end.startswith("reading: 4 in")
