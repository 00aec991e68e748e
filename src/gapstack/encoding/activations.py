"""Activations of a frozen encoder, computed once per text and stored by content.

Stored are the output of chosen layers at the mentions' pieces or at all pieces, and the attention of chosen layers
between groups of pieces: the three mentions and, for each name, all places where its pieces occur again. As in
Transformer-Single (Webster et al. 2018, section 4.4), attention is averaged over the pieces that attend and summed over
the pieces attended to.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray

from gapstack.cache import SHARD_ROWS, Memory, Ragged, content_key, fetch_arrays, ranges
from gapstack.data import Corpus
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.frozen import Request, computed_by, forward, load_frozen
from gapstack.encoding.pieces import MENTIONS, PieceView, TextPieces, align, joined, tokenised, windows_around
from gapstack.errors import MemberError
from gapstack.files import cache_root
from gapstack.types import Floats32, Ints, Matrix

GROUPS = (*MENTIONS, "a_anywhere", "b_anywhere")
"""Groups of pieces, in the order of the last two axes of ``attention``."""


@dataclass(frozen=True, slots=True)
class SpanActivations:
    """Vectors and attention at the pieces of pronoun, A and B of n examples; float16 or float32, as computed."""

    vectors: NDArray[np.floating]
    """(pieces, layers, hidden): all examples end to end, the pieces of each in the order pronoun, A, B."""
    counts: NDArray[np.int64]
    """Number of pieces of pronoun, A and B, (n, 3)."""
    attention: NDArray[np.floating]
    """(n, attention layers, heads, 5, 5), from the groups on the fourth axis to those on the fifth, in the order of
    :data:`GROUPS`."""

    def __len__(self) -> int:
        return len(self.counts)

    def padded(self) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return zero-padded sequences (n, longest, layers * hidden) and the mentions' ranges (n, 3, 2) in them."""
        ends = self.counts.cumsum(axis=1)
        spans = np.stack([ends - self.counts, ends], axis=-1)
        totals = ends[:, -1]
        width = self.vectors.shape[1] * self.vectors.shape[2]
        sequences = np.zeros((len(self), int(totals.max(initial=0)), width), dtype=np.float32)
        sequences[np.arange(sequences.shape[1]) < totals[:, None]] = self.vectors.reshape(-1, width)
        return sequences, spans


# A fold needs its own rows and those held out from it in turn.
_latest: Memory[SpanActivations] = Memory(2)


def span_activations(
    corpus: Corpus,
    encoder: Encoder,
    layers: Sequence[int],
    attention_layers: Sequence[int] = (),
    *,
    max_pieces: int | None = None,
) -> SpanActivations:
    """Activations of a corpus at its mentions, computing those not yet stored; layers count from 0, the embeddings."""
    request = Request(encoder, tuple(layers), tuple(attention_layers))

    def compute(_: list[int]) -> list[SpanActivations]:
        # names are stored in text order, so that exchanging A and B computes nothing new
        view, exchanged = _in_text_order(align(corpus, encoder, max_pieces))
        return [_exchange(_activations(view, request), exchanged)]

    key = (corpus.fingerprint, computed_by(encoder), request.layers, request.attention_layers, max_pieces)
    return _latest.fetch([key], compute)[0]


def window_activations(
    corpus: Corpus, encoder: Encoder, layers: Sequence[int], *, max_pieces: int = 64
) -> SpanActivations:
    """As :func:`span_activations`, with a window around each mention (:func:`windows_around`) and without attention."""
    view = windows_around(corpus, encoder, max_pieces)
    activations = _activations(view, Request(encoder, tuple(layers)))
    return replace(
        activations, counts=activations.counts.reshape(-1, 3), attention=activations.attention[: len(corpus)]
    )


