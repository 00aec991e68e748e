"""Formats of word vectors: what is written comes back, and what is broken is named."""

import gzip
import lzma
import pickle
import struct

import numpy as np
import pytest

from gapstack.encoding.word_vectors import read_vectors
from gapstack.errors import DataError

WORDS = ("the", "né", "New_York", "1")
MATRIX = np.array([[0.25, -1e-7, 3], [1, 2, 3], [0.1, 0.2, 0.3], [10, 13, 32]], dtype=np.float32)


def text(header):
    lines = [f"{w} {' '.join(map(repr, row.tolist()))}\n" for w, row in zip(WORDS, MATRIX, strict=True)]
    return (("4 3\n" if header else "") + "".join(lines)).encode()


def binary(end):
    records = (
        w.encode() + b" " + struct.pack("<3f", *row) + end for w, row in zip(WORDS, MATRIX, strict=True)
    )
    return b"4 3\n" + b"".join(records)


@pytest.mark.parametrize(
    ("name", "blob"),
    [
        ("word2vec.txt", text(True)),
        ("glove.txt", text(False)),
        ("word2vec.bin", binary(b"")),
        ("lines.bin", binary(b"\n")),  # as the original word2vec writes it
        ("glove.txt.gz", gzip.compress(text(False), mtime=0)),
        ("word2vec.bin.gz", gzip.compress(binary(b"\n"), mtime=0)),
        ("glove.txt.xz", lzma.compress(text(False))),
    ],
)
def test_every_format_gives_the_same_words_and_numbers(tmp_path, name, blob):
    (tmp_path / name).write_bytes(blob)
    found = read_vectors(tmp_path / name)
    assert (found.name, found.words) == (name, WORDS)
    np.testing.assert_array_equal(found.matrix, MATRIX)


def test_the_first_words_are_read_and_those_to_keep_wherever_they_stand(tmp_path):
    (tmp_path / "glove.txt").write_bytes(text(False))
    assert read_vectors(tmp_path / "glove.txt", limit=1, keep=["new_york", "1"]).words == ("the", "1")
    assert read_vectors(tmp_path / "glove.txt", limit=None).words == WORDS
    # words may have spaces, and the first of equal words counts
    (tmp_path / "glove.txt").write_bytes(b"a 3 4\n. . . 0 0\na 5 6\n")
    found = read_vectors(tmp_path / "glove.txt")
    assert found.words == ("a", ". . .")
    np.testing.assert_allclose(found.unit, [[0.6, 0.8], [0, 0]])


@pytest.mark.parametrize(
    ("blob", "message"),
    [
        (pickle.dumps({"gensim": 1}), "pickle"),
        (b"", "no vectors"),
        (b"a 1 2\nb 1\n", "line 2: 1 numbers"),
        (b"a 1 2\nb 1 x\n", "line 2: not all are numbers"),
        (b"a 1 2\nb 1 nan\n", "line 2: .*not finite"),
        (b"a 1 2\n\xff 1 2\n", "line 2: .*UTF-8"),
        (b"alone\n", "0 numbers"),
        (binary(b"")[:-3], "cut off"),
        (binary(b"") + b"more", "after the last word"),
        (text(True)[:-30], "4 words by its header|numbers after"),
        (text(True).replace(b"4 3", b"5 3"), "expected 5 words"),
        (b"4 999999999999\n" + text(False), "line 1: the header"),
        (b"4 " + b"7" * 5000 + b"\n" + text(False), "header"),
        (b"2 1\n" + b"\0" * 30_000, "cut off"),
        (b"1 1\na " + struct.pack("<f", float("nan")), "not finite"),
    ],
)
def test_a_broken_file_is_refused_and_says_where(tmp_path, blob, message):
    (tmp_path / "bad").write_bytes(blob)
    with pytest.raises(DataError, match=message):
        read_vectors(tmp_path / "bad")


@pytest.mark.parametrize("prefix", ["", "encoder:"])
def test_an_encoder_gives_its_whole_words_at_the_rows_of_their_ids(tiny_encoder, prefix):
    found = read_vectors(f"{prefix}{tiny_encoder.folder}")
    assert {"he", "she"} <= set(found.words)
    assert not any(word.startswith(("##", "[")) for word in found.words)
    weights = tiny_encoder.model.get_input_embeddings().weight.detach().numpy()
    for word in ("he", "she", "(", "z"):
        np.testing.assert_array_equal(
            found.matrix[found.row(word)], weights[tiny_encoder.tokenizer.convert_tokens_to_ids(word)]
        )
