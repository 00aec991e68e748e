"""Readers of user files return a result or raise a GapstackError, whatever the bytes."""

import gzip
import json
import lzma
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from gapstack.data import gap_data
from gapstack.data.clusters import read_clusters, text_sha256
from gapstack.data.gap_files import read_gap, read_scorer_tsv, read_submission
from gapstack.data.labels import read_corrections
from gapstack.data.page_files import read_pages
from gapstack.encoding.word_vectors import read_vectors
from gapstack.errors import GapstackError
from gapstack.evaluation import score_file
from gapstack.resolvers.align import read_resolver
from gapstack.runs.recipe import Recipe
from tests.resolvers.test_formats import ROWS, TEXT, WRITTEN

GAP = b"\n".join((gap_data.SAMPLE_FOLDER / "gap-sample-train.tsv").read_bytes().split(b"\n")[:4]) + b"\n"
IDS = [line.split(b"\t")[0] for line in GAP.split(b"\n")[1:-1]]
SCORER = b"".join(name + b"\tTRUE\tFALSE\n" for name in IDS)
SUBMISSION = b"ID,A,B,NEITHER\n" + b"".join(name + b",0.7,0.2,0.1\n" for name in IDS)
GLOVE = b"the 0.1 0.2 -0.3\nshe 1 2 3e-1\nhe 0.5 0.25 0.125\n"
CLUSTERS = {
    "id": "row-1",
    "resolver": "r",
    "version": "1",
    "text_sha256": text_sha256(TEXT),
    "clusters": [[[0, 7], [19, 22]], [[13, 17]]],
    "mention_scores": [[0, 7, 0.5]],
    "link_scores": [[19, 22, 0, 7, 3.5]],
}
RECIPE = b"""name = "small"
title = "A small recipe"
labels = "official"
folds = 3
train = ["development"]
test = ["test"]
[[members]]
name = "surface"
label = "trees"
settings = { rounds = 20 }
[[stackers]]
name = "simplex"
"""


class Reader(NamedTuple):
    """A small valid file, its suffix, and the function that reads its path."""

    valid: bytes
    suffix: str
    read: Callable[[Path], object]


CORRECTIONS = b"ID\told_label\tnew_label\ntest-1\tA\tB\ntest-2\tB\tUNCLEAR\n"
READERS = {
    "gap": Reader(GAP, ".tsv", read_gap),
    "gap.gz": Reader(gzip.compress(GAP, mtime=0), ".tsv.gz", read_gap),
    "gap.xz": Reader(lzma.compress(GAP), ".tsv.xz", read_gap),
    "scorer": Reader(SCORER, ".tsv", read_scorer_tsv),
    "submission": Reader(SUBMISSION, ".csv", read_submission),
    "scored submission": Reader(
        SUBMISSION, ".csv", lambda path: score_file(path, gap_data.sample()["train"][:3])
    ),
    "corrections": Reader(CORRECTIONS, ".tsv", lambda path: read_corrections(path, ROWS)),
    "clusters": Reader(json.dumps(CLUSTERS).encode(), ".jsonl", lambda path: read_clusters(path, ROWS)),
    **{
        name: Reader(
            (record if isinstance(record, str) else json.dumps(record)).encode(),
            ".out",
            partial(read_resolver, corpus=ROWS, format=name),
        )
        for name, record in WRITTEN.items()
    },
    "glove": Reader(GLOVE, ".txt", read_vectors),
    "word2vec": Reader(b"1 2\nthe " + struct.pack("<2f", 0.1, 0.2) + b"\n", ".bin", read_vectors),
    "pages": Reader(
        b'{"id": "1", "text": "Ann met Eve. She left."}\n', ".jsonl", lambda path: list(read_pages(path))
    ),
    "recipe": Reader(RECIPE, ".toml", lambda path: Recipe.load(str(path))),
}
FRAGMENTS = (
    *(b"", b"\0", b"\x1b[31m", b"\r", b"\n", b"\t", b",", b'"', b"\\", b"\xff", b"\xed\xa0\x80"),
    *(b"\xef\xbb\xbf", b"0", b"-1", b"1e999", b"10000000", b"9" * 25, b"7" * 5000, b"NaN", b"Infinity"),
    *(
        b"null",
        b"[]",
        b"{}",
        b'"\\ud800"',
        b"[" * 3000,
        b'{"a":' * 2000,
        "\u2028".encode(),
        "\u202e".encode(),
    ),
)


@st.composite
def mutated(draw: st.DrawFn, valid: bytes) -> bytes:
    """The file with one to three stretches replaced by a fragment or random bytes."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(valid)))
        size = draw(st.integers(0, 20))
        fragment = draw(st.sampled_from(FRAGMENTS) | st.binary(max_size=8))
        valid = valid[:start] + fragment + valid[start + size :]
    return valid


@pytest.mark.parametrize("name", READERS)
def test_valid_files_are_read_and_mutated_ones_read_or_refused_in_one_printable_line(name, tmp_path):
    reader, path = READERS[name], tmp_path / f"file{READERS[name].suffix}"
    path.write_bytes(reader.valid)
    reader.read(path)

    @examples(max_examples=40)
    @given(mutated(reader.valid))
    def check(content: bytes) -> None:
        path.write_bytes(content)
        message = ""
        try:
            reader.read(path)
        except GapstackError as error:
            message = str(error)
        assert message.isprintable()

    check()
