"""Off-the-shelf resolver: whether the pronoun's cluster has A, B, both or neither, as probabilities.

Webster et al. 2018 (section 4) and Attree 2019 ask resolvers that were trained elsewhere so. neuralcoref of spring 2019
has F1 55.9 on the 1,525 texts of GAP development that it was given (up to 500 characters), and 55.1 on 1,502 of GAP
test.

A resolver says names, not probabilities. How often it is right when it names one, when it names both, when it names
neither, and what holds where it was not asked, is counted on the training rows, A and B alike, so that exchanging the
names exchanges the answers. It cannot know rows by heart: four kinds of answers are all that it tells apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus, Label
from gapstack.errors import MemberError, MismatchError
from gapstack.kinds import Positive
from gapstack.members.member import Member, Probabilities, State
from gapstack.resolvers.clusters import Clusters
from gapstack.resolvers.recorded import read_resolvers

NOT_ASKED, NOBODY, BOTH, ONE = range(4)
"""Kinds of answers."""


class Resolver(Member):
    """One resolver's clusters with calibrated probabilities.

    Parameters
    ----------
    clusters : sequence of str
        Files of one resolver, see :mod:`gapstack.resolvers.clusters`; ``gap clusters-to-gap --clusters`` writes them.
    smoothing : float
        Rows' worth of the training rows' average answer that each kind is counted with.

    Attributes
    ----------
    shares_ : (4, 3) float64
        By kind: how often the name chosen (A, where none is) is right, the other one, and NEITHER.
    coverage_ : float
        Share of the training rows that the resolver was asked about.
    resolver_ : str
        Resolver and version.

    Raises
    ------
    MemberError
        Without files, with files of several resolvers, or if they have none of the texts fitted or asked about.
    MismatchError
        If a fitted member is given files of another resolver.
    """

    clusters: Sequence[str] = ()
    smoothing: Positive = 1.0

    def decide(self, corpus: Corpus) -> NDArray[np.bool_]:
        """Raw decisions for A and B, as an (n, 2) array; needs no fit."""
        return self._read().decide(corpus)

    def _read(self) -> Clusters:
        found = read_resolvers(self.clusters)
        if len(found) != 1:
            named = ", ".join(one.name for one in found) or "none"
            raise MemberError(f"resolver takes files of one resolver's clusters; given: {named}")
        return found[0]

    def _kinds(self, corpus: Corpus) -> tuple[Clusters, NDArray[np.int64], NDArray[np.bool_]]:
        """The resolver, the (n,) kinds of its answers, and whether (n,) it is B that is chosen."""
        found = self._read()
        covered, decided = found.covers(corpus), found.decide(corpus)
        if not covered.any():
            raise MemberError(
                f"the clusters of {found.name} have none of the {len(corpus)} texts of {corpus.name}; "
                "give files that were made from these rows"
            )
        kinds = np.select(
            [~covered, decided.all(axis=1), decided.any(axis=1)], [NOT_ASKED, BOTH, ONE], NOBODY
        )
        return found, kinds.astype(np.int64), decided[:, Label.B] & ~decided[:, Label.A]

    def _fit(self, corpus: Corpus) -> None:
        found, kinds, flipped = self._kinds(corpus)
        answers = corpus.labels.copy()
        answers[flipped & (corpus.labels == Label.A)] = Label.B
        answers[flipped & (corpus.labels == Label.B)] = Label.A
        counts = np.zeros((4, len(Label)))
        np.add.at(counts, (kinds, answers), 1.0)
        counts[:ONE] = _alike(counts[:ONE])
        average = _alike(counts.sum(axis=0, keepdims=True)) + 1.0
        counts += self.smoothing * average / average.sum()
        self.shares_ = counts / counts.sum(axis=1, keepdims=True)
        self.coverage_ = float((kinds != NOT_ASKED).mean())
        self.resolver_ = found.name

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        found, kinds, flipped = self._kinds(corpus)
        if found.name != self.resolver_:
            raise MismatchError(
                f"resolver was fitted on clusters of {self.resolver_} and is given {found.name}"
            )
        answers = self.shares_[kinds]
        answers[flipped] = answers[flipped][:, [Label.B, Label.A, Label.NEITHER]]
        return np.asarray(answers)

    def _state(self) -> State:
        return State(
            {"shares": self.shares_}, values={"coverage": self.coverage_, "resolver": self.resolver_}
        )

    def _restore(self, state: State) -> None:
        self.shares_ = state.arrays["shares"]
        self.coverage_, self.resolver_ = state.values["coverage"], state.values["resolver"]


def _alike(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts (n, 3) with those of both names shared out evenly."""
    names = counts[:, : Label.NEITHER].mean(axis=1)
    return np.stack([names, names, counts[:, Label.NEITHER]], axis=1)
