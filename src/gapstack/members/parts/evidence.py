"""Evidence pooling: many resolvers' clusters as one vector (Attree 2019, section 3.2, equations 1 to 11).

Pieces are pooled to mentions, mentions to a cluster, the resolvers' clusters to one vector of evidence, which is
concatenated to the pronoun's vector before the last layer. In between, the mentions attend to pronoun, A and B, one
after the other.

Two things the equations leave open. Attention of one query gives one vector, over which the next attention and
equation 8 would have nothing to choose; as in the released code, the attended vector is added to *each* mention and
normalised, a transformer layer's residual, so that a cluster stays a list of mentions. And A's and B's layers share
weights, the pronoun's has its own; all mentions, queries and evidence, are pooled with the same weights.

The released code differs from the paper by mistakes that this module does not have: its masks are inverted, so that
pooling reads the padding (here True means keep, and all else has weight zero); and its queries are tiled so that they
meet the mentions of other rows of a batch (here every tensor has the row first).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from gapstack.corpus import Label


def masked_softmax(scores: Tensor, keep: Tensor) -> Tensor:
    """Softmax over the last axis where ``keep``; 0 elsewhere, and everywhere in rows that keep nothing."""
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~keep, lowest).softmax(dim=-1) * keep


class AttnPool(nn.Module):
    """Self-attentive pooling (equations 1 to 3): weights softmax(tanh(E W + b)), W of shape (width, 1)."""

    def __init__(self, width: int):
        super().__init__()
        self.score = nn.Linear(width, 1)
        nn.init.xavier_uniform_(self.score.weight)
        nn.init.zeros_(self.score.bias)

    def forward(self, vectors: Tensor, keep: Tensor) -> Tensor:
        """Pool vectors (..., n, H) by masks (..., g, n) into g vectors (..., g, H); zeros where nothing is kept."""
        # (..., 1, n)
        scores = torch.tanh(self.score(vectors)).mT
        pooled: Tensor = masked_softmax(scores.expand(keep.shape), keep) @ vectors
        return pooled


class QueryLayer(nn.Module):
    """One transformer layer of one query over a cluster's mentions (equations 4 to 7).

    Parameters
    ----------
    width : int
        Of all vectors.
    heads : int
        Of the attention; must divide ``width``.
    dropout : float
    """

    def __init__(self, width: int, heads: int, dropout: float = 0.1):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out, self.feed = (nn.Linear(width, width) for _ in range(5))
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)
        for layer in (self.query, self.key, self.value, self.out, self.feed):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, query: Tensor, mentions: Tensor, keep: Tensor) -> Tensor:
        """Give mentions (b, N, M, H) that attended to query (b, H), from mentions (b, N, M, H) and mask (b, N, M)."""
        size = query.shape[-1] // self.heads
        # (b, h, d)
        queries = self.query(query).unflatten(-1, (self.heads, size))
        # (b, N, M, h, d)
        keys = self.key(mentions).unflatten(-1, (self.heads, size))
        values = self.value(mentions).unflatten(-1, (self.heads, size))
        # (b, N, h, M)
        scores = torch.einsum("bhd,bnmhd->bnhm", queries, keys) / math.sqrt(size)
        weights = masked_softmax(scores, keep.unsqueeze(2))
        # (b, N, 1, H)
        gathered = torch.einsum("bnhm,bnmhd->bnhd", weights, values).flatten(-2).unsqueeze(2)
        updated: Tensor = torch.tanh(self.feed(self.norm(mentions + self.dropout(self.out(gathered)))))
        return updated


class EvidencePooling(nn.Module):
    """The clusters of N resolvers, pooled to one vector (equations 1 to 9); their order does not matter.

    Parameters are those of :class:`QueryLayer`.
    """

    def __init__(self, width: int, heads: int, dropout: float = 0.1):
        super().__init__()
        self.of_pieces, self.of_mentions, self.of_resolvers = (AttnPool(width) for _ in range(3))
        self.about_pronoun = QueryLayer(width, heads, dropout)
        self.about_name = QueryLayer(width, heads, dropout)

    def forward(self, hidden: Tensor, mentions: Tensor, places: Tensor, kept: Tensor) -> Tensor:
        """Give evidence (b, H), zeros where no resolver has a cluster.

        Parameters
        ----------
        hidden : (b, L, H)
            The encoder's output.
        mentions : (b, 3, 2) int64
            Half-open piece ranges of pronoun, A and B.
        places, kept : (b, N, M, T) int64 and bool
            See :class:`~gapstack.encoding.cluster_pieces.ClusterPieces`.
        """
        length = hidden.shape[1]
        here = torch.arange(length, device=hidden.device)
        inside = (here >= mentions[..., :1]) & (here < mentions[..., 1:])
        # (b, H) each
        pronoun, a, b = self.of_pieces(hidden, inside).unbind(1)
        # (b, N * M, L)
        inside = _marked(places, kept, length).flatten(1, 2)
        # (b, N, M, H)
        cluster = self.of_pieces(hidden, inside).unflatten(1, places.shape[1:3])
        # (b, N, M)
        keep = kept.any(-1)
        for query, layer in ((pronoun, self.about_pronoun), (a, self.about_name), (b, self.about_name)):
            cluster = layer(query, cluster, keep)
        # (b, N, H)
        resolvers = self.of_mentions(cluster, keep.unsqueeze(2)).squeeze(2)
        evidence: Tensor = self.of_resolvers(resolvers, keep.any(-1).unsqueeze(1)).squeeze(1)
        return evidence


def _marked(places: Tensor, kept: Tensor, length: int) -> Tensor:
    """Mask (b, N, M, L) of the pieces at ``places`` (b, N, M, T) where ``kept``."""
    marks = torch.zeros(*places.shape[:3], length + 1, dtype=torch.bool, device=places.device)
    # padding goes to a column beyond the text, which is cut off again
    return marks.scatter_(-1, torch.where(kept, places, length), True)[..., :length]


class EvidenceHead(nn.Module):
    """Three classes from the pronoun's vector and the evidence (equations 10 and 11).

    The pronoun's vector goes through a dense layer with tanh first, as in :mod:`gapstack.members.probert`.

    Parameters are those of :class:`QueryLayer`.
    """

    def __init__(self, width: int, heads: int, dropout: float = 0.1):
        super().__init__()
        self.dense = nn.Linear(width, width)
        self.evidence = EvidencePooling(width, heads, dropout)
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(2 * width, len(Label))
        for layer in (self.dense, self.classifier):  # as BERT initialises
            nn.init.normal_(layer.weight, std=0.02)
            nn.init.zeros_(layer.bias)

    def forward(self, hidden: Tensor, mentions: Tensor, places: Tensor, kept: Tensor, **_: Tensor) -> Tensor:
        """Give logits (b, 3); for the inputs see :meth:`EvidencePooling.forward`."""
        first = hidden[torch.arange(len(hidden), device=hidden.device), mentions[:, 0, 0]]
        evidence = self.evidence(hidden, mentions, places, kept)
        # (b, 2 H)
        both = torch.cat([torch.tanh(self.dense(first)), evidence], dim=-1)
        logits: Tensor = self.classifier(self.dropout(both))
        return logits