def hidden_states(
    view: PieceView, encoder: Encoder, layers: Sequence[int] = (-1,), dtype: torch.dtype | None = None
) -> Ragged:
    """Hidden states of all pieces, (pieces, layers * hidden), computing those not yet stored; -1 is the last layer."""
    depth = encoder.num_layers
    numbers = tuple(layer + depth + 1 if layer < 0 else layer for layer in layers)
    request = Request(encoder, numbers, dtype=dtype)
    wholes = np.stack([np.zeros(len(view), dtype=np.int64), view.lengths], axis=-1)[:, None]
    keys = [content_key(view.ids[view.row(row)].tobytes()) for row in range(len(view))]
    arrays = _fetch("hidden", request, view, wholes, keys)
    columns = [arrays[name].values.reshape(-1, encoder.hidden_size) for name in request.names]
    return Ragged(np.concatenate(columns, axis=1), view.lengths)


def _activations(view: PieceView, request: Request) -> SpanActivations:
    encoder = request.encoder
    keys = [
        content_key(view.ids[view.row(row)].tobytes(), mentions.tobytes())
        for row, mentions in enumerate(view.mentions)
    ]
    arrays = _fetch("activations", request, view, view.mentions, keys)
    counts = np.diff(view.mentions, axis=2)[..., 0]
    is_half = all(array.values.dtype == np.float16 for array in arrays.values())
    dtype = np.float16 if is_half else np.float32
    vectors = np.empty((int(counts.sum()), len(request.layers), encoder.hidden_size), dtype=dtype)
    square = (encoder.num_heads, len(GROUPS), len(GROUPS))
    attention = np.empty((len(view), len(request.attention_layers), *square), dtype=dtype)
    columns = [(vectors, i) for i in range(vectors.shape[1])] + [
        (attention, i) for i in range(attention.shape[1])
    ]
    for (target, column), name in zip(columns, request.names, strict=True):
        target[:, column] = arrays[name].values.reshape(-1, *target.shape[2:])
    return SpanActivations(vectors, counts, attention)


def _fetch(
    folder: str, request: Request, view: PieceView, spans: NDArray[np.int64], keys: Sequence[bytes]
) -> dict[str, Ragged]:
    """Arrays of a request by name; missing ones are computed."""
    encoder = request.encoder

    def compute(rows: Ints, names: Sequence[str]) -> dict[str, Ragged]:
        wanted = request.only(names)
        parts = forward(wanted, view, rows, spans, _group_weights(view, encoder))
        _, vectors, attention = zip(*parts, strict=True)
        pieces = np.diff(spans[rows])[..., 0].sum(axis=1)
        arrays = [Ragged(request.stored(torch.cat(layer)), pieces) for layer in zip(*vectors, strict=True)]
        if wanted.attention_layers:
            # (n, layers, heads, 5, 5)
            maps = request.stored(torch.stack([row for batch in attention for row in batch]))
            ones = np.ones(len(rows), dtype=np.int64)
            arrays += [Ragged(np.ascontiguousarray(maps[:, n]), ones) for n in range(maps.shape[1])]
        return dict(zip(wanted.names, arrays, strict=True))

    place = cache_root() / folder / computed_by(encoder, request.dtype)
    title = f"Encoding with {encoder.name}"
    if len(keys) > SHARD_ROWS:
        load_frozen(request)  # before forking, so that it is loaded once
    return fetch_arrays(place, keys, request.names, compute, view.lengths, title, in_forks=True)


def _group_weights(view: PieceView, encoder: Encoder) -> Callable[[int], tuple[Floats32, Floats32]]:
    """Weights (5, T) of the groups of a row: of the mentions, and of all occurrences of each name's pieces."""

    def weights(row: int) -> tuple[Floats32, Floats32]:
        ids, mentions = view.ids[view.row(row)], view.mentions[row]
        at = np.arange(len(ids))
        inside = (at >= mentions[:, :1]) & (at < mentions[:, 1:])
        same = (ids[:, None] == ids) & _word_ids(encoder)[ids]  # equal punctuation means nothing
        anywhere = [same[name].any(axis=0) | name for name in inside[1:]]
        seen = np.stack([*inside, *anywhere]).astype(np.float32)
        return seen / seen.sum(axis=1, keepdims=True), seen

    return weights


