"""Recorded output of resolvers in the data folder, found by name and aligned."""

import json
import lzma

import pytest

from gapstack.data.gap_files import write_gap
from gapstack.errors import DataNotFoundError
from gapstack.resolvers.align import read_resolvers


def test_recorded_output_is_aligned_and_read_again_when_it_changes(sample_train, tmp_path, monkeypatch):
    rows = sample_train[:3]
    file = tmp_path / "resolvers" / "neuralcoref_hf_validation.jsonl.xz"
    file.parent.mkdir()
    write_gap(tmp_path / "gap" / "gap-validation.tsv", rows)
    lines = []
    for row in rows:
        first, second = sorted([row.a, row.pronoun])
        mentions = [[*first, "PROP", 1.0, None, None, []], [*second, "PRON", -1.0, 0, 5.0, [5.0]]]
        record = {"id": row.id, "text": row.text, "mentions": mentions, "corefs": []}
        lines.append(json.dumps(record).encode() + b"\n")
    file.write_bytes(lzma.compress(b"".join(lines)))
    monkeypatch.setenv("GAP_DATA", str(tmp_path))
    (found,) = read_resolvers(["neuralcoref"])
    assert found.covers(rows).all()
    assert found.decide(rows).tolist() == [[True, False]] * 3
    file.write_bytes(lzma.compress(lines[0]))
    assert read_resolvers(["neuralcoref"])[0].covers(rows).tolist() == [True, False, False]
    file.unlink()
    with pytest.raises(DataNotFoundError, match="neuralcoref"):
        read_resolvers(["neuralcoref"])
