"""Static word vectors: one space of them, and the files that they are read from.

Read are word2vec's text and binary formats, GloVe's text format (all three also as ``.gz`` or ``.xz``), and an
encoder's input embeddings. ``glove`` and ``gn_glove`` are trained on the texts at hand, once, and cached. What gensim's
``KeyedVectors.save`` writes is a pickle, which may run any code, and is refused; its ``save_word2vec_format`` writes
what is read here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import IO, TypeVar

import numpy as np
from scipy.sparse import csr_matrix

from gapstack.code import code_behind
from gapstack.corpus.cells import whole_number
from gapstack.corpus.word_lists import lists_key, read_lists
from gapstack.encoding.encoders import Encoder, load_encoder
from gapstack.errors import DataError, DataNotFoundError, Place
from gapstack.files import atomic_path, cache_root, fingerprint, open_bytes, tree_digest
from gapstack.types import Matrix

T = TypeVar("T")

ENCODER = "encoder"
"""Name of the embedded encoder's input embeddings; ``encoder:NAME`` for those of another."""
TRAINED = ("glove", "gn_glove")
"""Names of the spaces that are trained here, see :mod:`gapstack.vectors.glove`."""
_PICKLE = b"\x80"
_MOST_DIMENSIONS = 65_536  # more than any space has; a damaged header may claim anything
_LONGEST_LINE = 4 << 20  # bytes; of so many dimensions with all their digits
_LONGEST_WORD = 10_000  # bytes
_WORD_STARTS = ("Ġ", "▁")  # of byte-pair and of sentencepiece vocabularies
_WORD_GOES_ON = "##"  # of wordpiece vocabularies


@dataclass(frozen=True, eq=False)
class Vectors:
    """A space of word vectors.

    Attributes
    ----------
    name : str
        What to call it.
    words : tuple of str
        Most frequent first, as the files have them; none twice.
    matrix : (n, d) array
        A row for each word, finite.
    """

    name: str
    words: tuple[str, ...]
    matrix: Matrix

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.matrix) != len(self.words):
            raise DataError(f"{self.name}: {len(self.words)} words for vectors of shape {self.matrix.shape}")
        if len(self._rows) != len(self.words):
            raise DataError(f"{self.name}: a word occurs twice", expected="one vector for each word")
        if not np.isfinite(self.matrix).all():
            bad = self.words[int(np.flatnonzero(~np.isfinite(self.matrix).all(axis=1))[0])]
            raise DataError(f"{self.name}: the vector of {bad!r} is not finite")

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def row(self, word: str) -> int | None:
        """Row of a word, or else of its lower-case form (lists write Mary, many spaces mary); None without."""
        return self._rows.get(word, self._rows.get(word.lower()))

    @cached_property
    def unit(self) -> Matrix:
        """The vectors at length 1, (n, d) float64; a zero vector stays one."""
        matrix = self.matrix.astype(np.float64)
        length = np.linalg.norm(matrix, axis=1, keepdims=True)
        np.divide(matrix, length, out=matrix, where=length > 0)
        return matrix

    def means(self, bags: Sequence[Sequence[str]]) -> Matrix:
        """Mean vector at length 1 of each bag's words, (n, d) float32; words that are missing do not count.

        A bag of which no word is there has the vector 0.
        """
        rows = [[row for word in bag if (row := self.row(word)) is not None] for bag in bags]
        sizes = np.array([len(bag_rows) for bag_rows in rows], dtype=np.int64)
        starts = np.concatenate([[0], sizes.cumsum()])
        share = np.repeat(1 / np.maximum(sizes, 1), sizes)
        picked = csr_matrix(
            (share, np.array(list(chain.from_iterable(rows)), dtype=np.int64), starts),
            shape=(len(bags), len(self)),
        )
        return np.asarray(picked @ self.unit, dtype=np.float32)

    def changed(self, matrix: Matrix, name: str) -> Vectors:
        """The same words at other places."""
        return Vectors(name, self.words, matrix)


def read_vectors(
    source: str | Path, *, limit: int | None = 50_000, keep: Collection[str] = frozenset()
) -> Vectors:
    """Read a space from a file, or take an encoder's input embeddings.

    Raises DataError if the file is a pickle, or breaks its format; says where; DataNotFoundError if there is no such
    file or encoder.

    Parameters
    ----------
    source : str or Path
        A file; ``encoder`` for the embedded MiniLM; ``encoder:NAME``, or an encoder's folder; one of :data:`TRAINED`.
    limit : int, optional
        How many words are read, which are the most frequent ones since files begin with these; None for all.
    keep : collection of str
        Words that are read wherever they stand, also in lower case.
    """
    path = _home_of(source)
    if isinstance(path, Encoder):
        return _of_encoder(path)
    always = {word for entry in keep for word in (entry, entry.lower())}
    words: dict[str, Matrix] = {}
    dimensions: int | None = None
    for number, (word, vector) in enumerate(_records(path)):
        dimensions = dimensions or len(vector)
        if limit is not None and number >= limit and word not in always:
            continue
        words.setdefault(word, vector)  # of a word that is there twice the first, more frequent one counts
    if not words:
        raise DataError("holds no vectors", place=Place(path), expected="a word and its numbers on each line")
    return Vectors(path.name, tuple(words), np.stack(list(words.values())))


