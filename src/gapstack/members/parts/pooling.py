"""Pooling of pieces' hidden states to a vector for each mention.

Mention ranges are half-open piece ranges (b, m, 2), as batches have them (pronoun, A, B), none of them empty.
"""

from __future__ import annotations

import torch
from torch import Tensor

from gapstack.members.parts.evidence import masked_softmax


def first_pieces(hidden: Tensor, mentions: Tensor) -> Tensor:
    """Vectors (b, m, D) of each mention's first piece, from hidden states (b, L, D)."""
    rows = torch.arange(len(hidden), device=hidden.device)[:, None]
    return hidden[rows, mentions[..., 0]]


def mention_pieces(hidden: Tensor, mentions: Tensor) -> tuple[Tensor, Tensor]:
    """Gather each mention's pieces: vectors (b, m, W, D), W of the longest, and their mask (b, m, W)."""
    start, end = mentions[..., :1], mentions[..., 1:]
    # (b, m, W)
    at = start + torch.arange(int((end - start).max()), device=hidden.device)
    keep = at < end
    rows = torch.arange(len(hidden), device=hidden.device)[:, None, None]
    return hidden[rows, torch.minimum(at, end - 1)], keep


def mean_of_pieces(vectors: Tensor, keep: Tensor) -> Tensor:
    """Mean (..., D) of the vectors (..., W, D) that ``keep`` (..., W) marks, at least one of each."""
    weights = keep / keep.sum(-1, keepdim=True)
    return (weights[..., None] * vectors).sum(-2)


def query_attention(
    vectors: Tensor, keep: Tensor, query: Tensor, scores_from: Tensor | None = None
) -> Tensor:
    """Attention without parameters (Wang 2019): the sum of vectors weighted by softmax(vectors . query / sqrt(D)).

    All but the last two axes broadcast.

    Parameters
    ----------
    vectors : (..., W, D)
    keep : (..., W)
        Mask, True on at least one.
    query : (..., D)
    scores_from : (..., W, D), optional
        Vectors to compare with the query (a copy with dropout), if not ``vectors``.

    Returns
    -------
    (..., D)
    """
    compared = vectors if scores_from is None else scores_from
    scores = (compared * query[..., None, :]).sum(-1) / vectors.shape[-1] ** 0.5
    return (masked_softmax(scores, keep)[..., None] * vectors).sum(-2)


def inclusive(mentions: Tensor) -> Tensor:
    """Ranges (b, m, 2) with inclusive ends, as allennlp's span extractors take them."""
    return torch.stack([mentions[..., 0], mentions[..., 1] - 1], dim=-1)
