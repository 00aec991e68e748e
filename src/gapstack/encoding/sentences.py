"""Vectors of plain sentences and of a word in each, from a frozen encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from gapstack.encoding.activations import hidden_states
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import PieceView, TextPieces, joined, tokenised
from gapstack.errors import MemberError
from gapstack.types import Matrix

Sentence = tuple[str, tuple[int, int]]
"""A text, and the half-open range of characters of the word in it."""


@dataclass(frozen=True)
class SentenceVectors:
    """Vectors (n, hidden) float64 of n sentences in one layer.

    Of the first piece ([CLS] for BERT); means over all pieces, special ones included; means over the word's pieces.
    """

    first: Matrix
    mean: Matrix
    word: Matrix


def sentence_vectors(
    sentences: Sequence[Sentence], encoder: Encoder, layer: int = -1, *, max_pieces: int | None = None
) -> SentenceVectors:
    """Encode sentences in float32, in one layer, from 0 (embeddings) up or from -1 (the last) down; cached.

    ``max_pieces`` is by default the encoder's limit. Raises MemberError if there is no such layer, a sentence is too
    long, or a word has no piece.
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
    texts: list[TextPieces] = []
    for (text, (start, end)), (ids, chars) in zip(
        sentences, tokenised([text for text, _ in sentences], encoder), strict=True
    ):
        inside = np.flatnonzero((chars[:, 0] < end) & (chars[:, 1] > start))
        if not len(inside):
            raise MemberError(f"the tokenizer of {encoder.name} returns no piece for {text[start:end]!r}")
        texts.append((ids, chars, np.array([[inside[0], inside[-1] + 1]])))
    view = joined(texts, encoder, 1)
    if (view.lengths > limit).any():
        row = int(view.lengths.argmax())
        raise MemberError(
            f"{sentences[row][0][:40]!r} has {view.lengths[row]} pieces, more than the {limit} of {encoder.name}"
        )
    return view
