"""The class prior: label frequencies of the training rows for every row, the baseline of all other members."""

from __future__ import annotations

import numpy as np

from gapstack.corpus import Corpus
from gapstack.members.member import Probabilities
from gapstack.members.parts.learned import LearnedArrays
from gapstack.members.parts.learner import Learner, Lessons


class Prior(LearnedArrays, Learner):
    """Label frequencies of the training rows, with add-one smoothing."""

    LEARNED = ("prior",)

    def _learn(self, lessons: Lessons) -> None:
        counts = lessons.weights @ lessons.targets + 1.0
        self.prior_ = counts / counts.sum()

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return np.tile(self.prior_, (len(corpus), 1))
