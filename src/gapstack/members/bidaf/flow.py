"""Bi-directional attention flow (Seo et al. 2017, section 2, equations 1 and 2) where the query is one vector."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class AttentionFlow(nn.Module):
    """Attention between one query and the places of a context.

    The similarity of place j is ``c_j . w_c + q . w_q + (c_j * w) . q``. With one query, attention from context to
    query gives every place q itself. Attention from query to context gives ``h``, the sum of the places weighted by the
    softmax of their similarities. (The term of ``w_q``, constant over places, changes no weight; it is the paper's.)

    Parameters
    ----------
    width : int
        H, of the vectors.
    """

    def __init__(self, width: int):
        super().__init__()
        self.context = nn.Linear(width, 1, bias=False)
        self.query = nn.Linear(width, 1, bias=False)
        self.both = nn.Parameter(torch.randn(width) * width**-0.5)

    def similarity(self, context: Tensor, query: Tensor) -> Tensor:
        """Give the similarity of each place, (b, L), for contexts (b, L, H) and queries (b, H)."""
        # (b, H)
        direction = self.context.weight + self.both * query
        return torch.einsum("blh,bh->bl", context, direction) + self.query(query)

    def attended(self, context: Tensor, query: Tensor, keep: Tensor) -> Tensor:
        """Give the context attended to by each query, (b, H); mask ``keep`` (b, L) is True on places."""
        weights = self.similarity(context, query).masked_fill(~keep, -torch.inf).softmax(dim=-1)
        return torch.einsum("bl,blh->bh", weights, context)

    @staticmethod
    def merged(context: Tensor, query: Tensor, attended: Tensor) -> Tensor:
        """Give [c; q; c * q; c * h] (m, 4 H) for m places (m, H), each with its query and attended context."""
        return torch.cat([context, query, context * query, context * attended], dim=-1)
