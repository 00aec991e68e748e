"""The pronoun's cluster by each source of evidence, and the word pieces of its mentions.

A source is a resolver's :class:`~gapstack.resolvers.clusters.Clusters` or a heuristic of :mod:`gapstack.text.cues`,
whose cluster is the pronoun and the name it chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from gapstack.data import Corpus
from gapstack.encoding.pieces import PieceView
from gapstack.registry import Registry
from gapstack.resolvers.clusters import Cluster, Clusters, without_overlaps
from gapstack.settings import OneOf
from gapstack.text.cues import Cue, decide

HEURISTICS: Registry[Cue] = Registry(
    "heuristic",
    {
        "parallelism+url": Cue.URL,
        "parallelism": Cue.PARALLELISM,
        "syntactic_distance": Cue.SYNTACTIC_DISTANCE,
        "topical_entity": Cue.TOPICAL_ENTITY,
        "token_distance": Cue.TOKEN_DISTANCE,
    },
)
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
    return [list(row) for row in zip(*by_source, strict=True)] if by_source else [[] for _ in corpus]


@dataclass(frozen=True, slots=True)
class ClusterPieces:
    """Pieces of the mentions in the clusters of n texts, (n, sources, mentions, pieces), padded."""

    places: NDArray[np.int64]
    """Indices of the pieces in the text, 0 on padding."""
    keep: NDArray[np.bool_]
    """True on pieces."""


def cluster_pieces(
    view: PieceView, clusters: Sequence[Sequence[Cluster]], max_mentions: int = 20, max_pieces: int = 8
) -> ClusterPieces:
    """Map the mentions of each text's clusters to word pieces.

    Mentions outside the window and those of more than ``max_pieces`` pieces are dropped; of the rest, the first
    ``max_mentions`` of a cluster are used (both limits are Attree's).
    """
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
    return ClusterPieces(places, keep)
