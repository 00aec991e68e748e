"""Resolvers' output among the data, found by name and converted once."""

import json
import lzma

import pytest

from gapstack.data.gap_files import write_gap
from gapstack.errors import DataNotFoundError
from gapstack.resolvers import recorded as module
from gapstack.resolvers.recorded import read_resolvers, recorded_files


@pytest.fixture
def data(sample_train, tmp_path, monkeypatch):
    """A data folder with a GAP split of a few rows and what neuralcoref's service said of them."""
    rows = sample_train[:3]
    folder = tmp_path / "data"
    write_gap(folder / "gap" / "gap-validation.tsv", rows)
    said = [
        {
            "id": row.id,
            "text": row.text,
            "mentions": [
                [first.start, first.end, "PROP", 1.0, None, None, []],
                [second.start, second.end, "PRON", -1.0, 0, 5.0, [5.0]],
            ],
            "corefs": [],
        }
        for row in rows
        for first, second in [sorted([row.a, row.pronoun])]
    ]
    (folder / "resolvers").mkdir()
    with lzma.open(folder / "resolvers" / "neuralcoref_hf_validation.jsonl.xz", "wt") as file:
        file.writelines(json.dumps(one) + "\n" for one in said)
    monkeypatch.setenv("GAP_DATA", str(folder))
    monkeypatch.setenv("GAPSTACK_CACHE", str(tmp_path / "cache"))
    return rows


def test_a_name_stands_for_its_files(data):
    (found,) = read_resolvers(["neuralcoref"])
    assert found.covers(data).all()
    assert found.decide(data).tolist() == [[True, False]] * 3


def test_it_is_converted_once(data, monkeypatch):
    first = recorded_files("neuralcoref")
    monkeypatch.setattr(module, "read_resolver", lambda *_: pytest.fail("converted again"))
    assert recorded_files("neuralcoref") == first


def test_other_output_is_converted_anew(data, tmp_path):
    (first,) = recorded_files("neuralcoref")
    file = tmp_path / "data" / "resolvers" / "neuralcoref_hf_validation.jsonl.xz"
    file.write_bytes(lzma.compress(lzma.decompress(file.read_bytes()).splitlines(keepends=True)[0]))
    (second,) = recorded_files("neuralcoref")
    assert first != second
    (found,) = read_resolvers(["neuralcoref"])
    assert found.covers(data).tolist() == [True, False, False]


def test_without_its_output_the_name_is_no_silent_nothing(data, tmp_path):
    (tmp_path / "data" / "resolvers" / "neuralcoref_hf_validation.jsonl.xz").unlink()
    with pytest.raises(DataNotFoundError, match="neuralcoref"):
        read_resolvers(["neuralcoref"])
