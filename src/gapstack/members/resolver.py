"""Off-the-shelf resolver: whether the pronoun's cluster has A, B, both or neither, calibrated on the training rows.

Webster et al. 2018 (section 4) and Attree 2019 evaluate pre-trained resolvers so; the former align mentions by their
head words, this member by all words (:meth:`gapstack.data.clusters.Clusters.decide`). The probabilities are class
frequencies in the training rows for each of four kinds of output (one name, both, neither, text not covered), A and B
together, so that swapping the names swaps the probabilities. It cannot memorise rows. Rows without an output get the
frequencies of the training rows without one, or of all.
"""

import numpy as np

from gapstack.data import Corpus, Label
from gapstack.data.clusters import Clusters
from gapstack.errors import MemberError, MismatchError
from gapstack.members.member import Member
from gapstack.resolvers.cluster_sources import ClusterNames, check_coverage, read_resolvers
from gapstack.settings import Positive
from gapstack.types import Bools, Floats, Ints, Probabilities

NOT_COVERED, NEITHER, BOTH, ONE = range(4)  # kinds of output


class Resolver(Member):
    """One resolver's clusters with calibrated probabilities."""

    clusters: ClusterNames = ()
    """One resolver: its files, or its name, see :mod:`gapstack.resolvers.cluster_sources`."""
    smoothing: Positive = 1.0
    """Pseudo-rows of the training rows' average that are added to each kind."""

    LEARNED = ("shares", "coverage", "resolver")

    def decide(self, corpus: Corpus) -> Bools:
        """Decisions for A and B, (n, 2); needs no fit."""
        return self._read(corpus).decide(corpus)

    def _prepare(self, corpus: Corpus) -> None:
        self._read(corpus)

    def _read(self, corpus: Corpus) -> Clusters:
        resolvers = read_resolvers(self.clusters, corpus)
        if len(resolvers) != 1:
            names = ", ".join(source.name for source in resolvers) or "none"
            raise MemberError(f"resolver takes files of one resolver's clusters; given: {names}")
        return resolvers[0]

    def _kinds(self, corpus: Corpus) -> tuple[Clusters, Ints, Bools]:
        """The clusters, the (n,) kinds of output, and whether (n,) B alone is chosen."""
        clusters = self._read(corpus)
        covered, decided = clusters.covers(corpus), clusters.decide(corpus)
        kinds = np.select(
            [~covered, decided.all(axis=1), decided.any(axis=1)], [NOT_COVERED, BOTH, ONE], NEITHER
        )
        return clusters, kinds.astype(np.int64), decided[:, Label.B] & ~decided[:, Label.A]

    def _fit(self, corpus: Corpus) -> None:
        clusters, kinds, flipped = self._kinds(corpus)
        check_coverage([clusters], corpus, fitting=True)
        classes = np.where(flipped, np.array([Label.B, Label.A, Label.NEITHER])[corpus.labels], corpus.labels)
        counts = np.zeros((4, len(Label)))
        np.add.at(counts, (kinds, classes), 1.0)
        counts[:ONE] = _mean_of_names(counts[:ONE])
        average = _mean_of_names(counts.sum(axis=0, keepdims=True)) + 1.0
        counts += self.smoothing * average / average.sum()
        # by kind: frequencies of the chosen name (A, where none is), of the other one, and of NEITHER
        self.shares_ = counts / counts.sum(axis=1, keepdims=True)
        self.coverage_ = float((kinds != NOT_COVERED).mean())
        self.resolver_ = clusters.name

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        clusters, kinds, flipped = self._kinds(corpus)
        if clusters.name != self.resolver_:
            raise MismatchError(
                f"resolver is given clusters of {clusters.name}; expected those of {self.resolver_}, on which it was "
                "fitted"
            )
        check_coverage([clusters], corpus, fitting=False)
        probabilities = self.shares_[kinds]
        probabilities[flipped] = probabilities[flipped][:, [Label.B, Label.A, Label.NEITHER]]
        return np.asarray(probabilities)


def _mean_of_names(counts: Floats) -> Floats:
    """Counts (n, 3) with the mean of both names for each."""
    names = counts[:, : Label.NEITHER].mean(axis=1)
    return np.stack([names, names, counts[:, Label.NEITHER]], axis=1)
