"""Members that learn from more than GAP: from corpora that were not made for it, and from a teacher's soft labels.

Distillation as in Hinton, Vinyals and Dean 2015, section 2, at temperature 1: the cross-entropy to the teacher's
probabilities stands beside that to the labels.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus, Example, Label
from gapstack.corpus.augment import variants
from gapstack.corpus.corpus import one_hot
from gapstack.corpus.extra import EXTRA, load
from gapstack.corpus.teacher import CONTAMINATES, load_teacher
from gapstack.kinds import ExtraName, Positive
from gapstack.members.member import Member, each_once
from gapstack.types import Floats


@dataclass(frozen=True)
class Lessons:
    """Rows to learn from: those that ``fit`` was given, then those of extra corpora and of a teacher.

    Attributes
    ----------
    corpus : Corpus
        n rows; those after the first ``gold`` have no labels, only targets.
    targets : (n, 3) float64
        Probabilities of A, B and NEITHER to learn; rows sum to 1.
    weights : (n,) float64
        Of the rows, 1 in the mean.
    gold : int
        How many of the rows, the first ones, ``fit`` was given.
    """

    corpus: Corpus
    targets: Floats
    weights: Floats
    gold: int

    @classmethod
    def given(cls, corpus: Corpus) -> Lessons:
        """Labelled rows alone, weighted alike."""
        return cls(corpus, one_hot(corpus.labels), np.ones(len(corpus)), len(corpus))

    def __len__(self) -> int:
        return len(self.corpus)

    @property
    def weighted(self) -> Floats | NDArray[np.int64]:
        """Targets for :func:`gapstack.training.cross_entropy`: rows that sum to their weight, or plain labels."""
        if self.gold == len(self):
            return self.corpus.labels
        weighted: Floats = self.targets * self.weights[:, None]
        return weighted

    def take(self, rows: NDArray[np.int64]) -> Lessons:
        """Those rows alone, in increasing order."""
        return Lessons(
            self.corpus.take(rows), self.targets[rows], self.weights[rows], int((rows < self.gold).sum())
        )

    def as_classes(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """Rows (m,), classes (m,) and weights (m,) that weigh in a logloss as the targets do: m is at most 3 n.

        For estimators that know classes and weights of rows, and no soft labels.
        """
        if self.gold == len(self):
            return np.arange(len(self)), self.corpus.labels, np.ones(len(self))
        rows, classes = np.nonzero(self.targets)
        return rows, classes, self.targets[rows, classes] * self.weights[rows]


def side_by_side(lessons: Sequence[Lessons]) -> tuple[Corpus, Floats]:
    """Rows of all lessons, each row once, and targets (n, len(lessons), 3) that sum to a row's weight in each lesson.

    The weight is 0 where a lesson has not the row, and 1 in the mean over the n rows, so that batches drawn from them
    weigh in each lesson as batches of its own do.
    """
    rows = {row.id: row for lesson in lessons for row in lesson.corpus}
    place = {row: number for number, row in enumerate(rows)}
    targets = np.zeros((len(rows), len(lessons), len(Label)))
    for column, lesson in enumerate(lessons):
        own = [place[row] for row in lesson.corpus.ids]
        weights = lesson.weights * (len(rows) / len(lesson))
        targets[own, column] = lesson.targets * weights[:, None]
    return Corpus(list(rows.values()), name=lessons[0].corpus.name), targets


class Learner(Member):
    """A member that learns from probabilities, and so from more than labels.

    Parameters
    ----------
    extra : sequence of str
        Corpora whose rows are learned from beside GAP's, by their names in :data:`gapstack.corpus.extra.EXTRA`.
    teacher : str or sequence of str, optional
        Soft labels to learn from beside GAP's labels: see :func:`gapstack.corpus.teacher.load_teacher`.
    gold_weight : float
        Weight of one of GAP's rows, where a row of ``extra`` or ``teacher`` weighs 1.
    augment, average
        See :class:`~gapstack.members.member.Member`; rows of ``extra`` and ``teacher`` are copied alike.
    """

    extra: Sequence[ExtraName] = ()
    teacher: str | Sequence[str] | None = None
    gold_weight: Positive = 1.0

    @property
    def contaminated_by(self) -> tuple[str, ...]:
        """Add what the extra corpora and the teacher share rows with."""
        shared = (EXTRA[name].contaminates for name in self.extra)
        return each_once(super().contaminated_by, *shared, CONTAMINATES if self.teacher else ())

    def prepare(self, corpus: Corpus) -> None:
        """As every member's; before ``fit``, those of the extra corpora and the teacher too."""
        super().prepare(corpus)
        # a fitted one has learned from them, and need not have them
        if (self.extra or self.teacher) and not self._is_fitted:
            self._prepare_taught()

    def _prepare_taught(self) -> None:
        self._prepare(self._taught()[0])

    def _fit(self, corpus: Corpus) -> None:
        self._learn(self._lessons(corpus))

    @abstractmethod
    def _learn(self, lessons: Lessons) -> None:
        """Learn from rows that ``fit`` was given, augmented ones included, and those of :meth:`_taught`."""

    def _lessons(self, corpus: Corpus) -> Lessons:
        given = Lessons.given(corpus)
        if not (self.extra or self.teacher):
            return given
        taught, targets = self._taught()
        weights = np.repeat([self.gold_weight, 1.0], [len(given), len(taught)])
        together = Corpus([*corpus, *taught], label_set=corpus.label_set, name=corpus.name)
        return Lessons(
            together, np.concatenate([given.targets, targets]), weights / weights.mean(), len(given)
        )

    def _taught(self) -> tuple[Corpus, Floats]:
        """Rows of the extra corpora and the teacher, copies of them included, and probabilities (n, 3) to learn."""
        parts: list[tuple[Corpus, Floats]] = []
        for name in self.extra:
            corpus = load(name).corpus
            parts.append((corpus, one_hot(corpus.labels)))
        if self.teacher:
            soft = load_teacher(self.teacher)
            parts.append((soft.corpus, soft.probabilities))
        rows: list[Example] = []
        targets: list[Floats] = []
        for source, (corpus, probabilities) in enumerate(parts):
            own = Corpus(
                [replace(row, id=f"{source}:{row.id}", label=None) for row in corpus], name=corpus.name
            )
            rows += list(own)
            targets.append(probabilities)
            for variant in variants(own, tuple(self.augment)):
                changed = np.flatnonzero(variant.changed)
                rows += [replace(row, id=f"{row.id}~{variant.name}") for row in variant.corpus.take(changed)]
                # its inverse, since each exchange of columns is its own
                targets.append(variant.restore(probabilities[changed]))
        return Corpus(rows, name="taught"), np.concatenate(targets)
