"""The pronoun's cluster by each source of evidence, and where its mentions lie among word pieces.

A source is a resolver's :class:`~gapstack.corpus.clusters.Clusters` or the name of a heuristic, which puts the pronoun
and the name that it chooses into a cluster. Heuristics are the sieves of :mod:`gapstack.views.cues`, so that
``parallelism+url`` backs off to parallelism where the title says nothing, and further, as in Attree's paper (his
released code leaves rows without a titled name empty).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus
from gapstack.corpus.clusters import Cluster, Clusters, apart
from gapstack.registry import Registry
from gapstack.views.cues import Cue, decide
from gapstack.views.pieces import PieceView

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


def heuristic_clusters(corpus: Corpus, heuristic: str, parser: str | None = None) -> list[Cluster]:
    """Give {pronoun, chosen name} for each example, in order of the text; () where no name is chosen.

    Raises
    ------
    MemberError
        If no heuristic has that name.
    DataNotFoundError
        If a text has no stored parse and there is no parser.
    """
    answers = decide(corpus, HEURISTICS[heuristic], parser=parser).answers
    found: list[Cluster] = []
    for example, answer in zip(corpus, answers, strict=True):
        names = [span for span, chosen in zip((example.a, example.b), answer, strict=True) if chosen]
        found.append(apart([example.pronoun, *names]) if names else ())
    return found


def pronoun_clusters(
    corpus: Corpus, sources: Sequence[str | Clusters], parser: str | None = None
) -> list[list[Cluster]]:
    """Give the pronoun's cluster of each example by each source, (n, sources); () where a source has none.

    Raises as :func:`heuristic_clusters` does.
    """
    by_source = [
        heuristic_clusters(corpus, source, parser)
        if isinstance(source, str)
        else [source.pronoun_cluster(example) for example in corpus]
        for source in sources
    ]
    return [list(row) for row in zip(*by_source, strict=True)] if by_source else [[] for _ in corpus]


@dataclass(frozen=True, slots=True)
class ClusterPieces:
    """Pieces of the mentions in the clusters of n texts.

    Attributes
    ----------
    places : (n, N, M, T) int64
        Of N sources, at most M mentions and T pieces in each: places counted from the text's first piece, 0 where
        there is none.
    keep : (n, N, M, T) bool
        True where there is a piece. M and T are as small as the texts allow, at least 1.
    """

    places: NDArray[np.int64]
    keep: NDArray[np.bool_]


def cluster_pieces(
    view: PieceView, clusters: Sequence[Sequence[Cluster]], max_mentions: int = 20, max_pieces: int = 8
) -> ClusterPieces:
    """Find the pieces of the mentions of each text's clusters.

    Mentions that the window has cut off are left out, as are those of more than ``max_pieces`` pieces; of the rest,
    the first ``max_mentions`` of a cluster stay (both limits are Attree's). Pieces without characters, such as tags
    around a name within a mention, are no mention's.
    """
    sources = max((len(row) for row in clusters), default=0)
    found: list[tuple[int, int, int, NDArray[np.int64]]] = []
    for row, by_source in enumerate(clusters):
        chars = view.chars[view.row(row)]
        for source, cluster in enumerate(by_source):
            mentions = [
                np.flatnonzero((chars[:, 0] < end) & (chars[:, 1] > start)).astype(np.int64)
                for start, end in cluster
            ]
            fit = [pieces for pieces in mentions if 0 < len(pieces) <= max_pieces]
            found += [(row, source, place, pieces) for place, pieces in enumerate(fit[:max_mentions])]
    shape = (
        *(len(clusters), sources),
        max((place + 1 for _, _, place, _ in found), default=1),
        max((len(pieces) for *_, pieces in found), default=1),
    )
    places, keep = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
    for row, source, place, pieces in found:
        places[row, source, place, : len(pieces)] = pieces
        keep[row, source, place, : len(pieces)] = True
    return ClusterPieces(places, keep)
