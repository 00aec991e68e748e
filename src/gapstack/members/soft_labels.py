"""Base of members that learn extra corpora and a teacher's soft labels (Hinton et al. 2015, section 2) next to GAP."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gapstack.data import Corpus, Label
from gapstack.data.corpus import one_hot
from gapstack.data.extra import ExtraNames
from gapstack.data.teacher import TeacherNames, soft_labelled
from gapstack.members.member import Member
from gapstack.settings import Positive
from gapstack.types import Floats, Ints


@dataclass(frozen=True)
class TrainingSet:
    """``gold`` rows, the only ones with labels, then others; ``targets`` (n, 3) and ``weights`` (n,), 1 on average."""

    corpus: Corpus
    targets: Floats
    weights: Floats
    gold: int

    @classmethod
    def given(cls, corpus: Corpus) -> TrainingSet:
        """Labelled rows of equal weight."""
        return cls(corpus, one_hot(corpus.labels), np.ones(len(corpus)), len(corpus))

    def __len__(self) -> int:
        return len(self.corpus)

    @property
    def weighted(self) -> Floats | Ints:
        """Targets for :func:`gapstack.training.cross_entropy`: rows that sum to their weight, or plain labels."""
        if self.gold == len(self):
            return self.corpus.labels
        return self.targets * self.weights[:, None]

    @property
    def gold_labels(self) -> Ints:
        """Labels of the rows given to ``fit``."""
        return self.targets[: self.gold].argmax(axis=1)

    def take(self, rows: Ints) -> TrainingSet:
        """Select rows, given in increasing order."""
        gold = int((rows < self.gold).sum())
        return TrainingSet(self.corpus.take(rows), self.targets[rows], self.weights[rows], gold)

    def without(self, label: Label) -> TrainingSet:
        """Leave a class out: rows of that label, its part of other targets, and rows that had no other."""
        targets = self.targets.copy()
        targets[:, label] = 0
        rows = np.flatnonzero(targets.sum(axis=1) > 0)
        kept = replace(self, targets=targets).take(rows)
        return replace(kept, weights=kept.weights / kept.weights.mean())

    def as_classes(self) -> tuple[Ints, Ints, Floats]:
        """Rows (m,), classes (m,) and weights (m,) with the same logloss, for estimators without soft labels."""
        if self.gold == len(self):
            return np.arange(len(self)), self.corpus.labels, np.ones(len(self))
        rows, classes = np.nonzero(self.targets)
        return rows, classes, self.targets[rows, classes] * self.weights[rows]


def merge(parts: Sequence[TrainingSet]) -> tuple[Corpus, Floats]:
    """Unique rows of several training sets, and targets (n, sets, 3), which sum to a row's weight in each set."""
    rows = {row.id: row for training_set in parts for row in training_set.corpus}
    place = {row: number for number, row in enumerate(rows)}
    targets = np.zeros((len(rows), len(parts), len(Label)))
    for column, training_set in enumerate(parts):
        positions = [place[row] for row in training_set.corpus.ids]
        weights = training_set.weights * (len(rows) / len(training_set))
        targets[positions, column] = training_set.targets * weights[:, None]
    return Corpus(list(rows.values()), name=parts[0].corpus.name), targets


class SoftLabelMember(Member):
    """A member that learns from probabilities, and so from GAP, extra corpora and a teacher at once.

    A subclass implements ``_fit_training_set``.
    """

    extra: ExtraNames = ()
    """Corpora that are learned in addition to GAP, by their names in :data:`gapstack.data.extra.EXTRA`."""
    teacher: TeacherNames = None
    """Soft labels that are learned in addition to GAP's: see :func:`gapstack.data.teacher.load_teacher`."""
    gold_weight: Positive = 1.0
    """Weight of one of GAP's rows, where a row of ``extra`` or ``teacher`` weighs 1."""

    def prepare(self, corpus: Corpus) -> None:
        """Compute inputs in one pass; before ``fit``, also those of the extra corpora and the teacher."""
        super().prepare(corpus)
        if (self.extra or self.teacher) and not self._is_fitted:
            self._prepare(soft_labelled(self.extra, self.teacher, self.augment)[0])

    def _fit(self, corpus: Corpus) -> None:
        self._fit_training_set(self._training_set(corpus))

    @abstractmethod
    def _fit_training_set(self, training_set: TrainingSet) -> None:
        """Called by ``fit`` with its rows, augmented ones included, and those of extra corpora and teacher."""

    def _training_set(self, corpus: Corpus) -> TrainingSet:
        given = TrainingSet.given(corpus)
        if not (self.extra or self.teacher):
            return given
        rows, targets = soft_labelled(self.extra, self.teacher, self.augment)
        weights = np.repeat([self.gold_weight, 1.0], [len(given), len(rows)])
        both = Corpus([*corpus, *rows], label_set=corpus.label_set, name=corpus.name)
        return TrainingSet(
            both, np.concatenate([given.targets, targets]), weights / weights.mean(), len(given)
        )
