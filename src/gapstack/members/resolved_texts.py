"""The resolver of running text as an off-the-shelf resolver: its probabilities of A, B, nobody and somebody else.

A logistic regression that is symmetric in A and B maps the probabilities of :mod:`gapstack.resolvers.shares` to three.
Unlike clusters (:mod:`gapstack.members.resolver`), the resolver answers every row, with degrees of belief.
"""

import numpy as np

from gapstack.data import Corpus
from gapstack.members.estimators import fit_symmetric_logistic, logistic_probabilities
from gapstack.members.member import Member
from gapstack.resolvers import shares
from gapstack.resolvers.live import ADAPTERS
from gapstack.settings import Positive, ReadInput, Reads
from gapstack.types import Floats, Probabilities


def _contaminated(_: None) -> tuple[str, ...]:
    adapter = ADAPTERS["gapstack"]
    return tuple(adapter.contaminated_by(adapter.check()))


_TEXT_RESOLVER = Reads(lambda _: shares.text_resolver().identity, contaminates=_contaminated)
_FLOOR = 0.003  # least probability whose logarithm is taken
_MIRROR = [1, 0, 2, 3, 5, 4, 6, 7]  # columns of _features after A and B have exchanged their names


class RunningText(Member):
    """What the resolver of running text says of the pronoun, calibrated on the training rows."""

    strength: Positive = 1.0
    """Inverse strength of the penalty on the weights; scikit-learn's ``C``."""

    LEARNED = ("coefficients",)

    def reads(self) -> dict[str, ReadInput]:
        """Inputs: the model of running text."""
        return super().reads() | {"text_resolver": _TEXT_RESOLVER.of(None)}

    def _prepare(self, corpus: Corpus) -> None:
        shares.shares(corpus)

    def _fit(self, corpus: Corpus) -> None:
        table, labels = _features(shares.shares(corpus)), corpus.labels
        self.coefficients_ = fit_symmetric_logistic(table, labels, _MIRROR, strength=self.strength)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return logistic_probabilities(self.coefficients_, _features(shares.shares(corpus)))


def _features(probabilities: Floats) -> Floats:
    """Logarithms of the shares, those of A and B themselves, and whether neither has any, and none has."""
    named = probabilities[:, [shares.A, shares.B]]
    flags = [named.max(axis=1) < _FLOOR, probabilities.sum(axis=1) == 0]
    return np.column_stack([np.log(np.maximum(probabilities, _FLOOR)), named, *flags]).astype(np.float64)
