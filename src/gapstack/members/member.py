"""The interface of everything that answers "A, B or neither?", and of members, predictors that are fitted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload
from uuid import uuid4

import numpy as np
from sklearn.base import BaseEstimator, clone

from gapstack.data import Corpus, Label
from gapstack.data.augment import AugmentationName, average, variants
from gapstack.data.contamination import known_test_sets
from gapstack.data.corpus import COPY_OF
from gapstack.errors import DamageError, GapstackError, MemberError, NotFittedError
from gapstack.members import MEMBERS
from gapstack.members.identity import identity_of
from gapstack.members.learned_state import State, restore_state, state_of
from gapstack.settings import Configured, ReadInput, read_by
from gapstack.types import Ints, Labels, Probabilities

if TYPE_CHECKING:
    from gapstack.running_text.answer import Answers
    from gapstack.running_text.any_text_resolver import AnyTextResolver
    from gapstack.running_text.characters import People


class Predictor(ABC):
    """Anything that predicts probabilities of A, B and NEITHER: members, stacks, runs, prediction files.

    :func:`gapstack.load` reads any of them.
    """

    stored: ClassVar[bool] = False
    """True if it only returns stored predictions, looked up by row id."""
    for_running_text = False
    """True for the bundled model, which answers texts by the model of running text (:meth:`resolver`)."""

    @property
    def contaminated_by(self) -> tuple[str, ...]:
        """Test sets and audit suites that share rows with its training data, such as ``gap-test``."""
        return ()

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, str]:
        """Digests of what decides its probabilities, by name."""

    @abstractmethod
    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Return (n, 3) probabilities of A, B and NEITHER; labels of ``corpus`` are never read."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write into ``folder``, without pickle; :func:`gapstack.load` reads it."""

    def ask(
        self,
        text: str,
        *,
        pronoun: str | None = None,
        names: Sequence[str] = (),
        url: str | None = None,
        people: People = (),
        first_person: bool = False,
    ) -> Answers:
        """Resolve the pronouns of a text, with probabilities.

        Arguments and errors are those of :meth:`gapstack.running_text.any_text_resolver.AnyTextResolver.ask`.
        """
        return self.resolver().ask(
            text, pronoun=pronoun, names=names, url=url, people=people, first_person=first_person
        )

    @overload
    def predict(self, rows: Corpus) -> Labels: ...
    @overload
    def predict(self, rows: Iterable[str]) -> list[Answers]: ...
    def predict(self, rows: Corpus | Iterable[str]) -> Labels | list[Answers]:
        """Return the most probable column (n,) of a corpus, or for texts a list of what :meth:`ask` returns."""
        if isinstance(rows, Corpus):
            return self.predict_proba(rows).argmax(axis=1).astype(np.int64)
        return self.resolver().predict(rows)

    def resolver(self, parser: str | Path | None = None) -> AnyTextResolver:
        """Return what answers texts: candidates compared in pairs by this predictor, or the model of running text."""
        from gapstack.members.pairs_resolver import PairsResolver  # slow, and needed for texts only

        if not self.for_running_text:
            return PairsResolver(self, parser)
        from gapstack.running_text.text_resolver import TextResolver

        return TextResolver(pairs=lambda: PairsResolver(self, parser))

    def prepare(self, corpus: Corpus) -> None:  # noqa: B027 - optional
        """Compute in one pass what ``predict_proba`` will look up for these rows; optional."""

    def covers(self, name: str) -> bool:
        """Return True if it has probabilities for the corpus called ``name``."""
        return True

    def remark(self, corpus: Corpus) -> str:
        """Return a caveat about its probabilities for ``corpus``, usually empty."""
        return ""


def unique(*names: Iterable[str]) -> tuple[str, ...]:
    """All names, each once, in order of first appearance."""
    return tuple(dict.fromkeys(chain.from_iterable(names)))


