"""Frozen activations of mention pieces: computed once per text, kept on disk by content.

What is kept is the output of chosen layers at the pieces of pronoun, A and B, in float16. The key of an
example is its window (piece ids) and where its mentions lie in it; the folder's name is the encoder's
fingerprint. So any subset, fold or other corpus with the same texts and mentions finds what is there, and
only the rest is computed.

On disk: shards of up to 512 examples, each one safetensors file that is written whole or not at all and never
changed; a run that is killed loses at most the shard it was working on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from gapstack.corpus import Corpus
from gapstack.errors import DataError, MemberError, Place
from gapstack.files import atomic_path, cache_root
from gapstack.progress import progress
from gapstack.views.encoders import Encoder
from gapstack.views.pieces import MENTIONS, PieceView, align

SHARD_ROWS = 512
# Pieces in a batch, padding included. Small enough on a CPU for a layer's inputs to stay in its caches
# (measured with benchmarks/frozen_features.py); a GPU wants many more.
CPU_BUDGET, GPU_BUDGET = 1024, 65536
# Families whose k-th hidden state does not depend on there being a layer k + 1. Others end in a final norm
# that would move to the last layer left, so for them no layer is left out.
_CUTTABLE = {"bert", "roberta", "xlm-roberta", "camembert", "electra"}

Location = tuple[Path, int]
"""A shard and a row of it."""


@dataclass(frozen=True, slots=True)
class SpanActivations:
    """Vectors of the pieces of pronoun, A and B, in that order, of n examples, end to end.

    Attributes
    ----------
    layers : tuple of int
        0 is the embeddings' output, ``num_layers`` the last layer.
    vectors : (pieces, layers, hidden) float16
    counts : (n, 3) int64
        Pieces of pronoun, A and B; an example's pieces follow each other in that order.
    """

    layers: tuple[int, ...]
    vectors: NDArray[np.float16]
    counts: NDArray[np.int64]

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
    corpus: Corpus, encoder: Encoder, layers: Sequence[int], *, max_pieces: int | None = None
) -> SpanActivations:
    """Give the frozen activations of a corpus, computing only what the cache does not hold.

    Runs in bfloat16 on a GPU or on a CPU with instructions for it, in float32 elsewhere; results are the same
    within bfloat16's precision and share one cache.

    Parameters
    ----------
    corpus : Corpus
    encoder : Encoder
    layers : sequence of int
        From 0 (embeddings) to ``encoder.num_layers``. One forward pass gives all of them and stops at the
        highest.
    max_pieces : int, optional
        Window, as in :func:`~gapstack.views.pieces.align`.

    Raises
    ------
    MemberError
        If a layer does not exist or a mention cannot be aligned.
    DataError
        If a cache file is damaged.
    """
    layers = tuple(layers)
    wrong = [layer for layer in layers if not 0 <= layer <= encoder.num_layers]
    if wrong or not layers:
        raise MemberError(
            f"encoder {encoder.name} has layers 0 to {encoder.num_layers}; asked for {wrong or 'none'}"
        )
    view = align(corpus, encoder, max_pieces)
    keys = _keys(view)
    folder = cache_root() / "activations" / encoder.fingerprint
    known = _index(folder, layers)
    first_row = {key: row for row, key in reversed(list(enumerate(keys)))}
    missing = np.array([row for key, row in first_row.items() if key not in known], dtype=np.int64)
    if len(missing):
        with progress(f"Encoding with {encoder.name}", total=len(missing)) as ticker:
            # by length, so that texts of one batch are alike; in shards, so that a kill costs little
            by_length = missing[np.argsort(view.lengths[missing], kind="stable")]
            for start in range(0, len(by_length), SHARD_ROWS):
                rows = by_length[start : start + SHARD_ROWS]
                shard = _write_shard(folder, [keys[row] for row in rows], view, rows, encoder, layers)
                known.update({keys[row]: (shard, place) for place, row in enumerate(rows)})
                ticker.advance(len(rows))
    return _gather([known[key] for key in keys], layers, encoder.hidden_size)


def batches(lengths: NDArray[np.int64], budget: int) -> Iterator[NDArray[np.int64]]:
    """Split positions 0..n-1 into runs whose padded size, count times longest, stays within ``budget``.

    A text longer than the budget is a batch of its own. Wants ``lengths`` sorted to waste little.
    """
    start, longest = 0, 0
    for end, length in enumerate(lengths):
        longest = max(longest, int(length))
        if end > start and longest * (end + 1 - start) > budget:
            yield np.arange(start, end)
            start, longest = end, int(length)
    if start < len(lengths):
        yield np.arange(start, len(lengths))


def forward(
    encoder: Encoder, view: PieceView, rows: NDArray[np.int64], layers: Sequence[int]
) -> Iterator[tuple[NDArray[np.int64], list[torch.Tensor]]]:
    """Run the texts ``rows`` of a view through the frozen encoder, batch by batch, in the order given.

    Yields the rows of each batch and, for each layer, its output (batch, longest, hidden).
    """
    model, device = _frozen_model(encoder, max(layers))
    budget = CPU_BUDGET if device.type == "cpu" else GPU_BUDGET
    lengths = view.lengths
    for batch in batches(lengths[rows], budget):
        chosen = rows[batch]
        longest = int(lengths[chosen].max())
        keep = np.arange(longest) < lengths[chosen, None]
        ids = np.zeros((len(chosen), longest), dtype=np.int64)
        ids[keep] = np.concatenate([view.ids[view.row(row)] for row in chosen])
        with torch.inference_mode():
            states = model(
                input_ids=torch.from_numpy(ids).to(device),
                # without a mask attention takes its fastest path
                attention_mask=None if keep.all() else torch.from_numpy(keep.astype(np.int64)).to(device),
                output_hidden_states=True,
            ).hidden_states
        yield chosen, [states[layer] for layer in layers]


@lru_cache(maxsize=2)
def _frozen_model(encoder: Encoder, depth: int) -> tuple[Any, torch.device]:
    """The encoder up to layer ``depth``, on the fastest device and in the fastest precision there."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    quick = device.type == "cuda" or _cpu_has_bfloat16()
    options: dict[str, Any] = {"dtype": torch.bfloat16 if quick else torch.float32}
    if encoder.config.get("model_type") in _CUTTABLE:
        options["num_hidden_layers"] = max(depth, 1)
    return encoder.fresh_model(**options).eval().requires_grad_(False).to(device), device


