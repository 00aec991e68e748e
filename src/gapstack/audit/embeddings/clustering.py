"""Whether the most biased words still fall into two groups by gender (Gonen & Goldberg 2019, section 4)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import v_measure_score

from gapstack.audit.embeddings.measure import Yardstick
from gapstack.audit.suite import Measure
from gapstack.corpus.word_lists import Lists
from gapstack.vectors.static_vectors import Matrix, Vectors
from gapstack.vectors.word_gender import most_biased


def cluster_alignment(unit: Matrix, feminine: NDArray[np.bool_], seed: int = 0) -> tuple[float, float]:
    """Accuracy (the better of the two namings) and V-measure of two k-means clusters, in percent."""
    found = KMeans(n_clusters=2, n_init=10, random_state=seed).fit_predict(unit)
    accuracy = float((found == feminine).mean())
    return 100 * max(accuracy, 1 - accuracy), 100 * float(v_measure_score(feminine, found))


class Clustering(Yardstick):
    """The words that were most biased in the original space, 500 on either side."""

    title = "Clustering of the most biased words"
    paper = "Gonen & Goldberg 2019"
    measures = (Measure("kmeans", "k-means accuracy, %"), Measure("v_measure", "V-measure, %", 2))

    def __init__(self, original: Vectors, lists: Lists, seed: int = 0):
        self.seed = seed
        self.biased = most_biased(original, lists, 500)
        self.note = self.biased.note

    def measure(self, space: Vectors) -> Mapping[str, float]:
        """Of the same words, wherever the space has them now."""
        accuracy, v = cluster_alignment(space.unit[self.biased.rows], self.biased.feminine, self.seed)
        return {"kmeans": accuracy, "v_measure": v}
