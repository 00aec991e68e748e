"""Member: a predictor that is fitted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from gapstack.corpus import Corpus, Label
from gapstack.corpus.augment import average, variants
from gapstack.corpus.contamination import known_test_sets
from gapstack.encoding.sizes import Size
from gapstack.errors import MemberError, NotFittedError
from gapstack.kinds import AugmentationName
from gapstack.members.predictor import Predictor
from gapstack.members.work import RowCounts, Work
from gapstack.settings import check_settings
from gapstack.signatures import Configured
from gapstack.types import Probabilities


@dataclass
class State:
    """What a fitted member has learned, in forms that are written without pickle.

    ``arrays`` go to one safetensors file, ``texts`` to text files (LightGBM models), ``values`` to JSON.
    """

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)


def each_once(*names: Iterable[str]) -> tuple[str, ...]:
    """All names, each once, in order of first appearance."""
    return tuple(dict.fromkeys(chain.from_iterable(names)))


class Member(Configured, BaseEstimator, Predictor):
    """A scikit-learn style estimator over corpora.

    Hyper-parameters are annotated attributes, of which :class:`~gapstack.signatures.Configured` makes the
    constructor, with those of the bases; what they may be is said in the terms of :mod:`gapstack.settings`. They are
    stored untouched; learned state ends in ``_``. Members look at examples through text, encoding, features
    and vectors, which cache by content; they know no files and no folds. Randomness comes from ``seed`` alone.

    Parameters
    ----------
    augment : sequence of str
        Copies of the training rows to learn from as well, by their names in
        :data:`gapstack.corpus.augment.AUGMENTATIONS`; a row that one refuses is not copied.
    average : sequence of str
        Ways of telling a row over which answers are averaged, by the same names; none: the row as it is.
    """

    augment: Sequence[AugmentationName] = ()
    average: Sequence[AugmentationName] = ()

    LEARNS_TOGETHER: ClassVar[bool] = False
    """Whether :meth:`fit_each` learns all corpora at once."""

    @property
    def contaminated_by(self) -> tuple[str, ...]:
        """Test sets that the rows given to ``fit`` are of, and what its settings add to them."""
        fitted_on: tuple[str, ...] = getattr(self, "fitted_on_", ())
        return fitted_on

    @property
    def classes_(self) -> NDArray[np.int64]:
        """Columns of :meth:`predict_proba`, the values of :class:`~gapstack.corpus.Label`; for scikit-learn."""
        return np.arange(len(Label), dtype=np.int64)

    def fit(self, corpus: Corpus, y: object = None) -> Self:
        """Learn from a labelled corpus and return self; ``y`` is ignored (scikit-learn passes labels on).

        Raises
        ------
        SettingError
            If a setting is not as it may be.
        """
        self._fit(self._with_copies(corpus))
        return self._has_learned(corpus)

    def fit_each(self, corpora: Sequence[Corpus]) -> list[Self]:
        """Fit copies of this member, one to each corpus: the folds of a cross-validation.

        Some members learn all of them at once, which takes less time and draws other random numbers than so many calls
        of :meth:`fit`. Raises as that does.
        """
        members = [clone(self) for _ in corpora]
        self._fit_each(members, [self._with_copies(corpus) for corpus in corpora])
        return [member._has_learned(corpus) for member, corpus in zip(members, corpora, strict=True)]

    def _with_copies(self, corpus: Corpus) -> Corpus:
        """Rows to learn from: those given and their copies."""
        check_settings(self)
        if not len(corpus):
            raise MemberError(f"{type(self).__name__} was given an empty corpus to fit")
        return _with_changed(corpus, self.augment)

    def _has_learned(self, corpus: Corpus) -> Self:
        self.fitted_on_ = known_test_sets(corpus.ids)
        self.is_fitted_ = True
        return self

    def prepare(self, corpus: Corpus) -> None:
        """Compute, in one pass, the views that ``fit`` and ``predict_proba`` will look up for these rows.

        Optional: whatever is not prepared is computed when it is first needed. A fitted member needs the copies that
        it answers and none of those that it has learned from.
        """
        learned = () if self._is_fitted else self.augment
        self._prepare(_with_changed(corpus, each_once(learned, self.average)))

    def parameters(self) -> int:
        """Count the numbers that were learned and are stored as arrays; trees are not among them."""
        self._check_fitted()
        return sum(array.size for array in self._state().arrays.values())

    def work(self, size: Size, rows: RowCounts) -> Work:
        """Estimate what a run of this member computes over an encoder of ``size``; nothing where it has none."""
        return Work()

    def parts(self) -> Mapping[str, Member]:
        """Unfitted members that this one is made of, by label; a stack has some."""
        return {}

    @property
    def identity(self) -> Mapping[str, str]:
        """Digests of its settings, of what it reads (encoder, parser, vectors, ...) and of its code, by name."""
        # by name, since what resolves settings to digests stands above members and decides no probability
        identity: Mapping[str, str] = resolve_name("gapstack.members.inputs:identity_of")(self, fitted=True)
        return identity

    def save(self, folder: Path) -> None:
        """Write the fitted member into ``folder``, whole or not at all.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        MemberError
            If its class is not registered, so that nothing could read it back.
        """
        members = resolve_name("gapstack.members:MEMBERS")
        resolve_name("gapstack.members.store:save")(self, members.name_of(type(self)), folder)

    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Give (n, 3) probabilities of A, B and NEITHER; labels of ``corpus`` are never looked at.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        """
        self._check_fitted()
        if not len(corpus):
            return np.empty((0, 3), dtype=np.float64)
        augmented = variants(corpus.unlabelled(), tuple(self.average) or ("original",))
        return average(augmented, [self._normalised(variant.corpus) for variant in augmented])

    def reads(self) -> dict[str, Any]:
        """Settings that this member, as it is set, reads something by, among others.

        Those count that :data:`gapstack.members.inputs.READS` names. Who reads more than its settings say adds to
        them; False says that under other settings nothing is read by this one.
        """
        return self.get_params()

    def state(self) -> State:
        """Give what was learned, for :func:`gapstack.members.store.save`."""
        self._check_fitted()
        return self._state()

    def restore(self, state: State) -> Self:
        """Take back what :meth:`state` gave and return self."""
        self._restore(state)
        self.is_fitted_ = True
        return self

    @property
    def _is_fitted(self) -> bool:
        return hasattr(self, "is_fitted_")  # there is no such attribute before, as scikit-learn wants it

    def _check_fitted(self) -> None:
        if not self._is_fitted:
            raise NotFittedError(f"{type(self).__name__} is not fitted; call fit(corpus) first")

    def _normalised(self, corpus: Corpus) -> Probabilities:
        probabilities = np.asarray(self._predict_proba(corpus), dtype=np.float64)
        return probabilities / probabilities.sum(axis=1, keepdims=True)

    def _prepare(self, corpus: Corpus) -> None:
        """Compute the views of these rows, where a member has any to compute in one pass."""

    @abstractmethod
    def _fit(self, corpus: Corpus) -> None: ...

    def _fit_each(self, members: Sequence[Self], corpora: Sequence[Corpus]) -> None:
        """Fit each of ``members``, copies of this one, to its corpus."""
        for member, corpus in zip(members, corpora, strict=True):
            member._fit(corpus)

    @abstractmethod
    def _predict_proba(self, corpus: Corpus) -> Probabilities: ...

    def _state(self) -> State:
        """Learned state; the default suits members that learn nothing."""
        return State()

    def _restore(self, state: State) -> None:
        """Inverse of :meth:`_state`."""


def _with_changed(corpus: Corpus, names: Sequence[str]) -> Corpus:
    """The rows, and those that each augmentation makes of them where it changes something, with ids of their own."""
    if not names:
        return corpus
    copies = [
        replace(example, id=f"{example.id}~{variant.name}")
        for variant in variants(corpus, tuple(names))
        for example, changed in zip(variant.corpus, variant.changed, strict=True)
        if changed
    ]
    return Corpus([*corpus, *copies], label_set=corpus.label_set, name=corpus.name)
