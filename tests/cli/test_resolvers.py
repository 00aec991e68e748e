"""Clusters become rows for the official scorer, by words or by heads."""

import json

from gapstack.data import read_scorer_tsv, write_gap
from gapstack.resolvers.clusters import text_sha256
from tests.cli.test_cli import gap


def test_clusters_count_by_words_anywhere_and_by_heads_at_their_place(sample_test, tmp_path):
    rows = sample_test[:6]
    write_gap(tmp_path / "gold.tsv", rows)
    lines = []
    for i, row in enumerate(rows):
        # another mention of A's words, if there is one, or else A itself, with the pronoun
        again = row.text.find(row.a_text, row.a.end)
        start = again if i % 2 and again >= 0 else row.a.start
        mentions = [[start, start + len(row.a_text)], list(row.pronoun)]
        key = {"id": row.id, "resolver": "r", "version": "1", "text_sha256": text_sha256(row.text)}
        lines.append(json.dumps(key | {"clusters": [mentions]}) + "\n")
    (tmp_path / "clusters.jsonl").write_text("".join(lines), encoding="utf-8")
    found = {}
    for how in ("words", "heads"):
        command = ("clusters-to-gap", tmp_path / "clusters.jsonl", "--gold", tmp_path / "gold.tsv")
        printed = gap(*command, "--match", how, "--output", tmp_path / f"{how}.tsv")
        assert "F1 on all rows" in printed
        found[how] = read_scorer_tsv(tmp_path / f"{how}.tsv").decisions
    assert found["words"][:, 0].all()
    starts_at_a = [
        row.a.start == json.loads(line)["clusters"][0][0][0] for row, line in zip(rows, lines, strict=True)
    ]
    assert found["heads"][:, 0].tolist() == starts_at_a
    assert not found["heads"][:, 1].any()
