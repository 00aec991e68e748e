"""GREP: ProBERT with evidence of coreference resolvers pooled by attention.

Attree 2019, *Gendered Ambiguous Pronouns Shared Task: Boosting Model Confidence by Evidence Pooling*, section 3.2,
equations 1 to 11: the shared task's first place. The input is ProBERT's, tagged mentions. Each source of evidence gives
the pronoun's cluster. Pieces are pooled to mentions, mentions to a cluster, and all clusters to one vector of evidence,
which joins the pronoun's vector before the last layer. In between, the mentions attend to pronoun, A and B in turn. As
in the released code, the attended vector is added to each mention and normalised, and A's and B's layers share weights.

Differences: encoder, learning rates and windows, as for :mod:`gapstack.members.probert`. By default the sources are two
heuristics that need no resolver; files of clusters must hold the texts of changed copies and of ``extra`` and
``teacher`` too. Masks follow the paper and not the released code, where they are inverted. Swapping A and B does not
swap the probabilities exactly.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gapstack.data import Corpus, Label
from gapstack.data.clusters import Cluster, Clusters, without_overlaps
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import PieceView
from gapstack.errors import MemberError, MismatchError
from gapstack.language.cues import Cue, decide
from gapstack.language.parses import ParserName
from gapstack.members.added_pieces import tagged
from gapstack.members.fine_tuned import FineTuned
from gapstack.members.layers import inside
from gapstack.members.probert import ATTREE, MentionsHead, ReadVectors
from gapstack.resolvers.cluster_sources import ClusterNames, check_coverage, read_resolvers
from gapstack.settings import OneOf, ReadInput
from gapstack.training import PieceData, Targets
from gapstack.types import Floats, Probabilities

HEURISTICS = {
    "parallelism+url": Cue.URL,
    "parallelism": Cue.PARALLELISM,
    "syntactic_distance": Cue.SYNTACTIC_DISTANCE,
    "topical_entity": Cue.TOPICAL_ENTITY,
    "token_distance": Cue.TOKEN_DISTANCE,
}
"""Cues by their names as sources of evidence."""
HeuristicName = Annotated[str, OneOf(HEURISTICS)]


def heuristic_clusters(corpus: Corpus, heuristic: str, parser: str | None = None) -> list[Cluster]:
    """Cluster of each example: the pronoun and the chosen name, in text order; () where no name is chosen."""
    answers = decide(corpus, HEURISTICS[heuristic], parser=parser).answers
    names = [[e.a] * a + [e.b] * b for e, (a, b) in zip(corpus, answers.tolist(), strict=True)]
    pairs = zip(corpus, names, strict=True)
    return [without_overlaps([e.pronoun, *chosen]) if chosen else () for e, chosen in pairs]


def pronoun_clusters(
    corpus: Corpus, sources: Sequence[str | Clusters], parser: str | None = None
) -> list[list[Cluster]]:
    """The pronoun's cluster of each example by each source, (n, sources); () where a source has none."""
    by_source = [
        heuristic_clusters(corpus, source, parser)
        if isinstance(source, str)
        else [source.pronoun_cluster(example) for example in corpus]
        for source in sources
    ]
    return [list(row) for row in zip(*by_source, strict=True)]


def cluster_pieces(
    view: PieceView, clusters: Sequence[Sequence[Cluster]], max_mentions: int = 20, max_pieces: int = 8
) -> dict[str, NDArray[Any]]:
    """Pieces of clusters' mentions, (n, sources, mentions, pieces), 0 on padding, and their mask; Attree's limits."""
    sources = max((len(row) for row in clusters), default=0)
    entries: list[tuple[int, int, int, NDArray[np.int64]]] = []
    for row, by_source in enumerate(clusters):
        chars = view.chars[view.row(row)]
        for source, cluster in enumerate(by_source):
            mentions = [
                np.flatnonzero((chars[:, 0] < end) & (chars[:, 1] > start)).astype(np.int64)
                for start, end in cluster
            ]
            fit = [pieces for pieces in mentions if 0 < len(pieces) <= max_pieces]
            entries += [(row, source, mention, pieces) for mention, pieces in enumerate(fit[:max_mentions])]
    most = max((mention + 1 for _, _, mention, _ in entries), default=1)
    shape = len(clusters), sources, most, max((len(pieces) for *_, pieces in entries), default=1)
    places, keep = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
    for row, source, mention, pieces in entries:
        places[row, source, mention, : len(pieces)] = pieces
        keep[row, source, mention, : len(pieces)] = True
    return {"places": places, "kept": keep}


