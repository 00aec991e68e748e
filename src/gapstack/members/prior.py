"""The class prior: label frequencies of the training rows for every row, the baseline of all other members."""

from __future__ import annotations

import numpy as np

from gapstack.corpus import Corpus, Label
from gapstack.members.member import Member, Probabilities
from gapstack.members.parts.learned import LearnedArrays


class Prior(LearnedArrays, Member):
    """Label frequencies of the training rows, with add-one smoothing."""

    LEARNED = ("prior",)

    def _fit(self, corpus: Corpus) -> None:
        counts = np.bincount(corpus.labels, minlength=len(Label)) + 1.0
        self.prior_ = counts / counts.sum()

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return np.tile(self.prior_, (len(corpus), 1))
