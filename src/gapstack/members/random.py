"""A coin toss between the two names: the random baseline of Webster et al. 2018 ("Random").

Each row's coin is a hash of its id and the seed, and it chooses between the earlier and the later name, so neither the
other rows nor which name is called A matter. As in the paper, a name is always chosen. For a meaningful logloss
NEITHER gets its frequency in the training rows, and the chosen name ``confidence`` of the rest.
"""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from gapstack.corpus import Corpus, Label
from gapstack.kinds import Confidence, Seed
from gapstack.members.member import Probabilities, State
from gapstack.members.parts.learner import Learner, Lessons


class Random(Learner):
    """A or B at random.

    Parameters
    ----------
    confidence : float
        The chosen name's share of the probability of both; above 0.5, below 1.
    seed : int
        Of the coins.
    extra, teacher, gold_weight
        See :class:`~gapstack.members.parts.learner.Learner`; only how often NEITHER is right is learned.
    """

    confidence: Confidence = 0.6
    seed: Seed = 0

    def _learn(self, lessons: Lessons) -> None:
        # add-one smoothing, as for the prior
        neither = float(lessons.weights @ lessons.targets[:, Label.NEITHER])
        self.neither_ = (neither + 1) / (len(lessons) + len(Label))

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
