"""Tables as people see them: names, markup and widths; one of them as it was stored, at four widths.

After an intended change, rewrite the files with ``GOLDEN=write pytest tests/display/test_render.py`` and look at the
difference.
"""

import json
import os
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from gapstack.display.render import Column, Section, Table
from gapstack.evaluation import Difference, Interval

COLUMNS = (Column("loss", "loss", 3, "low"), Column("f1", "F1", 1, "high"), Column("n", "rows"))
NAMES = st.text(max_size=150)


def table(*names: str, aside: frozenset[str] = frozenset(), title: str = "") -> Table:
    rows = [(name, {"loss": 0.5 + i, "f1": 50.0 + i, "n": i}) for i, name in enumerate(names)]
    return Table(COLUMNS, [Section(title, rows, aside)], title="T", caption="C", name_title="member")


def on_terminal(made: Table, width: int = 100) -> str:
    console = Console(force_terminal=True, width=width, color_system="truecolor")
    with console.capture() as capture:
        made.print(console)
    return capture.get()


def test_plain_text_is_aligned_and_plain() -> None:
    assert table("prior", "stack", title="held-out").text() == (
        "T\n\n"
        "member     loss    F1  rows\n"
        "--------  -----  ----  ----\n"
        "held-out\n"
        "prior     0.500  50.0     0\n"
        "stack     1.500  51.0     1\n"
        "\nC\n"
    )


def test_a_pipe_gets_plain_text_and_a_terminal_colours(capsys) -> None:
    table("prior").print()
    assert capsys.readouterr().out == table("prior").text()
    assert "\x1b[" in on_terminal(table("prior"))


@settings(max_examples=30)
@given(st.lists(NAMES, min_size=1, max_size=4), NAMES)
def test_no_name_breaks_line_width_or_steers_the_terminal(names, title) -> None:
    made = table(*names, title=title)
    lines = made.text(80).split("\n")
    assert all(cell_len(line) <= 80 for line in lines)
    assert all(line.isprintable() for line in lines)
    assert len(lines) == 4 + bool(title) + len(names) + 3
    assert len(made.markdown().split("\n")) == (2 if title else 0) + 2 + 2 + len(names) + 3


@pytest.mark.parametrize("name", ["[bold]x[/bold]", "[/]", "[link=file:///]x", "model[1]"])
def test_rich_markup_in_names_is_shown_not_obeyed(name: str) -> None:
    assert name in on_terminal(table(name))


def test_best_is_bold_in_markdown_and_never_a_row_aside() -> None:
    text = table("floor", "one", "two", aside=frozenset({"floor"})).markdown()
    assert "| floor | 0.500 | 50.0 | 0 |" in text
    assert "| one | **1.500** | 51.0 | 1 |" in text
    assert "| two | 2.500 | **52.0** | 2 |" in text


def test_markdown_escapes_pipes_and_emphasis() -> None:
    assert r"| a\|b\*c\_d\<e\> |" in table("a|b*c_d<e>").markdown()


def test_json_is_unrounded_and_has_null_for_no_value() -> None:
    made = Table(COLUMNS, [Section("s", [("x", {"loss": 1 / 3, "f1": None})])])
    record = json.loads(json.dumps(made.json()))
    assert record["sections"] == [
        {"title": "s", "rows": [{"name": "x", "loss": 1 / 3, "f1": None, "n": None}]}
    ]
    assert " -" in made.text()


GOLDEN = Path(__file__).parent / "golden"
WIDTHS = (60, 80, 120, 160)
LONG = "frozen_spans_of_a_large_encoder:layers_minus_four_to_minus_one:averaged_over_gender_swaps"
MANY = (
    Column("logloss", "logloss", 3, "low"),
    Column("f1", "F1", 1, "high"),
    *(Column(f"{label}_{key}", key, 1, "high", label) for label in ("official", "majority") for key in "MF"),
    Column("gap", "F-M", 1),
    Column("seconds", "seconds", 1),
)


def cells(loss, f1, gap, seconds):
    numbers = {
        f"{label}_{key}": f1 + shift
        for label in ("official", "majority")
        for key, shift in (("M", 1), ("F", -1))
    }
    return {
        "logloss": Interval(loss, loss - 0.02, loss + 0.02),
        "f1": Interval(f1, f1 - 2, f1 + 2),
        **numbers,
        "gap": Difference(gap, gap - 1.5, gap + 1.5, 0.031),
        "seconds": seconds,
    }


TABLE = Table(
    MANY,
    [
        Section(
            "held out: gap-test, 2,000 rows of 2,000 pages, official labels corrected by the majority of three lists",
            [
                ("stack", cells(0.428, 84.5, -3.6, 1234.5)),
                (LONG, cells(0.461, 82.5, -1.6, 98765.4)),
                ("模型 [bold]\x1b[31m", cells(0.5, 80.0, 0.4, None)),
                ("always A", {"logloss": 18.7, "f1": 45.4}),
            ],
            frozenset({"always A"}),
        ),
        Section("out of fold", [("stack", cells(0.436, 84.0, -3.1, 1234.5))]),
    ],
    title="Families: every published system of the shared task and what the GAP paper's cues add to them, stacked",
    caption="Brackets hold 95% intervals, whole pages resampled 1,000 times; p is two-sided, of no difference.",
    name_title="member",
)


def shown(where, width):
    if where == "pipe":
        return TABLE.text(width)
    console = Console(
        file=StringIO(), force_terminal=True, width=width, color_system="standard", legacy_windows=False
    )
    TABLE.print(console)
    return console.file.getvalue()


@pytest.mark.parametrize("where", ["terminal", "pipe"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_table_looks_as_it_did(where, width):
    path = GOLDEN / f"{where}-{width}.txt"
    if os.environ.get("GOLDEN") == "write":
        path.write_text(shown(where, width), encoding="utf-8")
    assert shown(where, width) == path.read_text(encoding="utf-8")
