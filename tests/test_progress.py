"""Bars: none without a terminal, and on one as many as there is work within work."""

import io

import pytest
from rich.console import Console

from gapstack import progress as module
from gapstack.progress import progress


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
    work()
    work()
    shown = screen.file.getvalue()
    assert "outer" in shown
    assert "inner" in shown
    assert "fold 1" in shown


def test_a_bar_that_ends_by_an_error_leaves_room_for_the_next(screen):
    with pytest.raises(ValueError, match="broken"), progress("outer", 2), progress("inner", 2):
        raise ValueError("broken")
    work()


@pytest.mark.parametrize("change", [{"quiet": True}, {"force_terminal": False}])
def test_nothing_is_shown_where_nobody_looks(monkeypatch, change):
    console = Console(**{"file": io.StringIO(), "force_terminal": True, **change})
    monkeypatch.setattr(module, "console", console)
    work()
    assert console.file.getvalue() == ""