class Member(Configured, BaseEstimator, Predictor):
    """Base class of all members: a scikit-learn estimator over corpora.

    A subclass implements ``_fit(corpus)`` and ``_predict_proba(corpus)``. Settings are annotated attributes with types
    of :mod:`gapstack.settings`; learned attributes end in ``_``, and :attr:`LEARNED` names those that are saved. All
    randomness comes from the setting ``seed``.
    """

    augment: Sequence[AugmentationName] = ()
    """Augmentations of the training rows, by their names in :data:`gapstack.data.augment.AUGMENTATIONS`."""
    average: Sequence[AugmentationName] = ()
    """Test-time augmentations to average over, by the same names (default: the original row only)."""

    PUBLISHED: ClassVar[Mapping[str, Any]] = {}
    """Settings of the paper or of its released code: ``create(name, **published(name))``; empty if there are none."""
    LEARNED: ClassVar[tuple[str, ...]] = ()
    """Names of learned attributes without their underscore; those of base classes count too."""
    LEARNS_TOGETHER: ClassVar[bool] = False
    """True if :meth:`fit_each` fits all corpora at once."""
    ONE_THREAD: ClassVar[bool] = False
    """True if fits are short and gain little from threads; a run fits several of them at once."""

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        answers = "\n# texts are answered by the model of running text" if self.for_running_text else ""
        return super().__repr__(N_CHAR_MAX) + answers

    @property
    def contaminated_by(self) -> tuple[str, ...]:
        """Test sets that share rows with the training data, or with what the member or one of its parts reads."""
        reads = (read.kind.contaminates(read.value) for read in self.reads().values())
        parts = (part.contaminated_by for part in self.parts().values())
        return unique(getattr(self, "fitted_on_", ()), *reads, *parts)

    @property
    def classes_(self) -> Ints:
        """Columns of :meth:`predict_proba`, the values of :class:`~gapstack.data.Label`; for scikit-learn."""
        return np.arange(len(Label), dtype=np.int64)

    def fit(self, corpus: Corpus, y: object = None) -> Self:
        """Fit to a labelled corpus and return self.

        Parameters
        ----------
        corpus : Corpus
            Labelled rows.
        y : ignored
            For scikit-learn.

        Raises
        ------
        SettingError
            If a setting is invalid.
        MemberError
            If the corpus is empty.
        """
        self._fit(self._with_copies(corpus))
        return self._fitted_to(corpus)

    def fit_each(self, corpora: Sequence[Corpus]) -> list[Self]:
        """Fit a copy of this member to each corpus, the folds of a cross-validation.

        Members that :attr:`LEARNS_TOGETHER` are faster than with :meth:`fit`, and draw other random numbers. They may
        scale their inputs by the rows of all corpora, and so by rows that are held out; labels are not shared.
        """
        members = [clone(self) for _ in corpora]
        self._fit_each(members, [self._with_copies(corpus) for corpus in corpora])
        return [member._fitted_to(corpus) for member, corpus in zip(members, corpora, strict=True)]

    def _with_copies(self, corpus: Corpus) -> Corpus:
        """The training rows and their augmentations."""
        self.check_settings()
        if not len(corpus):
            raise MemberError(
                f"{type(self).__name__} was given an empty corpus to fit; expected labelled rows"
            )
        return _with_changed(corpus, self.augment)

    def _fitted_to(self, corpus: Corpus) -> Self:
        self.fitted_on_ = known_test_sets(corpus.ids)
        self.is_fitted_ = True
        return self

    def prepare(self, corpus: Corpus) -> None:
        """Compute in one pass what ``fit`` and ``predict_proba`` will look up for these rows; optional."""
        learned = () if self._is_fitted else self.augment
        self._prepare(_with_changed(corpus, unique(learned, self.average)))

    @cached_property
    def token(self) -> str:
        """What identifies an object whose class is not registered."""
        return uuid4().hex

    def parameters(self) -> int:
        """Count the learned numbers that are stored as arrays; trees do not count."""
        self._check_fitted()
        return sum(array.size for array in self._state().arrays.values())

    def parts(self) -> Mapping[str, Member]:
        """Unfitted members of a stack, by label."""
        return {}

    @property
    def identity(self) -> Mapping[str, str]:
        """Digests of settings, inputs (encoder, parser, vectors, ...), versions, source and learned state, by name."""
        learned = {"learned": self.state().digest} if self._is_fitted else {}
        return identity_of(self, fitted=True) | learned

    def save(self, folder: Path) -> None:
        """Write the fitted member; NotFittedError before ``fit``, MemberError if its class is not registered."""
        from gapstack.members.saved import save

        save(self, MEMBERS.name_of(type(self)), folder)

    def predict_proba(self, corpus: Corpus) -> Probabilities:
        """Predict probabilities of A, B and NEITHER.

        Parameters
        ----------
        corpus : Corpus
            Rows; their labels are not read.

        Returns
        -------
        ndarray of shape (n, 3), float64
            Each row sums to 1 and does not depend on the other rows.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        MemberError
            If a probability is not finite.
        """
        self._check_fitted()
        if not len(corpus):
            return np.empty((0, 3), dtype=np.float64)
        augmented = variants(corpus.unlabelled(), tuple(self.average) or ("original",))
        return average(augmented, [self._normalised(variant.corpus) for variant in augmented])

    def reads(self) -> dict[str, ReadInput]:
        """Return what this member reads besides the rows, by setting: those annotated with :class:`Reads`.

        Override to add inputs, or to delete those that these settings do not use.
        """
        return {name: kind.of(getattr(self, name)) for name, kind in read_by(type(self)).items()}

    def state(self) -> State:
        """Return the learned state; NotFittedError before ``fit``."""
        self._check_fitted()
        return self._state()

    def restore(self, state: State) -> Self:
        """Restore what :meth:`state` returned and return self; DamageError if it does not fit this member."""
        try:
            self._restore(state)
        except GapstackError:
            raise
        except Exception as problem:
            raise DamageError(
                f"the saved state does not fit {type(self).__name__}: {type(problem).__name__}: {problem}",
                remedy="Fit the member again",
            ) from problem
        self.is_fitted_ = True
        return self

    @property
    def _is_fitted(self) -> bool:
        return hasattr(self, "is_fitted_")  # absent before, as scikit-learn expects

    def _check_fitted(self) -> None:
        if not self._is_fitted:
            raise NotFittedError(f"{type(self).__name__} is not fitted; call fit(corpus) first")

    def _normalised(self, corpus: Corpus) -> Probabilities:
        probabilities = np.asarray(self._predict_proba(corpus), dtype=np.float64)
        with np.errstate(all="ignore"):
            normalised = probabilities / probabilities.sum(axis=1, keepdims=True)
        if not np.isfinite(normalised).all():
            raise MemberError(
                f"{type(self).__name__} computed probabilities that are not finite numbers; change its settings or "
                "leave it out"
            )
        return normalised

    def _prepare(self, corpus: Corpus) -> None:
        """Called by :meth:`prepare`, before ``fit`` and before ``predict_proba``; optional."""

    def _state(self) -> State:
        """Called by :meth:`state`; override where :attr:`LEARNED` is not enough."""
        return state_of(self)

    def _restore(self, state: State) -> None:
        """Called by :meth:`restore`; override to make networks of the arrays."""
        restore_state(self, state)

    @abstractmethod
    def _fit(self, corpus: Corpus) -> None:
        """Called by :meth:`fit` with the rows and their augmented copies."""

    def _fit_each(self, members: Sequence[Self], corpora: Sequence[Corpus]) -> None:
        """Called by :meth:`fit_each` with copies of this member and the corpus of each."""
        for member, corpus in zip(members, corpora, strict=True):
            member._fit(corpus)

    @abstractmethod
    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        """Called by :meth:`predict_proba` with each variant of the rows; each row may have any positive sum."""


def _with_changed(corpus: Corpus, names: Sequence[str]) -> Corpus:
    """The rows, and those that each augmentation makes of them where it changes something, with ids of their own."""
    if not names:
        return corpus
    copies = [
        replace(example, id=f"{example.id}{COPY_OF}{variant.name}")
        for variant in variants(corpus, tuple(names))
        for example, changed in zip(variant.corpus, variant.changed, strict=True)
        if changed
    ]
    return Corpus([*corpus, *copies], label_set=corpus.label_set, name=corpus.name)
