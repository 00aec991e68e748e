"""The class prior: the floor that every other member must beat.

Answers each row with the label frequencies of the training rows (add-one smoothed, so that no class is
impossible).
"""

from __future__ import annotations

import numpy as np

from gapstack.corpus import Corpus, Label
from gapstack.members.member import Member, Probabilities, State


class Prior(Member):
    """Label frequencies of the training rows, for every row alike."""

    def _fit(self, corpus: Corpus) -> None:
        counts = np.bincount(corpus.labels, minlength=len(Label)) + 1.0
        self.prior_ = counts / counts.sum()

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return np.tile(self.prior_, (len(corpus), 1))

    def _state(self) -> State:
        return State(arrays={"prior": self.prior_})

    def _restore(self, state: State) -> None:
        self.prior_ = state.arrays["prior"]