def vectors_key(source: str | Path) -> str:
    """Digest of a source's contents; raises as :func:`read_vectors`.

    Of a space that is trained here, the digest of what it is trained on, so that asking trains nothing.
    """
    if str(source) in TRAINED and not Path(source).exists():
        return _made_of()
    home = _home_of(source)
    return home.fingerprint if isinstance(home, Encoder) else tree_digest(home)


def _home_of(source: str | Path) -> Path | Encoder:
    """The file, or the encoder, that a source names."""
    name = str(source)
    path = Path(source).expanduser()
    if not path.exists() and (name == ENCODER or name.startswith(f"{ENCODER}:")):
        return load_encoder(name.partition(":")[2] or None)
    if not path.exists() and name in TRAINED:
        return _trained(name)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise DataError(
                "is a folder without config.json, so no encoder",
                place=Place(path),
                expected="a file of vectors or an encoder's folder",
                remedy="A gensim KeyedVectors writes one file with save_word2vec_format",
            )
        return load_encoder(str(path))
    if not path.is_file():
        raise DataNotFoundError(f"no vectors at {path.absolute()}; give a file, or encoder:NAME")
    return path


def _made_of() -> str:
    """Digest of what the spaces of :data:`TRAINED` are trained on, and how."""
    # here, since it imports torch, and every member that is read passes by this module
    from gapstack.vectors import glove

    return fingerprint(code_behind(glove.__name__), lists_key(), glove.texts())


@cache
def _trained(name: str) -> Path:
    """File of the space ``name`` of :data:`TRAINED`, trained if it is not in the cache."""
    from gapstack.vectors.glove import count_pairs, texts, train

    path = cache_root() / "vectors" / f"{name}-{_made_of()}.txt"
    if not path.is_file():
        lists, corpus = read_lists(), texts()
        words, pairs = count_pairs(corpus, lists.every_word)
        sides = (lists.masculine, lists.feminine) if name == "gn_glove" else ()
        rows = {word: row for row, word in enumerate(words)}
        genders = ([rows[word] for word in side if word in rows] for side in sides)
        write_vectors(path, Vectors(name, words, train(len(words), pairs, *genders)))
    return path


def write_vectors(path: Path, vectors: Vectors) -> None:
    """Write word2vec's text format, atomically; numbers so exact that reading gives the same float32.

    Raises DataError if a word has white space in it, which the format cannot hold.
    """
    for word in vectors.words:
        if not word or word.split() != [word]:
            raise DataError(f"the word {word!r} cannot be written", expected="words without white space")
    with atomic_path(Path(path)) as temporary, temporary.open("w", encoding="utf-8") as stream:
        stream.write(f"{len(vectors)} {vectors.matrix.shape[1]}\n")
        for word, vector in zip(vectors.words, vectors.matrix, strict=True):
            stream.write(f"{word} {' '.join(f'{value:.9g}' for value in vector)}\n")


def _records(path: Path) -> Iterator[tuple[str, Matrix]]:
    """Words and their vectors, in whatever format the file's beginning shows."""
    with open_bytes(path) as stream:
        first = stream.readline(_LONGEST_LINE)
        if first.startswith(_PICKLE):
            raise DataError(
                "is a pickle, which can run any code and is not read",
                place=Place(path),
                expected="word2vec text or binary, or GloVe text",
                remedy="Where you trust it: gensim.models.KeyedVectors.load(...).save_word2vec_format(...)",
            )
        header = first.split()
        if len(header) == 2 and all(part.isdigit() for part in header):
            count, dimensions = _header(header, path)
            record = stream.readline(_LONGEST_LINE)
            if _is_text(record, dimensions):
                yield from _counted(_text(record, stream, path, dimensions, 2), count, path)
            else:
                yield from _binary(path, len(first), count, dimensions)
        elif header:
            yield from _text(first, stream, path, len(header) - 1, 1)


