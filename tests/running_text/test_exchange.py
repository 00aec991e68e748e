"""Annotations in the formats of other tools and as tables: what these tools read back is what was annotated."""

import csv
import json
import re
from xml.etree import ElementTree

import pandas as pd
import pytest

from gapstack.data import Span
from gapstack.errors import DataError
from gapstack.running_text.annotate import write_annotations
from gapstack.running_text.entities import AnnotatedPerson, Annotation

TEXT = 'Ann "A" Lee\nmet Bo & Al.\n\nShe saw Ann. É Bo left her.'
ANN, SHE, HER, BO, AL = Span(0, 11), Span(26, 29), Span(49, 52), Span(16, 18), Span(21, 23)
PEOPLE = (
    AnnotatedPerson('Ann "A" Lee', (ANN, Span(34, 37)), (SHE, HER)),
    AnnotatedPerson("Bo", (BO, Span(41, 43)), ()),
    AnnotatedPerson("Al", (AL,), ()),
)
LINKS = {(SHE, ANN): 0.9, (SHE, BO): 0.05, (HER, ANN): 0.7}
ANNOTATION = Annotation("a b", TEXT, PEOPLE, LINKS, {SHE: 0.96, HER: 0.8}, {SHE: ANN, HER: ANN})


@pytest.fixture
def written(tmp_path):
    def write(name: str) -> str:
        write_annotations([ANNOTATION], tmp_path / name)
        return (tmp_path / name).read_text(encoding="utf-8")

    return write


def rows(text: str, delimiter: str = ",") -> list[dict[str, str]]:
    quoting = csv.QUOTE_MINIMAL if delimiter == "," else csv.QUOTE_NONE
    return list(csv.DictReader(text.splitlines(), delimiter=delimiter, quoting=quoting))


def test_the_annotation_of_these_tests_has_the_words_it_means():
    assert [TEXT[slice(*span)] for span in (ANN, SHE, HER, BO, AL)] == [
        'Ann "A" Lee',
        "She",
        "her",
        "Bo",
        "Al",
    ]


def test_one_row_per_pronoun(written, tmp_path):
    she, her = rows(written("out.csv"))
    assert (she["start"], she["end"], she["pronoun"], she["name"]) == ("26", "29", "She", 'Ann "A" Lee')
    assert [row["probability"] for row in (she, her)] == ["0.9", "0.7"]
    write_annotations([ANNOTATION], tmp_path / "out.parquet")
    frame = pd.read_parquet(tmp_path / "out.parquet")
    assert frame["probability"].tolist() == [0.9, 0.7]
    assert frame["person"].tolist() == [1, 1]


def test_one_row_per_person(written):
    ann, bo, al = rows(written("out.people.csv"))
    assert (ann["mentions"], ann["names"], ann["pronouns"]) == ("4", "2", "2")
    assert ann["written"] == 'Ann "A" Lee 1; Ann 1'
    assert [bo["first_start"], al["first_start"]] == ["16", "21"]


def test_people_who_occur_together(written):
    together = {(row["name"], row["other_name"]): row["paragraphs"] for row in rows(written("out.pairs.csv"))}
    assert together == {('Ann "A" Lee', "Bo"): "2", ('Ann "A" Lee', "Al"): "1", ("Bo", "Al"): "1"}
    graph = ElementTree.fromstring(written("out.graphml"))
    space = "{http://graphml.graphdrawing.org/xmlns}"
    assert len(graph.findall(f"{space}graph/{space}node")) == 3
    assert len(graph.findall(f"{space}graph/{space}edge")) == 3


def test_brat_has_the_text_beside_the_offsets(written, tmp_path):
    lines = [line.split("\t") for line in written("out.ann").splitlines()]
    text = (tmp_path / "out.txt").read_text(encoding="utf-8")
    assert text == TEXT
    for name, place, *words in lines:
        if name[0] == "T":
            ranges = [tuple(map(int, one.split())) for one in place.removeprefix("Person ").split(";")]
            assert " ".join(text[start:end] for start, end in ranges) == words[0]
    assert sum(name[0] == "R" for name, *_ in lines) == 4
    (tmp_path / "out.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(DataError, match="another text"):
        written("out.ann")


def test_entities_of_conllu(written):
    cells = [line.split("\t") for line in written("out.conllu").splitlines() if line and line[0] != "#"]
    assert {len(row) for row in cells} == {10}
    opened = re.findall(r"\(e(\d+)-person-1-", " ".join(row[-1] for row in cells))
    assert sorted(opened) == ["1"] * 4 + ["2"] * 2
    assert sum(row[-1].count(")") for row in cells) == 6
    assert cells[0][1] == "Ann"


def test_regions_and_relations_of_label_studio(written, tmp_path):
    (task,) = json.loads(written("out.labelstudio.json"))
    result = task["predictions"][0]["result"]
    regions = [one["value"] for one in result if one["type"] == "labels"]
    assert all(task["data"]["text"][one["start"] : one["end"]] == one["text"] for one in regions)
    assert sum(one["labels"] == ["Pronoun"] for one in regions) == 2
    assert sum(one["type"] == "relation" for one in result) == 2
    write_annotations([ANNOTATION, ANNOTATION], tmp_path / "two.labelstudio.json")
    assert len(json.loads((tmp_path / "two.labelstudio.json").read_text(encoding="utf-8"))) == 2


def test_files_of_booknlp_agree(written):
    tokens = rows(written("out.tokens"), "\t")
    blob = TEXT.encode()
    assert all(
        blob[int(one["byte_onset"]) : int(one["byte_offset"])].decode() == one["word"] for one in tokens
    )
    assert {one["paragraph_ID"] for one in tokens} == {"0", "1"}
    for one in rows(written("out.entities"), "\t"):
        words = [token["word"] for token in tokens[int(one["start_token"]) : int(one["end_token"]) + 1]]
        assert "".join(words) == one["text"].replace(" ", "")
    first, *_ = json.loads(written("out.book"))["characters"]
    assert (first["count"], first["g"]["argmax"]) == (4, "she/her")


def test_nouns_of_a_named_person_are_no_names(tmp_path):
    text = "Ann Lee met Bo. The nurse knew Bo's mother. He left."
    nurse, mother = (
        Span(text.index(words), text.index(words) + len(words)) for words in ("The nurse", "Bo's mother")
    )
    he = Span(text.index("He"), text.index("He") + 2)
    people = (AnnotatedPerson("Ann Lee", (Span(0, 7), nurse, mother), (he,)),)
    write_annotations([Annotation("a", text, people, {}, {}, {})], tmp_path / "a.entities")
    found = rows((tmp_path / "a.entities").read_text(encoding="utf-8"), "\t")
    assert [one["prop"] for one in found] == ["PROP", "NOM", "NOM", "PRON"]
    write_annotations([Annotation("a", text, people, {}, {}, {})], tmp_path / "a.book")
    (one,) = json.loads((tmp_path / "a.book").read_text(encoding="utf-8"))["characters"]
    assert [len(one["mentions"][kind]) for kind in ("proper", "common", "pronoun")] == [1, 2, 1]


def test_a_format_of_one_document_refuses_a_second(tmp_path):
    with pytest.raises(DataError, match="one document"):
        write_annotations([ANNOTATION, ANNOTATION], tmp_path / "out.book")
    assert not (tmp_path / "out.book").exists()