@lru_cache(maxsize=2)
def _word_ids(encoder: Encoder) -> NDArray[np.bool_]:
    """Mask over the vocabulary: True for pieces with a letter or digit, except special pieces."""
    tokens = encoder.tokenizer.convert_ids_to_tokens(range(len(encoder.tokenizer)))
    # a vocabulary may have holes, which are None
    mask = np.array([any(map(str.isalnum, token or "")) for token in tokens])
    mask[encoder.tokenizer.all_special_ids] = False
    return mask


def _in_text_order(view: PieceView) -> tuple[PieceView, NDArray[np.bool_]]:
    """The view with A before B in every row, and a mask of the rows that changed."""
    exchanged = view.mentions[:, 1, 0] > view.mentions[:, 2, 0]
    mentions = view.mentions.copy()
    mentions[exchanged] = mentions[exchanged][:, [0, 2, 1]]
    return replace(view, mentions=mentions), exchanged


def _exchange(activations: SpanActivations, rows: NDArray[np.bool_]) -> SpanActivations:
    """Exchange A and B in the given rows."""
    if not rows.any():
        return activations
    starts = (activations.counts.ravel().cumsum() - activations.counts.ravel()).reshape(-1, len(MENTIONS))
    order = np.where(rows[:, None], [0, 2, 1], np.arange(len(MENTIONS)))
    counts = np.take_along_axis(activations.counts, order, axis=1)
    pieces = ranges(np.take_along_axis(starts, order, axis=1).ravel(), counts.ravel())
    attention = activations.attention.copy()
    groups = [0, 2, 1, 4, 3]
    attention[rows] = attention[rows][..., groups, :][..., groups]
    return SpanActivations(activations.vectors[pieces], counts, attention)


Sentence = tuple[str, tuple[int, int]]
"""A text, and the half-open range of characters of the word in it."""


@dataclass(frozen=True)
class SentenceVectors:
    """Vectors (n, hidden) float64: of the first piece ([CLS]), means over all pieces, and over the word's pieces."""

    first: Matrix
    mean: Matrix
    word: Matrix


def sentence_vectors(sentences: Sequence[Sentence], encoder: Encoder, layer: int = -1) -> SentenceVectors:
    """Encode sentences in float32, in one layer, from 0 (embeddings) up or from -1 (the last) down; cached."""
    view = _view(sentences, encoder)
    states = hidden_states(view, encoder, (layer,), dtype=torch.float32).values.astype(np.float64)
    # (2 n,) borders of words and of what lies between them: sums at even places are the words'; the last word may end
    # where the states end
    borders = (view.bounds[:-1, None] + view.mentions[:, 0]).ravel()
    padded = np.concatenate([states, np.zeros((1, states.shape[1]))])
    words = np.add.reduceat(padded, borders, axis=0)[::2] / np.diff(view.mentions[:, 0])
    wholes = np.add.reduceat(states, view.bounds[:-1], axis=0) / view.lengths[:, None]
    return SentenceVectors(states[view.bounds[:-1]], wholes, words)


def _view(sentences: Sequence[Sentence], encoder: Encoder) -> PieceView:
    texts: list[TextPieces] = []
    for (text, (start, end)), (ids, chars) in zip(
        sentences, tokenised([text for text, _ in sentences], encoder), strict=True
    ):
        inside = np.flatnonzero((chars[:, 0] < end) & (chars[:, 1] > start))
        if not len(inside):
            raise MemberError(
                f"the tokenizer of {encoder.name} returns no piece for {text[start:end]!r}; use another encoder"
            )
        texts.append((ids, chars, np.array([[inside[0], inside[-1] + 1]])))
    view = joined(texts, encoder, 1)
    row, limit = int(view.lengths.argmax()), encoder.max_pieces
    if view.lengths[row] > limit:
        raise MemberError(
            f"{sentences[row][0][:40]!r} has {view.lengths[row]} pieces, more than the {limit} of {encoder.name}; "
            "shorten the sentence, or use an encoder that takes longer ones"
        )
    return view
