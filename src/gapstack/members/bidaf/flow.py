"""Bi-directional attention flow (Seo et al. 2017, section 2, equations 1 and 2) where the query is one vector."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class AttentionFlow(nn.Module):
    """What a query has to do with each place of a context, and what it finds in all of them.

    Similarity of place j is ``c_j . w_c + q . w_q + (c_j * w) . q``. With one query, attention from the context to
    it has nothing to choose: every place gets q itself. The query attends to the places by the softmax of their
    similarities and finds ``h``, the sum of the places so weighted. (The term of ``w_q`` is the same at all
    places and so changes no weight; it stands here as it stands in the paper.)

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
        """Give the similarity of each place, (b, L), for a context (b, L, H) and queries (b, H)."""
        # (b, H): what each place is multiplied with
        direction = self.context.weight + self.both * query
        return torch.einsum("blh,bh->bl", context, direction) + self.query(query)

    def found(self, context: Tensor, query: Tensor, keep: Tensor) -> Tensor:
        """Give what each query finds in its context, (b, H); mask ``keep`` (b, L) is True on places."""
        weights = self.similarity(context, query).masked_fill(~keep, -torch.inf).softmax(dim=-1)
        return torch.einsum("bl,blh->bh", weights, context)

    @staticmethod
    def merged(context: Tensor, query: Tensor, found: Tensor) -> Tensor:
        """Give [c; q; c * q; c * h] (m, 4 H) for m places (m, H) with the query and the find of each."""
        return torch.cat([context, query, context * query, context * found], dim=-1)
