"""GREP: ProBERT with evidence of coreference resolvers pooled by attention.

Attree 2019, *Gendered Ambiguous Pronouns Shared Task: Boosting Model Confidence by Evidence Pooling*, section 3.2: the
shared task's first place. The input is ProBERT's, tagged mentions; each source of evidence gives the pronoun's
cluster, and :mod:`gapstack.members.parts.evidence` pools all of them to one vector beside the pronoun's own.

The paper reports, on GAP test with *its own corrected labels*, F1 89.0 and logloss .350 for BERT-base (ProBERT: 87.8
and .382), 92.5 and .317 for BERT-large uncased (89.7 and .376), trained on development and stopped by validation, with
evidence of Parallelism+URL, AllenNLP's and Lee et al.'s resolvers and neuralcoref. Its Kaggle run, stage 2 logloss
.137 from 50 models, had a mistake in the masks and saw little of the evidence (its own footnote).

Over the embedded encoder with the two default sources, one fold of GAP development and validation held out (fold 0 of
5, seed 0, 491 rows, official labels): logloss .716, F1 74.6, where ProBERT has .767 and 69.3, and the URL cue by
itself, calibrated, .744 and 77.3.

What differs here:

- Encoder, learning rates and windows, as for :mod:`gapstack.members.probert`; :data:`PUBLISHED` has the paper's
  recipe.
- Sources: by default the two heuristics that need no resolver. Resolvers come as files of clusters; mentions outside
  the window are no evidence.
- The paper's equations rather than the released code, without its three mistakes; see
  :mod:`gapstack.members.parts.evidence`, and :mod:`gapstack.encoding.cluster_pieces` for ``parallelism+url``.

Files hold clusters of certain texts. Changed copies of rows (``augment``, ``average``) and the rows of ``extra`` and
``teacher`` have that evidence only if the files hold their texts too; heuristics work on all.

Swapping A and B does *not* swap the probabilities exactly, for ProBERT's reasons and since A's query layer precedes
B's.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from torch import nn

from gapstack.corpus import Corpus
from gapstack.encoding.cluster_pieces import cluster_pieces, pronoun_clusters
from gapstack.encoding.encoders import Encoder
from gapstack.errors import MemberError, MismatchError
from gapstack.kinds import Count, HeuristicName
from gapstack.members.member import Probabilities, State
from gapstack.members.parts.evidence import EvidenceHead
from gapstack.members.parts.fine_tuned import FineTuned
from gapstack.members.parts.tags import ATTREE, tagged
from gapstack.resolvers.clusters import Clusters
from gapstack.resolvers.recorded import read_resolvers
from gapstack.training import PieceData, Targets

PUBLISHED = {"encoder": "bert-large-uncased", "sources": ["parallelism+url"], "training": ATTREE}
"""Settings of the paper: ``create("grep", **PUBLISHED, clusters=[...])`` with files of its three resolvers."""


class Grep(FineTuned):
    """Tagged mentions, and three classes from the pronoun's vector and pooled evidence.

    Parameters
    ----------
    sources : sequence of str
        Heuristics among :data:`gapstack.encoding.cluster_pieces.HEURISTICS`.
    clusters : sequence of str
        Files of resolvers' clusters, see :mod:`gapstack.resolvers.clusters`; files of one resolver are one source.
        After ``fit`` they may be others, as of new texts, by the same resolvers.
    max_mentions, max_mention_pieces : int
        Most mentions of a cluster, and most pieces of a mention; longer mentions are left out.
    parser : str, optional
        spaCy pipeline of the heuristics; by default ``GAP_PARSER``, else the project's own.

    Attributes
    ----------
    sources_ : list of str
        Sources of evidence in ``fit``; resolvers with their versions.
    """

    sources: Sequence[HeuristicName] = ("parallelism+url", "syntactic_distance")
    clusters: Sequence[str] = ()
    max_mentions: Count = 20
    max_mention_pieces: Count = 8
    parser: str | None = None

    def reads(self) -> dict[str, Any]:
        """Leave the parser out where files of clusters are the only evidence."""
        return super().reads() | ({} if self.sources else {"parser": False})

    def _prepare(self, corpus: Corpus) -> None:
        """Parse all rows in one pass, and do the first stage, if there is one."""
        super()._prepare(corpus)
        pronoun_clusters(corpus, self.sources, self.parser)

    def coverage(self, corpus: Corpus) -> dict[str, float]:
        """Share of a corpus's rows in which each source has a cluster of the pronoun."""
        sources = self._evidence()
        clusters = pronoun_clusters(corpus, sources, self.parser)
        shares = np.array([[bool(cluster) for cluster in row] for row in clusters], dtype=bool).mean(axis=0)
        return {_name(source): float(share) for source, share in zip(sources, shares, strict=True)}

    def _evidence(self) -> list[str | Clusters]:
        sources: list[str | Clusters] = [*self.sources, *read_resolvers(self.clusters)]
        if not sources:
            raise MemberError("GREP has no source of evidence; name sources or clusters, or take probert")
        return sources

    def _fit(self, corpus: Corpus) -> None:
        sources = self._evidence()
        for name in _not_covering(sources, corpus):
            raise MemberError(
                f"the clusters of {name} have none of the {len(corpus)} texts of {corpus.name}; "
                "check that the files are of this corpus and of its original texts"
            )
        super()._fit(corpus)
        self.sources_ = [_name(source) for source in sources]

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        sources = self._evidence()
        self._check(sources)
        for name in _not_covering(sources, corpus):
            warnings.warn(
                f"{name} has clusters for none of the {len(corpus)} rows: they are predicted without its evidence",
                stacklevel=2,
            )
        return super()._predict_proba(corpus)

    def _check(self, sources: Sequence[str | Clusters]) -> None:
        """Refuse other sources than those of ``fit``, in any order."""
        names = [_name(source) for source in sources]
        if sorted(names) != sorted(self.sources_):
            raise MismatchError(
                f"the sources of evidence differ: GREP was fitted with {', '.join(self.sources_)}, and is set "
                f"to {', '.join(names)}. Give files of clusters by the same resolvers and versions"
            )

    def _head(self, encoder: Encoder) -> nn.Module:
        return EvidenceHead(encoder.hidden_size, encoder.num_heads)

    def _data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        view = tagged(corpus, encoder, self.max_pieces).view
        clusters = pronoun_clusters(corpus, self._evidence(), self.parser)
        pieces = cluster_pieces(view, clusters, self.max_mentions, self.max_mention_pieces)
        return PieceData(view, targets, {"places": pieces.places, "kept": pieces.keep})

    def _state(self) -> State:
        state = super()._state()
        state.values["sources"] = self.sources_
        return state

    def restore(self, state: State) -> Self:
        """Inverse of :meth:`state`; returns self."""
        self.sources_ = list(state.values["sources"])
        return super().restore(state)


def _not_covering(sources: Sequence[str | Clusters], corpus: Corpus) -> list[str]:
    """Names of the resolvers whose files have none of the texts."""
    return [s.name for s in sources if isinstance(s, Clusters) and not s.covers(corpus).any()]


def _name(source: str | Clusters) -> str:
    return source.name if isinstance(source, Clusters) else source
