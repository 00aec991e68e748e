"""Rows as data frames and as files of tables."""

import pandas as pd
import pytest

from gapstack import Corpus, Label, read
from gapstack.data import write_gap
from gapstack.errors import DataError, DataNotFoundError

TEXT = "Kate told Mary that she should leave."


def same(one, other):
    return (one.fingerprint, one.label_fingerprint) == (other.fingerprint, other.label_fingerprint)


@pytest.mark.parametrize("labelled", [True, False])
def test_corpora_survive_data_frames(sample_train, labelled):
    rows = sample_train if labelled else sample_train.unlabelled()
    frame = rows.to_pandas()
    assert same(Corpus.from_pandas(frame), rows)
    assert same(Corpus.from_pandas(frame.set_index("id")), rows)
    assert list(Corpus([]).to_pandas().columns) == list(frame.columns)


WRITERS = {
    "rows.tsv": lambda rows, path: write_gap(path, rows),
    "rows.csv": lambda rows, path: rows.to_pandas().to_csv(path, index=False),
    "rows.csv.gz": lambda rows, path: rows.to_pandas().to_csv(path, index=False),
    "rows.jsonl": lambda rows, path: rows.to_pandas().to_json(path, orient="records", lines=True),
    "rows.parquet": lambda rows, path: rows.to_pandas().to_parquet(path),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("labelled", [True, False])
def test_rows_are_read_from_every_format(sample_train, tmp_path, name, labelled):
    rows = sample_train[:20] if labelled else sample_train[:20].unlabelled()
    WRITERS[name](rows, tmp_path / name)
    found = read(tmp_path / name)
    assert same(found, rows)
    assert found.name == "rows"


def test_four_columns_are_enough_and_gaps_spelling_is_known():
    frame = pd.DataFrame({"Text": [TEXT], "Pronoun": "she", "A": "Kate", "B": "Mary"}, index=["first"])
    (example,) = Corpus.from_pandas(frame)
    assert (example.id, example.b.start, example.url, example.label) == ("first", 10, None, None)
    (example,) = Corpus.from_pandas(frame.assign(**{"A-coref": False, "B-coref": "TRUE", "B-offset": 10}))
    assert example.label is Label.B


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"a_offset": 1}, "A-offset"),
        ({"b": "Eve"}, "Eve"),
        ({"pronoun": "told"}, "pronoun"),
        ({"label": "C"}, "label"),
        ({"a_coref": True, "b_coref": True}, "A-coref"),
        ({"text": None}, "Text"),
    ],
)
def test_a_row_that_is_no_example_is_named(changed, words):
    good = {"text": TEXT, "pronoun": "she", "a": "Kate", "b": "Mary"}
    with pytest.raises(DataError, match=words) as caught:
        Corpus.from_pandas(pd.DataFrame([dict.fromkeys(changed) | good, good | changed]), name="mine")
    assert (str(caught.value.place.file), caught.value.place.line) == ("mine", 2)


def test_bad_tables_are_refused(tmp_path):
    with pytest.raises(DataError, match="Pronoun"):
        Corpus.from_pandas(pd.DataFrame({"text": ["x"], "a": "x"}))
    with pytest.raises(DataNotFoundError, match=r"rows\.csv"):
        read(tmp_path / "rows.csv")
    for name in ("rows.csv", "rows.jsonl", "rows.parquet"):
        (tmp_path / name).write_text('{"a": "')
        with pytest.raises(DataError, match=name):
            read(tmp_path / name)
