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


def test_a_terminal_breaks_notes_between_words_and_no_path(screen):
    screen.width = 20
    module.print_note("wrote the file /a/path/longer/than/the-line.csv in the end")
    assert screen.file.getvalue() == "wrote the file\n/a/path/longer/than/the-line.csv\nin the end\n"
