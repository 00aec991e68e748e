"""Train GloVe and GN-GloVe on the available texts and debias them: the word vectors of ``gap reproduce dawkins2021``.

GloVe (Pennington, Socher and Manning 2014, section 3) factorises logarithms of weighted co-occurrence counts. GN-GloVe
(Zhao et al. 2018, section 3) adds two terms that move gender into the last component: 1 for masculine and -1 for
feminine words, while the other components of neutral words are orthogonal to the mean difference of feminine and
masculine words. The papers train on billions of words, this module on about 1.5 million, so window, dimensions and
saturation follow GloVe's example for small texts.
"""

import logging
import re
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from torch import Tensor
from torch.nn.functional import embedding

from gapstack.data.extra.conll import read_corpus
from gapstack.data.gap_data import gap_split, stage2
from gapstack.data.sources import find
from gapstack.encoding.word_vectors import Vectors, read_vectors, write_vectors
from gapstack.errors import DataNotFoundError
from gapstack.files import CACHE, cache_root, fingerprint, open_bytes, require_writable
from gapstack.papers.debiasers import DEBIASERS
from gapstack.papers.word_lists import lists_key, read_lists
from gapstack.progress import progress
from gapstack.types import Floats32

_log = logging.getLogger(__name__)

DEBIASED = {
    "glove_hard": ("glove", "hard"),
    "glove_ran": ("glove", "ran"),
    "glove_inlp": ("glove", "inlp"),
    "gn_glove_neutral": ("gn_glove", "gn_glove"),
}
"""Debiased spaces: name to the space that it is made from, and the debiaser."""
SPACES = ("glove", "gn_glove", *DEBIASED)
DIMENSIONS, WINDOW, EPOCHS, SEED = 50, 10, 15, 0
_MIN_COUNT = 5
_SATURATION, _POWER = 10.0, 0.75  # a pair's weight is (count / saturation) ** power, at most 1
_LEARNING_RATE = 0.05
_GENDER_WEIGHT = 0.8
_BATCH = 1 << 16  # pairs per update
_WORD = re.compile(r"[^\W\d_]+")
_SENTENCE = b"# text = "


class WordPairs(NamedTuple):
    """Vocabulary rows (n,) of words and of their neighbours, and the weighted counts (n,) of the pairs."""

    words: NDArray[np.int64]
    neighbours: NDArray[np.int64]
    counts: Floats32


def texts() -> list[str]:
    """Available texts of GAP development and validation, stage 2, LitBank and the treebank.

    GAP test is excluded, because members that use the vectors are scored on it. DataNotFoundError without any text.
    """
    found: list[str] = []
    for split in ("development", "validation"):
        if find(f"gap-{split}"):
            found += gap_split(split).texts
    if find("stage2"):
        found += stage2().texts
    if find("corpora"):
        found += [" ".join(document.tokens) for document in read_corpus("litbank")]
    folder = find("treebank")
    for path in sorted(folder.glob("*.conllu*")) if folder else ():
        with open_bytes(path) as stream:
            lines = [line for line in stream if line.startswith(_SENTENCE)]
        found += [line.removeprefix(_SENTENCE).decode().strip() for line in lines]
    if not found:
        raise DataNotFoundError(
            "no texts to train word vectors on; put GAP, stage 2, LitBank or the treebank into a data folder"
        )
    return list(dict.fromkeys(found))


def count_pairs(
    texts: Sequence[str],
    keep: Collection[str] = frozenset(),
    *,
    window: int = WINDOW,
    min_count: int = _MIN_COUNT,
) -> tuple[tuple[str, ...], WordPairs]:
    """Lower-case vocabulary by frequency (all of ``keep``), and its pairs; a pair at distance k counts 1 / k."""
    tokens = [_WORD.findall(text.lower()) for text in texts]
    frequency = Counter(word for text in tokens for word in text)
    vocabulary = tuple(word for word, count in frequency.most_common() if count >= min_count or word in keep)
    rows = {word: row for row, word in enumerate(vocabulary)}
    # a window of unknown words between texts, so that no pair crosses them
    gap = [-1] * window
    line = np.array([row for text in tokens for row in (*(rows.get(w, -1) for w in text), *gap)], np.int64)
    total: Any = 0
    for distance in range(1, window + 1):
        left, right = line[:-distance], line[distance:]
        both = (left >= 0) & (right >= 0)
        share = np.full(int(both.sum()), 1 / distance, dtype=np.float32)
        total += coo_matrix((share, (left[both], right[both])), shape=(len(rows), len(rows))).tocsr()
    pairs = (total + total.T).tocoo()
    return vocabulary, WordPairs(pairs.row.astype(np.int64), pairs.col.astype(np.int64), pairs.data)


