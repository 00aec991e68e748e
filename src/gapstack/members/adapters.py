"""Functions and scikit-learn's classifiers as members, for :func:`gapstack.stack` and ``gapstack.cross_validate``."""

from collections.abc import Callable
from reprlib import repr
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from gapstack.data import Corpus, Label
from gapstack.errors import MemberError
from gapstack.features import BlockNames, features
from gapstack.members import MEMBERS, create
from gapstack.members.member import Member, Predictor
from gapstack.members.part import Part
from gapstack.types import Floats, Probabilities


class FunctionMember(Member):
    """A function from a corpus to probabilities (n, 3) of A, B and NEITHER; nothing is learned."""

    function: Callable[[Corpus], Any]

    def __sklearn_clone__(self) -> Self:
        return self

    def _fit(self, corpus: Corpus) -> None:
        self._predict_proba(corpus)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        result = np.asarray(self.function(corpus), dtype=np.float64)
        if result.shape != (len(corpus), len(Label)) or (result < 0).any():
            raise MemberError(
                f"{self.function} returned an array of shape {result.shape}; expected probabilities of A, B and "
                f"NEITHER for each of {len(corpus)} rows"
            )
        return result


class ClassifierMember(Member):
    """A classifier of A, B and NEITHER (0, 1, 2) over standardised features, means if missing.

    ``fit`` fits a copy of ``estimator``: scikit-learn's clone, or a deep copy of an object without ``get_params``.
    """

    estimator: Any
    blocks: BlockNames = ("surface",)
    """Feature blocks, by their names in :data:`gapstack.features.BLOCKS`."""

    def _fit(self, corpus: Corpus) -> None:
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        self.scaler_ = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
        table = self.scaler_.fit_transform(self._table(corpus))
        self.estimator_ = clone(self.estimator, safe=False)
        self.estimator_.fit(table, corpus.labels)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        predicted = np.asarray(self.estimator_.predict_proba(self.scaler_.transform(self._table(corpus))))
        classes = getattr(self.estimator_, "classes_", np.arange(len(Label)))
        if predicted.shape != (len(corpus), len(classes)):
            raise MemberError(
                f"{type(self.estimator).__name__}.predict_proba returned an array of shape {predicted.shape}; "
                f"expected {(len(corpus), len(classes))}, a column for each of {len(classes)} classes"
            )
        probabilities = np.zeros((len(corpus), len(Label)))
        probabilities[:, classes] = predicted
        return probabilities

    def _table(self, corpus: Corpus) -> Floats:
        table = features(corpus, self.blocks)
        return np.concatenate([table.candidates[:, 0], table.candidates[:, 1], table.shared], axis=1)


def as_member(item: object) -> Member:
    """Return a member, its name, a classifier, a function of a corpus or another predictor as a Member."""
    if isinstance(item, str):
        return create(item)
    if isinstance(item, Member):
        return item
    if isinstance(item, Predictor):
        return FunctionMember(function=item.predict_proba)
    if not isinstance(item, type):
        if hasattr(item, "fit") and hasattr(item, "predict_proba"):
            return ClassifierMember(estimator=item)
        if callable(item):
            return FunctionMember(function=item)
    raise MemberError(
        f"{repr(item)} is not a member; expected a member's name or object, a scikit-learn classifier, or a function "
        "from a corpus to probabilities (n, 3)"
    )


def part_of(member: Member) -> Part:
    """Name, label and settings of a member object; of one whose class is not registered, its label alone."""
    kind: Any = type(member)
    if (name := MEMBERS.find(kind)) is not None:
        defaults = kind().get_params()
        changed = {key: value for key, value in member.get_params().items() if value != defaults[key]}
        return Part(name, name, changed)
    if isinstance(member, ClassifierMember):
        kind = type(member.estimator)
    elif isinstance(member, FunctionMember):
        kind = member.function
    label = getattr(kind, "__name__", type(kind).__name__).strip("<>")
    return Part(label, label)
