"""Gender in word vectors: measures of it, and debiasers.

:func:`audit_embeddings` takes every measure of :data:`YARDSTICKS` of a space (:func:`read_vectors`) as it is and
after each of :data:`DEBIASERS`; :mod:`gapstack.report.embeddings` shows them.
"""

from gapstack.audit.embeddings.measure import Yardstick
from gapstack.audit.embeddings.run import ORIGINAL, YARDSTICKS, EmbeddingAudit, audit_embeddings
from gapstack.corpus.word_lists import Lists, read_lists
from gapstack.vectors.debias import DEBIASERS, Debiaser
from gapstack.vectors.static_vectors import Vectors, read_vectors, write_vectors
from gapstack.vectors.word_gender import Coverage

__all__ = [
    "DEBIASERS",
    "ORIGINAL",
    "YARDSTICKS",
    "Coverage",
    "Debiaser",
    "EmbeddingAudit",
    "Lists",
    "Vectors",
    "Yardstick",
    "audit_embeddings",
    "read_lists",
    "read_vectors",
    "write_vectors",
]
