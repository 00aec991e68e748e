"""One table as people see it, at four widths, on a terminal and in a pipe.

After an intended change, rewrite the files with ``GOLDEN=write pytest tests/display/test_golden.py`` and look at
the difference.
"""

import os
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from gapstack.display.render import Column, Section, Table
from gapstack.evaluation import Difference, Interval

GOLDEN = Path(__file__).parent / "golden"
WIDTHS = (60, 80, 120, 160)
LONG = "frozen_spans_of_a_large_encoder:layers_minus_four_to_minus_one:averaged_over_gender_swaps"
COLUMNS = (
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
    COLUMNS,
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
