"""Static word vectors: a space of them, and the files they are read from.

Reads word2vec's text and binary formats, GloVe's text format, and an encoder's input embeddings. Pickles, as gensim's
``KeyedVectors.save`` writes them, can run any code and are refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import IO, Annotated

import numpy as np
from scipy.sparse import csr_matrix

from gapstack.data.cells import whole_number
from gapstack.data.sources import find
from gapstack.encoding.encoders import Encoder, load_encoder
from gapstack.errors import DataError, DataNotFoundError, Place
from gapstack.files import open_bytes, tree_digest, write_text
from gapstack.settings import Reads
from gapstack.types import Matrix

ENCODER = "encoder"
"""Name of the embedded encoder's input embeddings; ``encoder:NAME`` for those of another."""
_MAX_DIMENSIONS = 65_536
_WORD_STARTS = ("Ġ", "▁")  # marks of pieces that begin a word, in byte-pair and in sentencepiece vocabularies
_WORD_CONTINUES = "##"  # mark of pieces that continue a word, in wordpiece vocabularies


@dataclass(frozen=True, eq=False)
class Vectors:
    """A space of word vectors: ``words``, most frequent first and distinct, and ``matrix`` (n, d), finite."""

    name: str
    words: tuple[str, ...]
    matrix: Matrix

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def row(self, word: str) -> int | None:
        """Row of a word, or else of its lower-case form; None if neither exists."""
        return self._rows.get(word, self._rows.get(word.lower()))

    @cached_property
    def unit(self) -> Matrix:
        """Vectors rescaled to length 1, (n, d) float64; zero vectors stay zero."""
        matrix = self.matrix.astype(np.float64)
        length = np.linalg.norm(matrix, axis=1, keepdims=True)
        np.divide(matrix, length, out=matrix, where=length > 0)
        return matrix

    def means(self, bags: Sequence[Sequence[str]]) -> Matrix:
        """Mean unit vector of each bag's known words, (n, d) float32; 0 without any."""
        rows = [[row for word in bag if (row := self.row(word)) is not None] for bag in bags]
        sizes = np.array([len(bag_rows) for bag_rows in rows], dtype=np.int64)
        starts = np.concatenate([[0], sizes.cumsum()])
        share = np.repeat(1 / np.maximum(sizes, 1), sizes)
        columns = np.array(list(chain.from_iterable(rows)), dtype=np.int64)
        picked = csr_matrix((share, columns, starts), shape=(len(bags), len(self)))
        return np.asarray(picked @ self.unit, dtype=np.float32)

    def changed(self, matrix: Matrix, name: str) -> Vectors:
        """The same words with other vectors."""
        return Vectors(name, self.words, matrix)


def read_vectors(
    source: str | Path, *, limit: int | None = 50_000, keep: Collection[str] = frozenset()
) -> Vectors:
    """Read word vectors from a file or a data set of ``vectors``, or take an encoder's input embeddings.

    ``source`` is a file; ``encoder`` for the embedded MiniLM; or ``encoder:NAME``, or an encoder's folder. The first
    ``limit`` words of a file are read (None for all), and those of ``keep`` wherever they are, also in lower case.
    """
    located = _locate(source)
    if isinstance(located, Encoder):
        return _input_embeddings(located)
    always = {word for entry in keep for word in (entry, entry.lower())}
    words: dict[str, Matrix] = {}
    for number, (blob, vector, place) in enumerate(_records(located)):
        try:
            word = blob.decode("utf-8")
        except UnicodeDecodeError:
            raise DataError(
                f"the word {blob!r} is not UTF-8", place=place, expected="words in UTF-8"
            ) from None
        if not np.isfinite(vector).all():
            raise DataError(
                f"the vector of {word!r} is not finite", place=place, expected="finite float32 numbers"
            )
        if limit is None or number < limit or word in always:
            words.setdefault(word, vector)  # the first of equal words is the more frequent one
    if not words:
        raise DataError(
            "holds no vectors", place=Place(located), expected="a word and its numbers on each line"
        )
    return Vectors(located.name, tuple(words), np.stack(list(words.values())))


def write_vectors(space: Vectors, path: Path) -> None:
    """Write a space in word2vec's text format, exact for float32."""
    lines = (
        f"{word} {' '.join(f'{value:.9g}' for value in vector)}\n"
        for word, vector in zip(space.words, space.matrix, strict=True)
    )
    write_text(path, f"{len(space)} {space.matrix.shape[1]}\n" + "".join(lines))


def vectors_key(source: str | Path) -> str:
    """Digest of a source; raises as :func:`read_vectors`."""
    located = _locate(source)
    return located.fingerprint if isinstance(located, Encoder) else tree_digest(located)


VectorsName = Annotated[str, Reads(lambda source: f"{Path(source).name} {vectors_key(source)}")]
"""A setting for :func:`read_vectors`."""


