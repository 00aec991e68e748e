"""Frozen activations around the mentions: computed once per text, kept on disk by content.

Two things are kept, both in float16:

- the output of chosen layers at the pieces of pronoun, A and B;
- the attention of chosen layers between groups of pieces: the three mentions and, for each name, all the
  places of the text where its pieces occur again. As in Transformer-Single (Webster et al. 2018, section
  4.4), attention is the mean over the pieces that look and the sum over the pieces looked at.

The key of an example is its window (piece ids) and where its mentions lie in it; the folder's name is the
encoder's fingerprint. So any subset, fold or other corpus with the same texts and mentions finds what is
there, and only the rest is computed.

On disk: shards of up to 512 examples, each one safetensors file that is written whole or not at all and never
changed; a run that is killed loses at most the shard it was working on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from gapstack.corpus import Corpus
from gapstack.errors import DataError, Place
from gapstack.files import atomic_path, cache_root
from gapstack.progress import progress
from gapstack.views.encoders import Encoder
from gapstack.views.frozen import GROUPS, Request, forward
from gapstack.views.pieces import MENTIONS, PieceView, align

SHARD_ROWS = 512

Location = tuple[Path, int]
"""A shard and a row of it."""


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


def span_activations(
    corpus: Corpus,
    encoder: Encoder,
    layers: Sequence[int],
    attention_layers: Sequence[int] = (),
    *,
    max_pieces: int | None = None,
) -> SpanActivations:
    """Give the frozen activations of a corpus, computing only what the cache does not hold.

    Runs in bfloat16 on a GPU or on a CPU with instructions for it, in float32 elsewhere; results are the same
    within bfloat16's precision and share one cache.

    Parameters
    ----------
    corpus : Corpus
    encoder : Encoder
    layers : sequence of int
        Layers whose output to give, from 0 (embeddings) to ``encoder.num_layers``. One forward pass gives
        everything asked for and stops at the highest layer.
    attention_layers : sequence of int
        Layers whose attention to give, from 1.
    max_pieces : int, optional
        Window, as in :func:`~gapstack.views.pieces.align`.

    Raises
    ------
    MemberError
        If a layer does not exist or a mention cannot be aligned.
    DataError
        If a cache file is damaged.
    """
    request = Request(encoder, tuple(layers), tuple(attention_layers))
    # names are stored in the order of the text, so that exchanging A and B asks for nothing new
    view, exchanged = _in_text_order(align(corpus, encoder, max_pieces))
    keys = _keys(view)
    folder = cache_root() / "activations" / encoder.fingerprint
    known = _index(folder, request)
    first_row = {key: row for row, key in reversed(list(enumerate(keys)))}
    missing = np.array([row for key, row in first_row.items() if key not in known], dtype=np.int64)
    if len(missing):
        with progress(f"Encoding with {encoder.name}", total=len(missing)) as ticker:
            # by length, so that texts of one batch are alike; in shards, so that a kill costs little
            by_length = missing[np.argsort(view.lengths[missing], kind="stable")]
            for start in range(0, len(by_length), SHARD_ROWS):
                rows = by_length[start : start + SHARD_ROWS]
                shard = _write_shard(folder, [keys[row] for row in rows], view, rows, request)
                known.update({keys[row]: (shard, place) for place, row in enumerate(rows)})
                ticker.advance(len(rows))
    return _exchange(_gather([known[key] for key in keys], request), exchanged)


def _in_text_order(view: PieceView) -> tuple[PieceView, NDArray[np.bool_]]:
    """The view with A before B in every row, and which rows that changed."""
    starts = view.mentions[..., 0]
    exchanged = starts[:, 1] > starts[:, 2]
    mentions = view.mentions.copy()
    mentions[exchanged] = mentions[exchanged][:, [0, 2, 1]]
    return replace(view, mentions=mentions), exchanged


def _exchange(found: SpanActivations, rows: NDArray[np.bool_]) -> SpanActivations:
    """Exchange A and B in the given rows."""
    if not rows.any():
        return found
    starts = np.concatenate([[0], found.counts.ravel().cumsum()[:-1]]).reshape(-1, len(MENTIONS))
    order = np.where(rows[:, None], [0, 2, 1], np.arange(len(MENTIONS)))
    counts = np.take_along_axis(found.counts, order, axis=1)
    pieces = _ranges(np.take_along_axis(starts, order, axis=1).ravel(), counts.ravel())
    attention = found.attention.copy()
    groups = [0, 2, 1, 4, 3]
    attention[rows] = attention[rows][..., groups, :][..., groups]
    return SpanActivations(found.vectors[pieces], counts, attention)


def _keys(view: PieceView) -> list[bytes]:
    return [
        hashlib.blake2b(view.ids[view.row(row)].tobytes() + mentions.tobytes(), digest_size=16).digest()
        for row, mentions in enumerate(view.mentions)
    ]


def _write_shard(
    folder: Path, keys: list[bytes], view: PieceView, rows: NDArray[np.int64], request: Request
) -> Path:
    parts: list[list[torch.Tensor]] = [[] for _ in request.names]
    for _, tensors in forward(request, view, rows):
        for part, tensor in zip(parts, tensors, strict=True):
            part.append(tensor)
    content: dict[str, NDArray[Any]] = {
        "keys": np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, 16),
        "counts": np.diff(view.mentions[rows], axis=2)[..., 0].astype(np.int32),
    }
    for name, part in zip(request.names, parts, strict=True):
        content[name] = torch.cat(part).numpy()
    label = hashlib.blake2b(b"".join(keys) + " ".join(sorted(request.names)).encode(), digest_size=12)
    target = folder / f"{label.hexdigest()}.safetensors"
    with atomic_path(target) as temporary:
        save_file(content, temporary)
    return target


def _index(folder: Path, request: Request) -> dict[bytes, Location]:
    """Where each example lies of which everything asked for is there."""
    found: dict[bytes, Location] = {}
    for shard in sorted(folder.glob("[!.]*.safetensors")):
        with _open(shard) as tensors:
            if set(request.names) <= set(tensors.keys()):
                keys = tensors.get_tensor("keys")
                found.update({key.tobytes(): (shard, row) for row, key in enumerate(keys)})
    return found


def _gather(locations: list[Location], request: Request) -> SpanActivations:
    """Read the examples at ``locations``, in that order."""
    shards: dict[Path, list[int]] = {}
    for index, (shard, _) in enumerate(locations):
        shards.setdefault(shard, []).append(index)
    rows = np.array([row for _, row in locations], dtype=np.int64)
    counts = np.empty((len(locations), len(MENTIONS)), dtype=np.int64)
    sources: dict[Path, NDArray[np.int64]] = {}
    for shard, indices in shards.items():
        with _open(shard) as tensors:
            all_counts = tensors.get_tensor("counts").astype(np.int64)
        counts[indices] = all_counts[rows[indices]]
        sources[shard] = np.concatenate([[0], all_counts.sum(axis=1).cumsum()])
    totals = counts.sum(axis=1)
    starts = np.concatenate([[0], totals.cumsum()])
    hidden, heads = request.encoder.hidden_size, request.encoder.num_heads
    vectors = np.empty((int(starts[-1]), len(request.layers), hidden), dtype=np.float16)
    attention = np.empty(
        (len(rows), len(request.attention_layers), heads, len(GROUPS), len(GROUPS)), dtype=np.float16
    )
    for shard, indices in shards.items():
        source = _ranges(sources[shard][rows[indices]], totals[indices])
        target = _ranges(starts[:-1][indices], totals[indices])
        with _open(shard) as tensors:
            for column, layer in enumerate(request.layers):
                vectors[target, column] = tensors.get_tensor(f"vectors.{layer}")[source]
            for column, layer in enumerate(request.attention_layers):
                attention[indices, column] = tensors.get_tensor(f"attention.{layer}")[rows[indices]]
    return SpanActivations(vectors, counts, attention)


def _ranges(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions ``start .. start + size - 1`` of every pair, end to end."""
    ends = sizes.cumsum()
    return np.arange(int(sizes.sum())) + np.repeat(starts - (ends - sizes), sizes)


def _open(shard: Path) -> Any:
    try:
        return safe_open(shard, framework="numpy")
    except SafetensorError as error:
        raise DataError(
            f"damaged cache file ({error})",
            place=Place(shard),
            remedy="Delete it; what it held is computed again",
        ) from error