class Grep(FineTuned):
    """Tagged mentions, and three classes from the pronoun's vector and pooled evidence."""

    sources: Sequence[HeuristicName] = ("parallelism+url", "syntactic_distance")
    """Heuristics among :data:`HEURISTICS`."""
    clusters: ClusterNames = ()
    """Resolvers, one source each: see :mod:`gapstack.resolvers.cluster_sources`. After ``fit`` other files of them will
    do."""
    parser: ParserName = None
    """spaCy pipeline of the heuristics; by default ``GAP_PARSER``, else the project's own."""
    vectors: ReadVectors = "pronoun"
    """As for :class:`gapstack.members.probert.ProBERT`."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-uncased",
        "sources": ["parallelism+url"],
        "training": ATTREE,
    }
    """Add ``clusters``: the paper has three resolvers."""
    LEARNED = ("sources",)

    def reads(self) -> dict[str, ReadInput]:
        """Inputs: no parser if files of clusters are the only evidence."""
        reads = super().reads()
        if not self.sources:
            del reads["parser"]
        return reads

    def _prepare(self, corpus: Corpus) -> None:
        super()._prepare(corpus)
        pronoun_clusters(corpus, list(self._evidence(corpus).values()), self.parser)

    def _evidence(self, corpus: Corpus) -> dict[str, str | Clusters]:
        """Sources by name."""
        sources: dict[str, str | Clusters] = {name: name for name in self.sources}
        sources |= {resolver.name: resolver for resolver in read_resolvers(self.clusters, corpus)}
        if not sources:
            raise MemberError("GREP has no source of evidence; name sources or clusters, or take probert")
        return sources

    def _resolvers(self, corpus: Corpus) -> list[Clusters]:
        return [source for source in self._evidence(corpus).values() if isinstance(source, Clusters)]

    def _fit(self, corpus: Corpus) -> None:
        check_coverage(self._resolvers(corpus), corpus, fitting=True)
        super()._fit(corpus)
        self.sources_ = list(self._evidence(corpus))

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        names = self._evidence(corpus)
        if sorted(names) != sorted(self.sources_):
            raise MismatchError(
                f"the sources of evidence differ: GREP was fitted with {', '.join(self.sources_)}, and is set "
                f"to {', '.join(names)}. Give files of clusters by the same resolvers and versions"
            )
        check_coverage(self._resolvers(corpus), corpus, fitting=False)
        return super()._predict_proba(corpus)

    def resolver_weights(self, corpus: Corpus) -> Floats:
        """Weights (n, sources) of the sources in the pooled evidence, in the order of ``sources_``.

        A source without a cluster has 0. The paper shows them in figures 6 and 7. Raises as ``predict_proba``.
        """
        self._check_fitted()
        head = self.network_.head
        assert isinstance(head, EvidenceHead)
        head.returns_weights = True
        try:
            return self._logits(self._build_data(corpus.unlabelled(), self._encoder(), None))
        finally:
            head.returns_weights = False

    def _build_head(self, encoder: Encoder) -> nn.Module:
        # the width of some encoders (Qwen, Gemma) is not a multiple of their number of heads
        width, heads = encoder.hidden_size, math.gcd(encoder.hidden_size, encoder.num_heads)
        return EvidenceHead(width, heads, self.vectors)

    def _build_data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        view = tagged(corpus, encoder, self.max_pieces)
        clusters = pronoun_clusters(corpus, list(self._evidence(corpus).values()), self.parser)
        evidence = cluster_pieces(view, clusters)
        return PieceData(view, targets, evidence)


def masked_softmax(scores: Tensor, keep: Tensor) -> Tensor:
    """Softmax over the last axis where ``keep``; 0 elsewhere, and everywhere in rows that keep nothing."""
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~keep, lowest).softmax(dim=-1) * keep


class AttentionPooling(nn.Module):
    """Self-attentive pooling (equations 1 to 3): weights softmax(tanh(E W + b)), W of shape (width, 1)."""

    def __init__(self, width: int):
        super().__init__()
        self.score = nn.Linear(width, 1)
        nn.init.xavier_uniform_(self.score.weight)
        nn.init.zeros_(self.score.bias)

    def forward(self, vectors: Tensor, keep: Tensor) -> Tensor:
        """Pool vectors (..., n, H) by masks (..., g, n) into g vectors (..., g, H); zeros where nothing is kept."""
        return self.weights(vectors, keep) @ vectors

    def weights(self, vectors: Tensor, keep: Tensor) -> Tensor:
        """Weights (..., g, n) of the vectors."""
        # (..., 1, n)
        scores = torch.tanh(self.score(vectors)).mT
        return masked_softmax(scores.expand(keep.shape), keep)


def where_kept(layer: nn.Linear, vectors: Tensor, keep: Tensor) -> Tensor:
    """Map vectors (..., H) where ``keep`` (...); 0 elsewhere. Most clusters are short, so most of them are padding."""
    mapped = vectors.new_zeros(*keep.shape, layer.out_features)
    return mapped.masked_scatter(keep.unsqueeze(-1), layer(vectors[keep]))


class QueryLayer(nn.Module):
    """One transformer layer of one query over a cluster's mentions (equations 4 to 7); ``heads`` divides ``width``."""

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
        """Let mentions (b, N, M, H) with mask (b, N, M) attend to the query (b, H)."""
        size = query.shape[-1] // self.heads
        # (b, h, d)
        queries = self.query(query).unflatten(-1, (self.heads, size))
        # (b, N, M, h, d)
        keys = where_kept(self.key, mentions, keep).unflatten(-1, (self.heads, size))
        values = where_kept(self.value, mentions, keep).unflatten(-1, (self.heads, size))
        # (b, N, h, M)
        scores = torch.einsum("bhd,bnmhd->bnhm", queries, keys) / math.sqrt(size)
        weights = masked_softmax(scores, keep.unsqueeze(2))
        # (b, N, 1, H)
        gathered = torch.einsum("bnhm,bnmhd->bnhd", weights, values).flatten(-2).unsqueeze(2)
        attended = self.norm(mentions + self.dropout(self.out(gathered)))
        return torch.tanh(where_kept(self.feed, attended, keep))


