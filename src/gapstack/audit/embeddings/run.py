"""Measures of a word-vector space before and after debiasing."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gapstack.audit.embeddings.clustering import Clustering
from gapstack.audit.embeddings.direct_bias import DirectBias
from gapstack.audit.embeddings.gipe import Gipe
from gapstack.audit.embeddings.measure import EmbeddingMeasure
from gapstack.audit.embeddings.recoverability import Recoverability
from gapstack.audit.embeddings.sembias import SemBias
from gapstack.audit.embeddings.weat import SingleWeat, WeatCareer, WeatMath, WeatScience
from gapstack.corpus.word_lists import Lists
from gapstack.errors import DataError, MismatchError
from gapstack.vectors.debias import DEBIASERS
from gapstack.vectors.static_vectors import Vectors
from gapstack.vectors.word_gender import Coverage

_log = logging.getLogger(__name__)

ORIGINAL = "as given"
"""Heading of the space before debiasing."""

EMBEDDING_MEASURES: dict[str, type[EmbeddingMeasure]] = {
    "direct_bias": DirectBias,
    "weat6": WeatCareer,
    "weat7": WeatMath,
    "weat8": WeatScience,
    "single_weat": SingleWeat,
    "clustering": Clustering,
    "recoverability": Recoverability,
    "gipe": Gipe,
    "sembias": SemBias,
}
"""By name, in the order of the report."""


@dataclass(frozen=True)
class EmbeddingAudit:
    """Results of an audit of word vectors.

    Attributes
    ----------
    name : str
        Of the space.
    words, dimensions : int
        Its size.
    seed : int
        Of partitions, clusters and splits.
    spaces : dict of str to str
        Description of each column, by its heading.
    figures : mapping of str to mapping
        Figures by space and measure key.
    measures : dict of str to EmbeddingMeasure
        Those that the vocabulary covers well enough.
    refused : dict of str to str
        Error messages of the others.
    """

    name: str
    words: int
    dimensions: int
    seed: int
    spaces: Mapping[str, str]
    figures: Mapping[str, Mapping[str, float]]
    measures: Mapping[str, EmbeddingMeasure]
    refused: Mapping[str, str]

    @property
    def coverage(self) -> tuple[Coverage, ...]:
        """Coverage of all word lists, each once."""
        return tuple(dict.fromkeys(part for measure in self.measures.values() for part in measure.coverage))


def audit_embeddings(
    vectors: Vectors,
    lists: Lists,
    debiasers: Sequence[str] = (),
    *,
    beside: Mapping[str, Vectors] | None = None,
    seed: int = 0,
) -> EmbeddingAudit:
    """Measure a space before debiasing and after each debiaser.

    Parameters
    ----------
    vectors : Vectors
    lists : Lists
    debiasers : sequence of str
        Keys of :data:`~gapstack.vectors.debias.DEBIASERS`; each is applied to the original space.
    beside : mapping of str to Vectors, optional
        Debiased spaces with the same words that do not come from the original by a debiaser, as GN-GloVe, by name.
    seed : int
        Of partitions, clusters and splits.

    Raises
    ------
    MismatchError
        If a space of ``beside`` has other words.
    UnknownNameError
        If there is no debiaser of a name.
    DataError
        If a debiaser cannot work on the space, or the vocabulary covers too little for every measure.
    """
    chosen = {name: DEBIASERS[name] for name in debiasers}
    measures: dict[str, EmbeddingMeasure] = {}
    refused: dict[str, str] = {}
    for name, kind in EMBEDDING_MEASURES.items():
        try:
            measures[name] = kind(vectors, lists, seed)
        except DataError as problem:
            refused[name] = str(problem)
    if not measures:
        raise DataError(f"nothing can be measured. {'. '.join(refused.values())}")
    spaces: dict[str, str] = {}
    figures: dict[str, dict[str, float]] = {}
    beside = beside or {}
    for name, space in beside.items():
        if space.words != vectors.words:
            raise MismatchError(f"{space.name} ({name}) has other words than {vectors.name}")
    for heading in (ORIGINAL, *dict.fromkeys(debiasers), *beside):
        _log.info(heading)
        space = beside.get(heading, vectors)
        if heading in chosen:
            space = chosen[heading]().apply(vectors, lists)
        spaces[heading] = space.name
        figures[heading] = {}
        for measure in measures.values():
            figures[heading] |= measure.measure(space)
    return EmbeddingAudit(
        vectors.name, len(vectors), vectors.matrix.shape[1], seed, spaces, figures, measures, refused
    )
