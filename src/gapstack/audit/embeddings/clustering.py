"""Whether the most biased words still cluster by gender (Gonen & Goldberg 2019, section 4)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import v_measure_score

from gapstack.audit.embeddings.measure import EmbeddingMeasure
from gapstack.audit.suite import Measure
from gapstack.corpus.word_lists import Lists
from gapstack.types import Matrix
from gapstack.vectors.static_vectors import Vectors
from gapstack.vectors.word_gender import most_biased


def cluster_alignment(unit: Matrix, feminine: NDArray[np.bool_], seed: int = 0) -> tuple[float, float]:
    """Accuracy (of the better assignment) and V-measure of two k-means clusters, in percent."""
    clusters = KMeans(n_clusters=2, n_init=10, random_state=seed).fit_predict(unit)
    accuracy = float((clusters == feminine).mean())
    return 100 * max(accuracy, 1 - accuracy), 100 * float(v_measure_score(feminine, clusters))


class Clustering(EmbeddingMeasure):
    """Clustering of the 500 words most biased in the original space on either side."""

    title = "Clustering of the most biased words"
    paper = "Gonen & Goldberg 2019"
    measures = (Measure("kmeans", "k-means accuracy, %"), Measure("v_measure", "V-measure, %", 2))

    def __init__(self, original: Vectors, lists: Lists, seed: int = 0):
        self.seed = seed
        self.biased = most_biased(original, lists, 500)
        self.note = self.biased.note

    def measure(self, space: Vectors) -> Mapping[str, float]:
        """See :class:`EmbeddingMeasure`."""
        accuracy, v = cluster_alignment(space.unit[self.biased.rows], self.biased.feminine, self.seed)
        return {"kmeans": accuracy, "v_measure": v}