def _cpu_has_bfloat16() -> bool:
    """Whether the CPU multiplies bfloat16 in hardware; emulated, it would be slower than float32."""
    return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()


def _keys(view: PieceView) -> list[bytes]:
    return [
        hashlib.blake2b(view.ids[view.row(row)].tobytes() + mentions.tobytes(), digest_size=16).digest()
        for row, mentions in enumerate(view.mentions)
    ]


def _write_shard(
    folder: Path,
    keys: list[bytes],
    view: PieceView,
    rows: NDArray[np.int64],
    encoder: Encoder,
    layers: tuple[int, ...],
) -> Path:
    vectors: list[list[torch.Tensor]] = [[] for _ in layers]
    for chosen, states in forward(encoder, view, rows, layers):
        places = [
            np.arange(*view.mentions[row, mention]) for row in chosen for mention in range(len(MENTIONS))
        ]
        owners = np.repeat(np.arange(len(chosen)).repeat(len(MENTIONS)), [len(place) for place in places])
        at = torch.from_numpy(owners), torch.from_numpy(np.concatenate(places))
        for column, state in zip(vectors, states, strict=True):
            column.append(state[at].to(device="cpu", dtype=torch.float16))
    tensors: dict[str, NDArray[Any]] = {
        "keys": np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, 16),
        "counts": np.diff(view.mentions[rows], axis=2)[..., 0].astype(np.int32),
    }
    for layer, column in zip(layers, vectors, strict=True):
        tensors[f"layer.{layer}"] = torch.cat(column).numpy()
    name = hashlib.blake2b(b"".join(keys) + str(sorted(layers)).encode(), digest_size=12).hexdigest()
    target = folder / f"{name}.safetensors"
    with atomic_path(target) as temporary:
        save_file(tensors, temporary)
    return target


def _index(folder: Path, layers: tuple[int, ...]) -> dict[bytes, Location]:
    """Where each example lies of which all the layers are there."""
    found: dict[bytes, Location] = {}
    wanted = {f"layer.{layer}" for layer in layers}
    for shard in sorted(folder.glob("[!.]*.safetensors")):
        with _open(shard) as tensors:
            if wanted <= set(tensors.keys()):
                keys = tensors.get_tensor("keys")
                found.update({key.tobytes(): (shard, row) for row, key in enumerate(keys)})
    return found


def _gather(locations: list[Location], layers: tuple[int, ...], hidden: int) -> SpanActivations:
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
    vectors = np.empty((int(starts[-1]), len(layers), hidden), dtype=np.float16)
    for shard, indices in shards.items():
        source = _ranges(sources[shard][rows[indices]], totals[indices])
        target = _ranges(starts[:-1][indices], totals[indices])
        with _open(shard) as tensors:
            for column, layer in enumerate(layers):
                vectors[target, column] = tensors.get_tensor(f"layer.{layer}")[source]
    return SpanActivations(layers, vectors, counts)


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
