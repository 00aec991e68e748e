"""Files of wino_bias and WinoMT become labelled rows; the sentences are invented."""

import json

import pytest

from gapstack.data import Label
from gapstack.data.gap_files import read_gap
from tests.commands import gap, refused

FIRST = "The pilot thanked the florist because she had found the keys ."
SECOND = "The florist called the pilot and told him a joke ."
LINES = {
    "wino_bias.jsonl": [
        json.dumps({"tokens": FIRST.split(), "coreference_clusters": ["3", "4", "6", "6"]}),
        json.dumps({"tokens": SECOND.split(), "coreference_clusters": ["3", "4", "7", "7"]}),
    ],
    "winomt.txt": [
        f"female\t4\t{FIRST.replace(' .', '.')}\tflorist",
        f"male\t4\t{SECOND.replace(' .', '.')}\tpilot",
    ],
}


@pytest.mark.parametrize("name", LINES)
def test_both_formats_become_the_same_rows(name, tmp_path):
    (tmp_path / name).write_text("\n".join([*LINES[name], ""]), encoding="utf-8")
    (tmp_path / "rows").mkdir()
    gap("audit-rows", tmp_path / "rows", "--input", tmp_path / name)
    rows = read_gap((tmp_path / "rows" / name).with_suffix(".tsv"))
    words = [(row.pronoun_text, row.a_text, row.b_text, row.label) for row in rows]
    assert words == [
        ("she", "The pilot", "the florist", Label.B),
        ("him", "The florist", "the pilot", Label.B),
    ]
    assert rows[0].text == FIRST.replace(" .", ".")


def test_parquet_of_hugging_face_becomes_the_same_rows(tmp_path):
    """Its columns are lists, among others that are not read."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    lines = LINES["wino_bias.jsonl"]
    (tmp_path / "lines.jsonl").write_text("\n".join(lines), encoding="utf-8")
    frame = pandas.DataFrame([{"document_id": "x", "word_number": [0], **json.loads(line)} for line in lines])
    frame.to_parquet(tmp_path / "parquet.parquet")
    (tmp_path / "rows").mkdir()
    gap(
        "audit-rows",
        tmp_path / "rows",
        "--input",
        tmp_path / "lines.jsonl",
        "--input",
        tmp_path / "parquet.parquet",
    )
    first, second = (read_gap(tmp_path / "rows" / f"{name}.tsv") for name in ("lines", "parquet"))
    assert [(row.text, row.label) for row in first] == [(row.text, row.label) for row in second]


@pytest.mark.parametrize("content", ["nothing of parquet", "other columns"])
def test_another_parquet_is_refused(content, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "bad.parquet"
    path.write_text(content, encoding="utf-8")
    if content == "other columns":
        pandas.DataFrame({"text": ["a"]}).to_parquet(path)
    assert "bad.parquet" in refused("audit-rows", tmp_path / "rows", "--input", path)


@pytest.mark.parametrize(
    "line", ["{}", "male\tx\tThe pilot slept.\tpilot", "male\t1\tThe pilot slept.\tcook"]
)
def test_a_line_of_another_form_is_refused(line, tmp_path):
    (tmp_path / "bad.txt").write_text(line, encoding="utf-8")
    assert "bad.txt, line 1" in refused("audit-rows", tmp_path / "rows", "--input", tmp_path / "bad.txt")
