"""Gender bias in word vectors: measures and debiasers.

:func:`audit_embeddings` computes the :data:`EMBEDDING_MEASURES` of a space (:func:`read_vectors`), before and after
debiasing with any of :data:`DEBIASERS`; :mod:`gapstack.report.embeddings` shows them.
"""

from gapstack.audit.embeddings.measure import EmbeddingMeasure
from gapstack.audit.embeddings.run import EMBEDDING_MEASURES, ORIGINAL, EmbeddingAudit, audit_embeddings
from gapstack.corpus.word_lists import Lists, read_lists
from gapstack.vectors.debias import DEBIASERS
from gapstack.vectors.debias.debiaser import Debiaser
from gapstack.vectors.static_vectors import Vectors, read_vectors, write_vectors
from gapstack.vectors.word_gender import Coverage

__all__ = [
    "DEBIASERS",
    "EMBEDDING_MEASURES",
    "ORIGINAL",
    "Coverage",
    "Debiaser",
    "EmbeddingAudit",
    "EmbeddingMeasure",
    "Lists",
    "Vectors",
    "audit_embeddings",
    "read_lists",
    "read_vectors",
    "write_vectors",
]
