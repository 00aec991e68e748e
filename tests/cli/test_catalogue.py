"""Commands that list what there is, mine rows, and convert clusters."""

import json

import pytest

from gapstack.cli.catalogue import member_record, stored_record
from gapstack.data import read_gap, sources
from gapstack.data.gap_data import sample
from gapstack.members import MEMBERS
from gapstack.runs.recipe import Recipe
from tests.commands import gap, refused


def test_members_are_listed_and_their_settings_with_range_default_and_published_value():
    assert "Webster et al. 2018" in gap("members")
    assert json.loads(gap("members", "--json"))["prior"]["needs"] == "nothing"
    printed = gap("members", "probert")
    assert "paper: Attree 2019" in printed
    assert "max_pieces = none\n    a whole number, at least 1, or none\n" in printed
    settings = json.loads(gap("members", "probert", "--json"))["settings"]
    assert settings["encoder"]["published"] == "bert-large-uncased"
    assert settings["seed"]["default"] == 0
    assert settings["augment"]["description"].startswith("Augmentations")


@pytest.mark.parametrize("name", [name for name in MEMBERS if not MEMBERS.entry(name).package])
def test_stored_settings_are_those_of_the_class(name):
    """python scripts/describe_members.py writes them again after a change."""
    assert stored_record(name) == json.loads(json.dumps(member_record(name)))


def test_a_recipe_is_listed_shown_and_exported_and_never_overwritten(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "quickstart" in gap("recipes")
    assert "quickstart" in [recipe["name"] for recipe in json.loads(gap("recipes", "--json"))]
    text = gap("recipes", "quickstart")
    assert "quickstart.toml" in gap("recipes", "quickstart", "--export", "quickstart.toml")
    assert (tmp_path / "quickstart.toml").read_text(encoding="utf-8") == text
    assert Recipe.load("quickstart.toml") == Recipe.load("quickstart")
    assert "exists" in refused("recipes", "quickstart", "--export", "quickstart.toml")


def test_data_sets_are_listed_with_licence_and_fetched():
    printed = gap("data", "status")
    assert "gap-test" in printed
    assert "Apache-2.0" in printed
    records = {record["name"]: record for record in json.loads(gap("data", "status", "--json"))}
    assert records["winogender"]["licence"] == "MIT"
    assert records["gap-test"]["fetchable"]
    (fetched,) = json.loads(gap("data", "fetch", "winogender", "--json"))
    assert fetched["path"] == str(sources.fetch(["winogender"])[0])


@pytest.fixture
def pages(tmp_path):
    """Texts of the sample, which ships with their parses, as pages."""
    path = tmp_path / "pages.jsonl"
    texts = [example.text for example in sample()["train"] if "\n" not in example.text]
    lines = [json.dumps({"id": f"{i}", "url": f"http://w/{i}", "text": text}) for i, text in enumerate(texts)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_pages_become_rows_and_a_table(pages, tmp_path):
    printed = gap("mine", pages, "-o", tmp_path / "mined.tsv")
    rows = read_gap(tmp_path / "mined.tsv")
    assert f"{len(rows)} rows of" in printed
    assert all(row.label is None and row.url for row in rows)
    genders = [row.gender for row in rows]
    assert len(set(genders)) == 2
    assert genders.count(genders[0]) == len(rows) / 2
    gap("mine", pages, "-o", tmp_path / "again.tsv")
    assert (tmp_path / "again.tsv").read_bytes() == (tmp_path / "mined.tsv").read_bytes()
    everything = json.loads(gap("mine", pages, "--all", "--json", "--output", tmp_path / "all.tsv"))
    assert len(read_gap(tmp_path / "all.tsv")) > len(rows)
    patterns = [row["name"] for row in everything["sections"][0]["rows"]]
    assert patterns == ["FinalPro", "MedialPro", "InitialPro"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("", "either files"),
        ("pages.jsonl --corpus gum", "either files"),
        ("pages.jsonl -o pages.jsonl", "both input and output"),
        ("none.txt", "no such file"),
        ("bad.jsonl", "bad.jsonl, line 1: text is 3"),
        ("dull.txt", "no row is left of 0 from 1 page;"),
    ],
)
def test_mining_errors(arguments, problem, pages, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.jsonl").write_text('{"text": 3}\n')
    (tmp_path / "dull.txt").write_text("Nobody is here.\n")
    assert problem in refused("mine", "-o", "out.tsv", *arguments.split())
    assert not (tmp_path / "out.tsv").exists()
