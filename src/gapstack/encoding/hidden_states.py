"""Hidden states of all pieces of a text from a frozen encoder: computed once, cached on disk.

The key is the window, that is the ids of its pieces, special ones included and mentions aside, so that all members,
folds and corpora with the same window share it, also with names exchanged. The folder's name identifies the encoder,
the precision and all else that decides the bits.

One layer of 1,000 GAP snippets (97 pieces each) is 75 MB for the embedded encoder (384 wide) and 200 MB for BERT-large
(1,024); all of GAP, 4,454 snippets, is 330 and 890 MB a layer. Only requested layers are stored; ``hidden`` in the
cache folder may be deleted at any time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from gapstack.encoding.encoders import Encoder
from gapstack.encoding.frozen import Request, computed_by, computes_in, encode
from gapstack.encoding.pieces import PieceView
from gapstack.encoding.shards import Ragged, Shards, content_key
from gapstack.files import cache_root


def hidden_states(
    view: PieceView, encoder: Encoder, layers: Sequence[int] = (-1,), dtype: torch.dtype | None = None
) -> Ragged:
    """Give the hidden states of every piece of n windows, computing only what the cache does not hold.

    Raises MemberError if a layer does not exist.

    Parameters
    ----------
    layers : sequence of int
        From 0 (embeddings) up or from -1 (the last) down.
    dtype : torch.dtype, optional
        What the encoder computes in; by default bfloat16 where the device has instructions for it, else float32.

    Returns
    -------
    Ragged
        Values (pieces, layers * H) float16, layers side by side as asked for; sizes are ``view.lengths``.
    """
    depth = encoder.num_layers
    numbers = tuple(layer + depth + 1 if layer < 0 else layer for layer in layers)
    precision = dtype or computes_in()
    request = Request(encoder, numbers, whole=True, dtype=precision)
    shards = Shards(cache_root() / "hidden" / computed_by(encoder, precision))
    keys = [content_key(view.ids[view.row(row)].tobytes()) for row in range(len(view))]
    entries = shards.fetch(
        keys,
        request.vector_names,
        lambda rows, names: {
            name: Ragged(states, view.lengths[rows])
            for name, states in encode(request.only(names), view, rows).items()
        },
        view.lengths,
        f"Encoding with {encoder.name}",
    )
    values = np.empty((len(view.ids), len(numbers), encoder.hidden_size), dtype=np.float16)
    for column, name in enumerate(request.vector_names):
        values[:, column] = entries[name].values.reshape(-1, encoder.hidden_size)
    return Ragged(values.reshape(len(values), -1), view.lengths)
