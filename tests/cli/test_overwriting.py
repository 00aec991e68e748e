"""No command overwrites an input, whatever name or link the output is given by."""

import os
from pathlib import Path

import pytest

from gapstack.cli.common import outputs_of
from tests.cli.test_cli import COMMANDS
from tests.commands import refused

TO_FILES = [
    "predict default --input IN --output OUT",
    "stack IN --output OUT",
    "stack OTHER --gold IN --output OUT",
    "compare IN --html OUT",
    "compare OTHER --gold IN --html OUT",
    "compare OTHER --trained-on IN --html OUT",
    "audit default --fresh IN --html OUT",
    "clusters-to-gap IN --gold OTHER --output OUT",
    "clusters-to-gap OTHER --gold IN --clusters OUT",
    "resolve gapstack OUT --input IN",
    "mine IN --output OUT",
    "annotate IN --output OUT",
    "rewrite IN --output OUT",
]
TO_FOLDERS = [
    "compare IN --csv OUT",
    "audit default --fresh IN --output OUT",
    "audit-embeddings IN --output OUT",
    "audit-sentences --vectors IN --output OUT",
    "reproduce webster2018 --red IN --output OUT",
    "audit-rows OUT --input IN",
]
WITHOUT_INPUTS = {"recipes"}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name in ("folder/in.csv", "other.csv"):
        (tmp_path / name).write_text("precious")
    return tmp_path


def filled(line: str, output: str) -> list[str]:
    names = {"IN": "folder/in.csv", "OTHER": "other.csv", "OUT": output}
    return [names.get(word, word) for word in line.split()]


def test_every_command_that_writes_is_here():
    writing = {name for name, command in COMMANDS.items() if outputs_of(command.callback)}
    assert writing == {line.split()[0] for line in TO_FILES + TO_FOLDERS} | WITHOUT_INPUTS


@pytest.mark.parametrize("kind", ["path", "absolute path", "link", "hard link"])
@pytest.mark.parametrize("line", TO_FILES)
def test_an_output_that_is_an_input_is_refused_before_any_work(line, kind, place):
    output = "folder/in.csv" if kind == "path" else str(place / "folder" / "in.csv")
    if kind.endswith("link"):
        output = "linked.csv"
        (os.symlink if kind == "link" else os.link)(place / "folder" / "in.csv", output)
    assert "is both input and output" in refused(*filled(line, output))
    assert Path("folder/in.csv").read_text() == "precious"


@pytest.mark.parametrize("line", TO_FOLDERS)
def test_a_folder_with_an_input_is_refused_as_output(line, place):
    assert "has the input" in refused(*filled(line, "folder"))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("audit folder --html OUT", "is a file of the input folder"),
        ("audit default --html OUT --data folder", "is a file of the input folder"),
        ("clusters-to-gap OTHER --gold OTHER --output OUT --clusters OUT", "place of two outputs"),
    ],
)
def test_files_of_input_folders_and_other_outputs_are_kept(line, problem, place):
    assert problem in refused(*filled(line, "folder/in.csv"))


def test_data_sets_that_are_found_are_kept(place, monkeypatch):
    monkeypatch.setenv("GAP_DATA", str(place))
    (place / "gap-test.tsv").write_text("precious")
    assert "data set gap-test" in refused("mine", "other.csv", "--output", "gap-test.tsv")
    assert (place / "gap-test.tsv").read_text() == "precious"