def _header(parts: list[bytes], path: Path) -> tuple[int, int]:
    """Words and dimensions that the first line of word2vec's formats claims."""
    count, dimensions = (whole_number(part.decode("ascii")) for part in parts)
    if count is None or dimensions is None or not 0 < dimensions <= _MOST_DIMENSIONS:
        raise DataError(
            f"the header claims {parts[0].decode()[:20]} words of {parts[1].decode()[:20]} dimensions",
            place=Place(path, 1),
            expected=f"1 to {_MOST_DIMENSIONS:,} dimensions",
            remedy="Get it again: it is damaged, or holds no vectors",
        )
    return count, dimensions


def _counted(records: Iterable[T], count: int, path: Path) -> Iterator[T]:
    """Give all records, of which there must be as many as the header says."""
    number = 0
    for number, record in enumerate(records, 1):  # noqa: B007 (needed after the loop)
        yield record
    if number != count:
        raise DataError(
            f"has {number:,} words",
            place=Place(path),
            expected=f"{count:,} words by its header",
            remedy="Get it again: it may be cut short",
        )


def _text(
    line: bytes, stream: IO[bytes], path: Path, dimensions: int, number: int
) -> Iterator[tuple[str, Matrix]]:
    while line:
        if len(line) == _LONGEST_LINE:
            raise DataError(
                f"the line has {_LONGEST_LINE:,} bytes or more",
                place=Place(path, number),
                expected="a word and its numbers",
            )
        if line.strip():
            yield _parsed(line, dimensions, path, number)
        line = stream.readline(_LONGEST_LINE)
        number += 1


def _is_text(line: bytes, dimensions: int) -> bool:
    try:
        return len(np.array(line.split()[-dimensions:], dtype=np.float64)) == dimensions
    except ValueError:
        return False


def _parsed(line: bytes, dimensions: int, path: Path, number: int) -> tuple[str, Matrix]:
    # from the right, since some words of GloVe 840B have spaces in them
    parts = line.rstrip().rsplit(b" ", dimensions)
    place = Place(path, number)
    if dimensions < 1 or len(parts) != dimensions + 1:
        raise DataError(
            f"{len(parts) - 1} numbers behind the word", place=place, expected=f"{max(dimensions, 1)}"
        )
    try:
        with np.errstate(over="ignore"):  # what is beyond float32 becomes infinite, and is refused
            vector = np.array(parts[1:], dtype=np.float32)
        word = parts[0].decode("utf-8")
    except UnicodeDecodeError:
        raise DataError("the word is not UTF-8", place=place) from None
    except ValueError as problem:
        raise DataError(f"not all are numbers ({problem})", place=place) from None
    if not np.isfinite(vector).all():
        raise DataError(f"the vector of {word!r} is not finite", place=place)
    return word, vector


def _binary(path: Path, start: int, count: int, dimensions: int) -> Iterator[tuple[str, Matrix]]:
    size = 4 * dimensions
    with open_bytes(path) as stream:
        stream.read(start)
        for number in range(1, count + 1):
            word = bytearray()
            while (letter := stream.read(1)) not in {b" ", b""} and len(word) < _LONGEST_WORD:
                if letter != b"\n":  # which some writers put behind each vector
                    word += letter
            blob = stream.read(size)
            if len(blob) != size or letter != b" ":
                raise DataError(
                    f"ends in word {number:,}" if len(blob) != size else f"no blank ends word {number:,}",
                    place=Place(path),
                    expected=f"{count:,} words by its header, each with {dimensions} float32 behind a blank",
                )
            vector = np.frombuffer(blob, dtype="<f4")
            if not np.isfinite(vector).all():
                raise DataError(f"the vector of word {number:,} is not finite", place=Place(path))
            try:
                yield word.decode("utf-8"), vector
            except UnicodeDecodeError:
                raise DataError(f"word {number:,} is not UTF-8", place=Place(path)) from None
        if stream.read(2).strip(b"\n"):
            raise DataError(
                "goes on behind the last word", place=Place(path), expected=f"{count:,} words by its header"
            )


def _of_encoder(encoder: Encoder) -> Vectors:
    """Input embeddings of the pieces that are whole words, in the order of their ids."""
    tokenizer = encoder.tokenizer
    pieces = sorted(tokenizer.get_vocab().items(), key=lambda item: int(item[1]))
    special = set(tokenizer.all_special_tokens)
    mark = next((m for m in _WORD_STARTS if any(p.startswith(m) for p, _ in pieces)), "")
    rows: dict[str, int] = {}
    for piece, row in pieces:
        if piece not in special and piece.startswith(mark) and not piece.startswith(_WORD_GOES_ON):
            word = piece.removeprefix(mark)
            if word.strip():
                rows.setdefault(word, row)
    weights = encoder.model.get_input_embeddings().weight.detach().float().cpu().numpy()
    return Vectors(f"input embeddings of {encoder.name}", tuple(rows), weights[list(rows.values())])
