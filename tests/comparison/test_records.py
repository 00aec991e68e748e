"""JSON and CSV hold the same, unrounded, and JSON is strict JSON."""

import csv
import json
from dataclasses import replace

import pytest

from gapstack.comparison import record, write_csv
from gapstack.comparison.records import unrun


def test_json_is_strict_and_complete(made):
    found = json.loads(json.dumps(record(made), allow_nan=False))
    assert [member["name"] for member in found["members"]] == list(made.names)
    assert len(found["pairs"]) == 3 * 6
    won = [line for line in found["pairs"] if line["metric"] == "logloss" and line["second"] == "poor"]
    assert [line["winner"] for line in won] == ["good", "middling"]
    loss = [line for line in found["scores"] if line["member"] == "decided" and line["metric"] == "logloss"]
    assert loss == [
        {
            "label_set": "official",
            "member": "decided",
            "metric": "logloss",
            "value": None,
            "low": None,
            "high": None,
        }
    ]


def test_csv_files_say_what_the_json_says(made, tmp_path):
    found = record(made)
    paths = write_csv(made, tmp_path / "tables")
    assert {path.stem for path in paths} == {
        "scores", "pairs", "slices", "balanced", "contribution", "flips", "likeness", "label_errors"
    }  # fmt: skip
    for path in paths:
        with path.open(newline="") as file:
            lines = list(csv.DictReader(file))
        expected = found[path.stem]
        assert len(lines) == len(expected)
        for line, other in zip(lines, expected, strict=True):
            assert line == {key: "" if value is None else str(value) for key, value in other.items()}


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-2", "@SUM(A1)", "\t=1"])
def test_csv_cells_are_not_run_by_a_spreadsheet(made, tmp_path, text):
    rows = made.rows.map(lambda row: replace(row, id=text + row.id))
    write_csv(replace(made, rows=rows), tmp_path)
    with (tmp_path / "label_errors.csv").open(newline="") as file:
        ids = [line["id"] for line in csv.DictReader(file)]
    assert ids
    assert all(one.startswith(f"'{text}") for one in ids)


def test_numbers_stay_numbers():
    assert unrun("\r=1") == "'\r=1"
    assert [unrun(cell) for cell in (-0.5, 3, None, "plain", "a=b")] == [-0.5, 3, None, "plain", "a=b"]