class EvidencePooling(nn.Module):
    """The clusters of N resolvers, in any order, pooled to one vector (equations 1 to 9)."""

    def __init__(self, width: int, heads: int, dropout: float = 0.1):
        super().__init__()
        self.of_pieces, self.of_mentions, self.of_resolvers = (AttentionPooling(width) for _ in range(3))
        self.about_pronoun = QueryLayer(width, heads, dropout)
        self.about_name = QueryLayer(width, heads, dropout)

    def forward(self, hidden: Tensor, mentions: Tensor, places: Tensor, kept: Tensor) -> Tensor:
        """Evidence (b, H), 0 without a cluster; the last two arguments are :func:`cluster_pieces`."""
        return self.of_resolvers(*self._resolvers(hidden, mentions, places, kept)).squeeze(1)

    def weights(self, hidden: Tensor, mentions: Tensor, places: Tensor, kept: Tensor) -> Tensor:
        """Weights (b, N) of the resolvers."""
        return self.of_resolvers.weights(*self._resolvers(hidden, mentions, places, kept)).squeeze(1)

    def _resolvers(
        self, hidden: Tensor, mentions: Tensor, places: Tensor, kept: Tensor
    ) -> tuple[Tensor, Tensor]:
        """A vector of each resolver, (b, N, H), and which of them have a cluster, (b, 1, N)."""
        length = hidden.shape[1]
        # (b, H) each
        pronoun, a, b = self.of_pieces(hidden, inside(mentions, length)).unbind(1)
        # mask (b, N, M, L) of the clusters' pieces; padding goes to a column that is cut off
        marks = torch.zeros(*places.shape[:3], length + 1, dtype=torch.bool, device=places.device)
        marks = marks.scatter_(-1, torch.where(kept, places, length), True)[..., :length]
        # (b, N, M, H)
        cluster = self.of_pieces(hidden, marks.flatten(1, 2)).unflatten(1, places.shape[1:3])
        # (b, N, M)
        keep = kept.any(-1)
        for query, layer in ((pronoun, self.about_pronoun), (a, self.about_name), (b, self.about_name)):
            cluster = layer(query, cluster, keep)
        return self.of_mentions(cluster, keep.unsqueeze(2)).squeeze(2), keep.any(-1).unsqueeze(1)


class EvidenceHead(MentionsHead):
    """ProBERT's logits plus a linear map of the evidence (equations 10 and 11)."""

    def __init__(self, width: int, heads: int, vectors: ReadVectors = "pronoun", dropout: float = 0.1):
        super().__init__(width, vectors, dropout)
        self.evidence = EvidencePooling(width, heads, dropout)
        self.of_evidence = nn.Linear(width, len(Label), bias=False)
        nn.init.xavier_uniform_(self.of_evidence.weight)
        self.returns_weights = False

    def forward(self, hidden: Tensor, mentions: Tensor, places: Tensor, kept: Tensor, **_: Tensor) -> Tensor:
        """Return logits (b, 3), or :meth:`EvidencePooling.weights`; for the inputs see :class:`EvidencePooling`."""
        if self.returns_weights:
            return self.evidence.weights(hidden, mentions, places, kept)
        evidence = self.evidence(hidden, mentions, places, kept)
        return self.of_mentions(hidden, mentions) + self.of_evidence(self.dropout(evidence))
