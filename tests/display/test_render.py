import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from gapstack.display.render import Column, Section, Table

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
