"""Clusters by name: recorded output, aligned, and resolvers that are run on texts that they have not seen."""

import json
import lzma
from dataclasses import replace
from pathlib import Path

import pytest

from gapstack.data import Corpus
from gapstack.data.gap_files import write_gap
from gapstack.errors import DataNotFoundError
from gapstack.resolvers import cluster_sources
from gapstack.resolvers.cluster_sources import read_resolvers, why_unavailable
from gapstack.resolvers.formats import Output
from gapstack.resolvers.live import Adapter


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
    (found,) = read_resolvers(["neuralcoref"], rows)
    assert found.covers(rows).all()
    assert found.decide(rows).tolist() == [[True, False]] * 3
    file.write_bytes(lzma.compress(lines[0]))
    assert read_resolvers(["neuralcoref"], rows)[0].covers(rows).tolist() == [True, False, False]
    file.unlink()
    with pytest.raises(DataNotFoundError, match="neuralcoref"):
        read_resolvers(["neuralcoref"], rows)


def test_a_live_resolver_reads_each_text_once(sample_train, monkeypatch):
    asked: list[str] = []

    def predict(texts, pages):
        asked.extend(texts)
        return [
            Output(None, text, [(row.pronoun, row.a)]) for text in texts for row in rows if row.text == text
        ]

    rows = sample_train[:3]
    adapter = Adapter(
        "gapstack", "gapstack", "nothing", lambda model: predict, default=lambda: Path("m"), identity=str
    )
    monkeypatch.setattr(cluster_sources, "ADAPTERS", {"gapstack": adapter})
    (found,) = read_resolvers(["gapstack"], rows[:2])
    assert found.decide(rows[:2]).tolist() == [[True, False]] * 2
    renamed = Corpus([replace(row, id=f"{row.id}~copy") for row in rows])
    (found,) = read_resolvers(["gapstack"], renamed)
    assert found.covers(renamed).all()
    assert sorted(asked) == sorted(row.text for row in rows)
    assert why_unavailable("gapstack", rows) is None
    monkeypatch.setattr(cluster_sources, "ADAPTERS", {"gapstack": replace(adapter, file="config.json")})
    assert "config.json" in why_unavailable("gapstack", rows)


def test_a_resolver_that_learned_from_the_rows_is_of_no_use(sample_train, monkeypatch):
    adapter = Adapter("gapstack", "gapstack", "nothing", lambda model: None, default=lambda: Path("m"))
    adapter = replace(adapter, contaminated_by=lambda model: ("gap-development",))
    monkeypatch.setattr(cluster_sources, "ADAPTERS", {"gapstack": adapter})
    own, gap = (Corpus([replace(sample_train[0], id=name)]) for name in ("mine", "development-1"))
    assert why_unavailable("gapstack", own) is None
    assert "gap-development" in why_unavailable("gapstack", gap)
