"""A coin toss between the two names: what a score is worth when nothing was read (Webster et al. 2018, "Random").

Each row's coin is a hash of its id and the seed, and it chooses between the earlier and the later name: neither
the order and company of the rows nor which name is called A matters. Like the paper's, the baseline always
names somebody. So that its logloss means something, the coin gets no more trust than it is given: the training
rows say how often the answer is a name at all, and the name drawn takes ``confidence`` of that.
"""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from gapstack.corpus import Corpus, Label
from gapstack.kinds import Confidence, Seed
from gapstack.members.member import Member, Probabilities, State


class Random(Member):
    """A or B by the toss of a coin.

    Parameters
    ----------
    confidence : float
        Share of the probability of "one of the two" that the drawn name gets; above 0.5, below 1.
    seed : int
        Seed of the coins.

    Raises
    ------
    MemberError
        From ``fit``, if ``confidence`` is out of range.
    """

    confidence: Confidence = 0.6
    seed: Seed = 0

    def _fit(self, corpus: Corpus) -> None:
        # add-one smoothed, as the prior is
        neither = np.count_nonzero(corpus.labels == Label.NEITHER)
        self.neither_ = (neither + 1) / (len(corpus) + len(Label))

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        draws_a = np.array([self._draws_earlier(e.id) == (e.a < e.b) for e in corpus])
        share_a = np.where(draws_a, self.confidence, 1 - self.confidence)
        named = np.stack([share_a, 1 - share_a], axis=1) * (1 - self.neither_)
        return np.concatenate([named, np.full((len(corpus), 1), self.neither_)], axis=1)

    def _draws_earlier(self, identifier: str) -> bool:
        digest = sha256(f"{self.seed} {identifier}".encode("utf-8", "surrogatepass")).digest()
        return digest[0] % 2 == 0

    def _state(self) -> State:
        return State(values={"neither": self.neither_})

    def _restore(self, state: State) -> None:
        self.neither_ = state.values["neither"]
