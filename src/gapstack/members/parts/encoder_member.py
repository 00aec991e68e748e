"""What members share that read a pre-trained encoder: which one, which of its layers, and vectors of the mentions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gapstack.corpus import Corpus
from gapstack.encoding.activations import SpanActivations, span_activations
from gapstack.encoding.encoders import Encoder, load_encoder
from gapstack.encoding.sizes import Size
from gapstack.members.parts.learner import Learner
from gapstack.members.work import RowCounts, Work

Layers = Sequence[int] | int | None


class EncoderMember(Learner):
    """A member that reads a pre-trained encoder.

    Parameters
    ----------
    encoder : str, optional
        Name or folder of the encoder; the embedded MiniLM by default.
    extra, teacher, gold_weight
        See :class:`~gapstack.members.parts.learner.Learner`.
    """

    encoder: str | None = None

    LAYERS: ClassVar[tuple[tuple[int, ...], int]] = ((2,), 3)
    """Layers read by default, 1 the first, and how many the encoder has that they are counted in."""

    def work(self, size: Size, rows: RowCounts) -> Work:
        """Count one pass of the encoder over all rows, beside what follows it."""
        operations = 2 * size.layers * size.layer * rows.all * rows.pieces
        return Work(shared=operations, memory=4 * size.parameters).and_then(super().work(size, rows))

    def _encoder(self) -> Encoder:
        return load_encoder(self.encoder)

    def _default_or(self, chosen: Layers, encoder: Encoder) -> tuple[int, ...]:
        """Give the layers ``chosen``; None: those that lie as deep in ``encoder`` as :attr:`LAYERS`."""
        if chosen is None:
            return at_depth(encoder.num_layers, *self.LAYERS)
        return (chosen,) if isinstance(chosen, int) else tuple(chosen)

    def _mean_vectors(
        self, corpus: Corpus, chosen: Layers, max_pieces: int | None, dtype: DTypeLike = np.float32
    ) -> NDArray[Any]:
        """Give the mean vectors of pronoun, A and B in the layers ``chosen``, (n, 3, layers * hidden)."""
        encoder = self._encoder()
        layers = self._default_or(chosen, encoder)
        return mean_vectors(span_activations(corpus, encoder, layers, max_pieces=max_pieces), dtype)


def at_depth(num_layers: int, layers: Sequence[int], depth: int) -> tuple[int, ...]:
    """Layers of an encoder that lie as deep in it, rounded, as ``layers`` in one of ``depth``; none twice."""
    return tuple(dict.fromkeys(round(layer / depth * num_layers) for layer in layers))


def mean_vectors(activations: SpanActivations, dtype: DTypeLike = np.float32) -> NDArray[Any]:
    """Mean vector of each mention's pieces, (n, 3, layers * hidden), summed and divided in ``dtype``."""
    counts = activations.counts.ravel()
    pieces = activations.vectors.reshape(len(activations.vectors), np.prod(activations.vectors.shape[1:]))
    if not len(counts):
        return np.empty((0, activations.counts.shape[1], pieces.shape[1]), dtype=dtype)
    sums = np.add.reduceat(pieces, counts.cumsum() - counts, axis=0, dtype=dtype)
    sums /= counts[:, None].astype(dtype)
    return sums.reshape(*activations.counts.shape, -1)
