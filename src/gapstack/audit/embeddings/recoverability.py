"""Whether a classifier learns on which side the most biased words stood (Gonen & Goldberg 2019, section 4)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from gapstack.audit.embeddings.measure import Yardstick
from gapstack.audit.suite import Measure
from gapstack.corpus.word_lists import Lists
from gapstack.vectors.static_vectors import Matrix, Vectors
from gapstack.vectors.word_gender import most_biased

_TRAINING_SHARE = 0.2  # 1,000 of the paper's 5,000 words


def recovered(unit: Matrix, feminine: NDArray[np.bool_], kernel: str, seed: int = 0) -> float:
    """Accuracy in percent, on the words that it did not learn from, of an SVM with that kernel."""
    learn, ask = train_test_split(
        np.arange(len(unit)), train_size=_TRAINING_SHARE, stratify=feminine, random_state=seed
    )
    machine = SVC(kernel=kernel).fit(unit[learn], feminine[learn])
    return 100 * float(machine.score(unit[ask], feminine[ask]))


class Recoverability(Yardstick):
    """The words that were most biased in the original space, 2,500 on either side."""

    title = "Recoverability of the most biased words"
    paper = "Gonen & Goldberg 2019"
    measures = (Measure("linear_svm", "linear SVM accuracy, %"), Measure("rbf_svm", "RBF SVM accuracy, %"))

    def __init__(self, original: Vectors, lists: Lists, seed: int = 0):
        self.seed = seed
        self.biased = most_biased(original, lists, 2500)
        self.note = self.biased.note

    def measure(self, space: Vectors) -> Mapping[str, float]:
        """Of the same words, wherever the space has them now."""
        unit = space.unit[self.biased.rows]
        return {
            f"{kernel}_svm": recovered(unit, self.biased.feminine, kernel, self.seed)
            for kernel in ("linear", "rbf")
        }
