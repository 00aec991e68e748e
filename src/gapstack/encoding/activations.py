"""Frozen activations around the mentions: computed once per text, cached on disk by content.

Stored in float16 are

- the output of chosen layers at the pieces of pronoun, A and B;
- the attention of chosen layers between groups of pieces: the three mentions and, for each name, all the
  places of the text where its pieces occur again. As in Transformer-Single (Webster et al. 2018, section
  4.4), attention is the mean over the pieces that look and the sum over the pieces looked at.

The key of an example is its window (piece ids) and its mentions' places in it; the folder's name identifies the
encoder and all else that decides the bits. So all subsets, folds and corpora with the same texts and mentions share
the cache. See :mod:`gapstack.encoding.shards`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.frozen import GROUPS, Request, computed_by, encode
from gapstack.encoding.pieces import MENTIONS, PieceView, align, windows_around
from gapstack.encoding.shards import Ragged, Shards, content_key, ranges
from gapstack.files import cache_root
from gapstack.text.memory import Memory

# Folds ask in turn for their own rows and for those held out from all.
_MOST_KEPT = 2


@dataclass(frozen=True, slots=True)
class SpanActivations:
    """Vectors and attention at the pieces of pronoun, A and B of n examples.

    Attributes
    ----------
    vectors : (pieces, layers, hidden) float16
        All examples end to end; an example's pieces are those of pronoun, A and B, in that order.
    counts : (n, 3) int64
        Pieces of pronoun, A and B.
    attention : (n, attention layers, heads, 5, 5) float16
        From the groups on the fourth axis to those on the fifth, both in the order of :data:`GROUPS`.
    """

    vectors: NDArray[np.float16]
    counts: NDArray[np.int64]
    attention: NDArray[np.float16]

    def __len__(self) -> int:
        return len(self.counts)

    def padded(self) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Give sequences (n, longest, layers * hidden), zero-padded, and mention ranges (n, 3, 2) in them.

        Ranges are half-open.
        """
        ends = self.counts.cumsum(axis=1)
        spans = np.stack([ends - self.counts, ends], axis=-1)
        totals = ends[:, -1]
        width = self.vectors.shape[1] * self.vectors.shape[2]
        sequences = np.zeros((len(self), int(totals.max(initial=0)), width), dtype=np.float32)
        sequences[np.arange(sequences.shape[1]) < totals[:, None]] = self.vectors.reshape(-1, width)
        return sequences, spans


_latest: Memory[SpanActivations] = Memory(_MOST_KEPT)


def span_activations(
    corpus: Corpus,
    encoder: Encoder,
    layers: Sequence[int],
    attention_layers: Sequence[int] = (),
    *,
    max_pieces: int | None = None,
) -> SpanActivations:
    """Give the frozen activations of a corpus, computing only what the cache does not hold.

    Runs in bfloat16 on a GPU or on a CPU with instructions for it, in float32 elsewhere. On one machine a row's
    activations are the same to the bit whatever the other rows, their order, or what the cache holds. Raises
    MemberError if a layer does not exist or a mention cannot be aligned.

    Parameters
    ----------
    layers : sequence of int
        Layers whose output to give, from 0 (embeddings) to ``encoder.num_layers``. One forward pass gives
        everything asked for and stops at the highest layer.
    attention_layers : sequence of int
        Layers whose attention to give, from 1.
    max_pieces : int, optional
        Window, as in :func:`~gapstack.encoding.pieces.align`.
    """
    request = Request(encoder, tuple(layers), tuple(attention_layers))

    def compute(_: list[int]) -> list[SpanActivations]:
        # names are stored in the order of the text, so that exchanging A and B asks for nothing new
        view, exchanged = _in_text_order(align(corpus, encoder, max_pieces))
        return [_exchange(_of_view(view, request), exchanged)]

    key = (corpus.fingerprint, computed_by(encoder), request.layers, request.attention_layers, max_pieces)
    return _latest.fetch([key], compute)[0]


def window_activations(
    corpus: Corpus, encoder: Encoder, layers: Sequence[int], *, max_pieces: int = 64
) -> SpanActivations:
    """As :func:`span_activations`, each mention read in a window of its own, without attention.

    See :func:`~gapstack.encoding.pieces.windows_around`.
    """
    view = windows_around(corpus, encoder, max_pieces)
    activations = _of_view(view, Request(encoder, tuple(layers)))
    return SpanActivations(
        activations.vectors,
        activations.counts.reshape(-1, len(MENTIONS)),
        activations.attention[: len(corpus)],
    )


def _of_view(view: PieceView, request: Request) -> SpanActivations:
    """Fetch what is there and compute the rest."""
    encoder = request.encoder
    counts = np.diff(view.mentions, axis=2)[..., 0]
    keys = [
        content_key(view.ids[view.row(row)].tobytes(), mentions.tobytes())
        for row, mentions in enumerate(view.mentions)
    ]
    # an entry of attention is one map; vectors are as many as the mentions have pieces
    sizes = dict.fromkeys(request.names, counts.sum(axis=1)) | dict.fromkeys(
        request.attention_names, np.ones(len(view), dtype=np.int64)
    )
    entries = Shards(cache_root() / "activations" / computed_by(encoder)).fetch(
        keys,
        request.names,
        lambda rows, names: {
            name: Ragged(values, sizes[name][rows])
            for name, values in encode(request.only(names), view, rows).items()
        },
        view.lengths,
        f"Encoding with {encoder.name}",
    )
    hidden, heads, groups = encoder.hidden_size, encoder.num_heads, len(GROUPS)
    vectors = np.empty((int(counts.sum()), len(request.layers), hidden), dtype=np.float16)
    for column, name in enumerate(request.vector_names):
        vectors[:, column] = entries[name].values.reshape(-1, hidden)
    attention = np.empty((len(view), len(request.attention_layers), heads, groups, groups), dtype=np.float16)
    for column, name in enumerate(request.attention_names):
        attention[:, column] = entries[name].values.reshape(-1, heads, groups, groups)
    return SpanActivations(vectors, counts, attention)


def _in_text_order(view: PieceView) -> tuple[PieceView, NDArray[np.bool_]]:
    """The view with A before B in every row, and which rows that changed."""
    starts = view.mentions[..., 0]
    exchanged = starts[:, 1] > starts[:, 2]
    mentions = view.mentions.copy()
    mentions[exchanged] = mentions[exchanged][:, [0, 2, 1]]
    return replace(view, mentions=mentions), exchanged


def _exchange(activations: SpanActivations, rows: NDArray[np.bool_]) -> SpanActivations:
    """Exchange A and B in the given rows."""
    if not rows.any():
        return activations
    starts = np.concatenate([[0], activations.counts.ravel().cumsum()[:-1]]).reshape(-1, len(MENTIONS))
    order = np.where(rows[:, None], [0, 2, 1], np.arange(len(MENTIONS)))
    counts = np.take_along_axis(activations.counts, order, axis=1)
    pieces = ranges(np.take_along_axis(starts, order, axis=1).ravel(), counts.ravel())
    attention = activations.attention.copy()
    groups = [0, 2, 1, 4, 3]
    attention[rows] = attention[rows][..., groups, :][..., groups]
    return SpanActivations(activations.vectors[pieces], counts, attention)