def _locate(source: str | Path) -> Path | Encoder:
    name, path = str(source), Path(source).expanduser()
    if not path.exists() and (name == ENCODER or name.startswith(f"{ENCODER}:")):
        return load_encoder(name.partition(":")[2] or None)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise DataError(
                "is a folder without config.json",
                place=Place(path),
                expected="a file of vectors or an encoder's folder",
                remedy="Save a gensim KeyedVectors as one file with save_word2vec_format",
            )
        return load_encoder(str(path))
    if path.is_file():
        return path
    folder = find("vectors")
    if folder and (folder / name).is_file():
        return folder / name
    raise DataNotFoundError(f"no vectors at {path.absolute()}; give a file, or encoder:NAME")


def _records(path: Path) -> Iterator[tuple[bytes, Matrix, Place]]:
    """Words and their vectors, in the format that the start of the file shows."""
    with open_bytes(path) as stream:
        first = stream.readline()
        if first.startswith(b"\x80"):
            raise DataError(
                "is a pickle, which can run any code",
                place=Place(path),
                expected="word2vec text or binary, or GloVe text",
                remedy="If you trust it: gensim.models.KeyedVectors.load(...).save_word2vec_format(...)",
            )
        header = first.split()
        if len(header) != 2 or not all(part.isdigit() for part in header):
            yield from _text(chain([first], stream), path, len(header) - 1, 1)
            return
        count, dimensions = (whole_number(part.decode("ascii")) for part in header)
        if count is None or dimensions is None or not 0 < dimensions <= _MAX_DIMENSIONS:
            raise DataError(
                f"the header claims {first[:40].decode(errors='replace').strip()!r} words and dimensions",
                place=Place(path, 1),
                expected=f"1 to {_MAX_DIMENSIONS:,} dimensions",
            )
        try:
            is_text = len(np.array(stream.readline().split()[-dimensions:], dtype=np.float64)) == dimensions
        except ValueError:
            is_text = False
        stream.seek(len(first))
        records = _text(stream, path, dimensions, 2) if is_text else _binary(stream, path, count, dimensions)
        number = 0
        for number, found in enumerate(records, 1):  # noqa: B007 (needed after the loop)
            yield found
        if number != count:
            raise DataError(
                f"has {number:,} words", place=Place(path), expected=f"{count:,} words by its header"
            )


def _text(
    lines: Iterable[bytes], path: Path, dimensions: int, first: int
) -> Iterator[tuple[bytes, Matrix, Place]]:
    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        # from the right, since some words of GloVe 840B contain spaces
        word, *numbers = line.rstrip().rsplit(b" ", dimensions)
        place = Place(path, number)
        if dimensions < 1 or len(numbers) != dimensions:
            expected = f"{max(dimensions, 1)} numbers"
            raise DataError(f"{len(numbers)} numbers after the word", place=place, expected=expected)
        try:
            with np.errstate(over="ignore"):  # numbers beyond float32 become infinite
                yield word, np.array(numbers, dtype=np.float32), place
        except ValueError as problem:
            expected = f"a word and {dimensions} numbers"
            raise DataError(f"not all are numbers ({problem})", place=place, expected=expected) from None


def _binary(
    stream: IO[bytes], path: Path, count: int, dimensions: int
) -> Iterator[tuple[bytes, Matrix, Place]]:
    expected = f"{count:,} words by its header, each with a space and {dimensions} float32"
    for number in range(1, count + 1):
        word = bytearray()
        while (letter := stream.read(1)) not in {b" ", b""}:
            word += letter
        blob = stream.read(4 * dimensions)
        if len(blob) < 4 * dimensions:
            raise DataError(f"word {number:,} is cut off", place=Place(path), expected=expected)
        # some writers put a line break after each vector
        yield bytes(word).lstrip(b"\n"), np.frombuffer(blob, dtype="<f4"), Place(path)
    if stream.read(2).strip(b"\n"):
        raise DataError("continues after the last word", place=Place(path), expected=expected)


def _input_embeddings(encoder: Encoder) -> Vectors:
    """Input embeddings of the pieces that are whole words, in the order of their ids."""
    tokenizer = encoder.tokenizer
    pieces = sorted(tokenizer.get_vocab().items(), key=lambda item: int(item[1]))
    special = set(tokenizer.all_special_tokens)
    mark = next((m for m in _WORD_STARTS if any(p.startswith(m) for p, _ in pieces)), "")
    rows: dict[str, int] = {}
    for piece, row in pieces:
        if piece not in special and piece.startswith(mark) and not piece.startswith(_WORD_CONTINUES):
            word = piece.removeprefix(mark)
            if word.strip():
                rows.setdefault(word, row)
    weights = encoder.model.get_input_embeddings().weight.detach().float().cpu().numpy()
    return Vectors(f"input embeddings of {encoder.name}", tuple(rows), weights[list(rows.values())])
