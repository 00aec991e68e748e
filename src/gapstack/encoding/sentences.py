"""Vectors of plain sentences and of a word in each, from a frozen encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from gapstack.encoding.encoders import Encoder
from gapstack.encoding.hidden_states import hidden_states
from gapstack.encoding.pieces import PieceView
from gapstack.errors import MemberError
from gapstack.types import Matrix

Sentence = tuple[str, tuple[int, int]]
"""A text, and the half-open range of characters of the word in it."""


@dataclass(frozen=True)
class SentenceVectors:
    """Vectors (n, hidden) float64 of n sentences in one layer.

    ``first`` are those of the first piece ([CLS] for BERT), ``mean`` the means over all pieces, special ones included
    (as sentence-transformers pools), and ``word`` the means over the word's pieces.
    """

    first: Matrix
    mean: Matrix
    word: Matrix


def sentence_vectors(
    sentences: Sequence[Sentence], encoder: Encoder, layer: int = -1, *, max_pieces: int | None = None
) -> SentenceVectors:
    """Encode sentences; computed in float32 and cached by contents.

    Parameters
    ----------
    sentences : sequence of Sentence
    encoder : Encoder
    layer : int
        From 0 (embeddings) up or from -1 (the last) down.
    max_pieces : int, optional
        Longest sentence; by default the encoder's limit.

    Raises
    ------
    MemberError
        If there is no such layer, a sentence is too long, or a word has no piece.
    """
    view = _view(sentences, encoder, encoder.max_pieces if max_pieces is None else max_pieces)
    states = hidden_states(view, encoder, (layer,), dtype=torch.float32).values.astype(np.float64)
    # (2 n,) borders of words and of what lies between them: sums at even places are the words'; the last word may end
    # where the states end
    borders = (view.bounds[:-1, None] + view.mentions[:, 0]).ravel()
    padded = np.concatenate([states, np.zeros((1, states.shape[1]))])
    words = np.add.reduceat(padded, borders, axis=0)[::2] / np.diff(view.mentions[:, 0])
    wholes = np.add.reduceat(states, view.bounds[:-1], axis=0) / view.lengths[:, None]
    return SentenceVectors(states[view.bounds[:-1]], wholes, words)


def _view(sentences: Sequence[Sentence], encoder: Encoder, limit: int) -> PieceView:
    encoded = encoder.tokenizer(
        [text for text, _ in sentences],
        **{"padding": False, "truncation": False, "return_offsets_mapping": True},
        return_special_tokens_mask=True,
    )
    ranges = np.empty((len(sentences), 1, 2), dtype=np.int64)
    ids: list[NDArray[np.int64]] = []
    chars: list[NDArray[np.int64]] = []
    for row, (text, (start, end)) in enumerate(sentences):
        pieces = np.array(encoded["input_ids"][row], dtype=np.int64)
        own = np.array(encoded["offset_mapping"][row], dtype=np.int64).reshape(-1, 2)
        is_special = np.array(encoded["special_tokens_mask"][row], dtype=bool)
        inside = np.flatnonzero((own[:, 0] < end) & (own[:, 1] > start) & ~is_special)
        if len(pieces) > limit:
            raise MemberError(
                f"{text[:40]!r} has {len(pieces)} pieces, more than the {limit} of {encoder.name}"
            )
        if not len(inside):
            raise MemberError(f"the tokenizer of {encoder.name} makes no piece of {text[start:end]!r}")
        ranges[row, 0] = inside[0], inside[-1] + 1
        ids.append(pieces)
        chars.append(own)
    bounds = np.concatenate([[0], np.cumsum([len(pieces) for pieces in ids], dtype=np.int64)])
    return PieceView(np.concatenate(ids), np.concatenate(chars), bounds, ranges)