def train(
    size: int,
    pairs: WordPairs,
    masculine: Sequence[int] = (),
    feminine: Sequence[int] = (),
    *,
    dimensions: int = DIMENSIONS,
    epochs: int = EPOCHS,
    seed: int = 0,
) -> Floats32:
    """Vectors (size, dimensions) of GloVe; of GN-GloVe if rows of gendered words are given."""
    generator = torch.Generator().manual_seed(seed)
    gendered = torch.zeros(size)
    gendered[list(masculine)], gendered[list(feminine)] = 1.0, -1.0
    words, neighbours = map(torch.from_numpy, pairs[:2])
    logs = torch.from_numpy(np.log(pairs.counts))
    weights = torch.from_numpy(np.minimum(pairs.counts / _SATURATION, 1) ** _POWER)
    tables = [
        ((torch.rand(size, width, generator=generator) - 0.5) / dimensions).requires_grad_()
        for width in (dimensions, dimensions, 1, 1)
    ]
    first, second, first_bias, second_bias = tables
    optimizer = torch.optim.Adagrad(tables, lr=_LEARNING_RATE)
    with progress("epochs", epochs) as ticker:
        for _ in range(epochs):
            order = torch.randperm(len(words), generator=generator)
            for batch in order.split(_BATCH):  # type: ignore[no-untyped-call]
                i, j = words[batch], neighbours[batch]
                vectors = embedding(i, first)
                biases = (embedding(i, first_bias) + embedding(j, second_bias))[:, 0]
                product = (vectors * embedding(j, second)).sum(dim=1) + biases
                loss = (weights[batch] * (product - logs[batch]) ** 2).sum()
                if gendered.any():
                    direction = _difference(first, second, gendered)
                    terms = _gender_terms(vectors + embedding(i, second), gendered[i], direction)
                    loss = loss + _GENDER_WEIGHT * terms
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
            ticker.advance()
    return np.asarray((first + second).detach().numpy())


@torch.no_grad()
def _difference(first: Tensor, second: Tensor, gendered: Tensor) -> Tensor:
    """Mean of the first components (d - 1,) of feminine words minus that of masculine words."""
    vectors = (first + second)[:, :-1]
    return vectors[gendered < 0].mean(dim=0) - vectors[gendered > 0].mean(dim=0)


def _gender_terms(vectors: Tensor, gendered: Tensor, direction: Tensor) -> Tensor:
    """Sum of both gender terms over vectors (b, d); ``gendered`` (b,) is 1 (masculine), -1 (feminine) or 0."""
    neutral = gendered == 0
    across = (vectors[neutral, :-1] @ direction) ** 2
    last = (vectors[~neutral, -1] - gendered[~neutral]) ** 2
    return across.sum() + last.sum()


def spaces() -> dict[str, Path]:
    """Files of all spaces of the paper by name, such as ``glove_hard``; those missing in the cache are made.

    The cache's folder is named after the texts and the word lists, so other data make other files.
    """
    lists, found = read_lists(), texts()
    folder = cache_root() / "vectors" / fingerprint(found, lists_key(), DIMENSIONS, EPOCHS, SEED)
    files = {name: folder / f"{name}.txt" for name in SPACES}
    missing = [name for name, path in files.items() if not path.is_file()]
    if missing:
        require_writable(folder, CACHE)
    if any(DEBIASED.get(name, (name,))[0] in missing for name in SPACES):
        _log.info("training GloVe and GN-GloVe on %d texts", len(found))
        words, pairs = count_pairs(found, lists.every_word)
        rows = {word: row for row, word in enumerate(words)}
        sides = (lists.masculine, lists.feminine)
        genders = [[rows[word] for word in side if word in rows] for side in sides]
        for name, gendered in (("glove", []), ("gn_glove", genders)):
            write_vectors(Vectors(name, words, train(len(words), pairs, *gendered, seed=SEED)), files[name])
    for name, (source, debiaser) in DEBIASED.items():
        if name in missing:
            _log.info("%s", name)
            write_vectors(DEBIASERS[debiaser](read_vectors(files[source], limit=None), lists), files[name])
    return files
