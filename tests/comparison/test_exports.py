"""JSON and CSV hold the same, unrounded, and JSON is strict JSON."""

import csv
import json
from dataclasses import replace

import pytest

from gapstack.comparison import measure, record, write_csv
from gapstack.comparison.exports import escape_formula


def test_json_is_strict_and_complete(made):
    found = json.loads(json.dumps(record(made), allow_nan=False))
    assert [member["name"] for member in found["members"]] == list(made.names)
    assert len(found["pairs"]) == 3 * 6
    won = [line for line in found["pairs"] if line["metric"] == "logloss" and line["second"] == "poor"]
    assert [line["winner"] for line in won] == ["good", "middling"]
    loss = [line for line in found["scores"] if line["member"] == "decided" and line["metric"] == "logloss"]
    key = {"label_set": "official", "member": "decided", "metric": "logloss"}
    assert loss == [key | dict.fromkeys(("value", "low", "high"))]


def test_csv_files_hold_what_the_json_holds(made, tmp_path):
    found = record(made)
    paths = write_csv(made, tmp_path / "tables")
    assert {path.stem for path in paths} == {
        "scores", "pairs", "slices", "balanced", "contribution", "flips", "likeness"
    }  # fmt: skip
    for path in paths:
        with path.open(newline="") as file:
            lines = list(csv.DictReader(file))
        expected = [
            {key: "" if value is None else str(value) for key, value in line.items()}
            for line in found[path.stem]
        ]
        assert lines == expected


def test_csv_cells_are_not_run_by_a_spreadsheet(made, tmp_path):
    entries = [replace(entry, name=f"=1+1{entry.name}") for entry in made.entries]
    write_csv(measure([made.rows], entries, replicates=50), tmp_path)
    with (tmp_path / "likeness.csv").open(newline="") as file:
        names = [line["first"] for line in csv.DictReader(file)]
    assert names
    assert all(name.startswith("'=1+1") for name in names)


@pytest.mark.parametrize("cell", ["=1+1", "+cmd", "-2", "@SUM(A1)", "\t=1", "\r=1"])
def test_only_text_is_escaped(cell):
    assert escape_formula(cell) == f"'{cell}"
    assert [escape_formula(cell) for cell in (-0.5, 3, None, "plain", "a=b")] == [
        -0.5,
        3,
        None,
        "plain",
        "a=b",
    ]
