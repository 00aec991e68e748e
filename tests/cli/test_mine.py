"""gap mine as a user meets it."""

import json

import pytest

from gapstack.data import read_gap
from gapstack.data.sources import sample
from tests.cli.test_cli import gap, gap_fails


@pytest.fixture
def pages(tmp_path):
    """Texts of the sample, which ships with their parses, as pages."""
    path = tmp_path / "pages.jsonl"
    path.write_text(
        "".join(
            json.dumps({"id": example.id, "url": f"http://w/wiki/{i}", "text": example.text}) + "\n"
            for i, example in enumerate(sample()["train"])
            if "\n" not in example.text
        ),
        encoding="utf-8",
    )
    return path


def test_pages_become_rows_and_a_table(pages, tmp_path):
    printed = gap("mine", pages, "-o", tmp_path / "mined.tsv")
    rows = read_gap(tmp_path / "mined.tsv")
    assert f"{len(rows)} rows of" in printed
    assert all(row.label is None and row.url for row in rows)
    genders = [row.gender for row in rows]
    assert len(set(genders)) == 2
    assert genders.count(genders[0]) == len(rows) / 2
    everything = json.loads(gap("mine", pages, "--all", "--json", "--output", tmp_path / "all.tsv"))
    assert len(read_gap(tmp_path / "all.tsv")) > len(rows)
    assert [row["name"] for row in everything["sections"][0]["rows"]] == [
        "FinalPro",
        "MedialPro",
        "InitialPro",
    ]


def test_the_same_command_gives_the_same_bytes(pages, tmp_path):
    for name in ("one.tsv", "two.tsv"):
        gap("mine", pages, "-o", tmp_path / name, "--seed", 3)
    assert (tmp_path / "one.tsv").read_bytes() == (tmp_path / "two.tsv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "there is nothing to read"),
        (["{pages}", "--corpus", "gum"], "there are files and a corpus"),
        (["{pages}", "-o", "{pages}"], "is to be read and written"),
        (["{none}"], "there is no file"),
        (["{bad}"], "bad.jsonl, line 1: text is 3"),
        (["{dull}"], "no row is left of 0 from 1 pages"),
    ],
)
def test_what_cannot_be_mined_is_one_line(arguments, problem, pages, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"text": 3}\n')
    (tmp_path / "dull.txt").write_text("Nobody is here.\n")
    places = {
        "pages": pages,
        "none": tmp_path / "none.txt",
        "bad": tmp_path / "bad.jsonl",
        "dull": tmp_path / "dull.txt",
    }
    out = [] if "-o" in arguments else ["-o", tmp_path / "out.tsv"]
    done = gap_fails("mine", *(argument.format(**places) for argument in arguments), *out)
    (line,) = done.stderr.strip().splitlines()
    assert problem in line
    assert not (tmp_path / "out.tsv").exists()
