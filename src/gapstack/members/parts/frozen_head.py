"""What all members share that train a small network on features that no fold changes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from torch import nn

from gapstack.corpus import Corpus
from gapstack.encoding.sizes import Size
from gapstack.kinds import Count, Held, Plan, Seed
from gapstack.members.member import Probabilities, State
from gapstack.members.parts.learner import Learner, Lessons
from gapstack.members.work import RowCounts, Work
from gapstack.training import RowData, TrainingPlan, predict, seeded, train, validation_rows
from gapstack.training.data import Targets

Arrays = Mapping[str, NDArray[Any]]
"""Inputs of a head by name, one entry of the first axis for each row."""

_SCALES = "scales/"


class FrozenHead(Learner):
    """Networks over arrays, one for each of several seeds, whose probabilities are averaged.

    A subclass gives :attr:`PLAN`, :meth:`_arrays` and :meth:`_head`, and :meth:`_scales` and :meth:`_scaled` where
    inputs are put on a common scale that training rows decide, and :meth:`_to_learn` where copies are learned from.

    Parameters
    ----------
    training : mapping, optional
        Fields of :class:`~gapstack.training.TrainingPlan` that shall differ from the member's :attr:`PLAN`.
    seeds : int
        Networks to train.
    validation_share : float
        Share of the training rows, whole pages, that early stopping holds back; nothing is held back unless
        the plan has ``patience``. Each seed holds back others.
    seed : int
        Of all that is random.
    extra, teacher, gold_weight
        See :class:`~gapstack.members.parts.learner.Learner`.
    """

    training: Plan | None = None
    seeds: Count = 1
    validation_share: Held = 0.1
    seed: Seed = 0

    PLAN: ClassVar[TrainingPlan]

    @abstractmethod
    def _arrays(self, corpus: Corpus) -> Arrays:
        """Look the inputs of a corpus up, or compute them."""

    @abstractmethod
    def _head(self, arrays: Arrays) -> nn.Module:
        """Make the network, freshly initialised, for arrays of these shapes.

        It is called with the arrays by name, float32 for float64, and returns logits (b, 3).
        """

    def _shapes(self, size: Size) -> Arrays:
        """Give arrays of no rows as they are over an encoder of ``size``, for an estimate; nothing if not known."""
        return {}

    def work(self, size: Size, rows: RowCounts) -> Work:
        """Count the training of all heads for as many epochs as the plan has."""
        arrays, plan = self._shapes(size), self._plan(self.seed)
        if not arrays:
            return super().work(size, rows)
        with torch.device("meta"):
            learned = sum(parameter.numel() for parameter in self._head(arrays).parameters())
        operations = 6 * learned * plan.epochs * rows.fitted * self.seeds
        return Work(fold=operations, learned=learned * self.seeds, models=self.seeds).and_then(
            super().work(size, rows)
        )

    def _scales(self, arrays: Arrays) -> dict[str, NDArray[Any]]:
        """Learn from the training rows what :meth:`_scaled` needs; nothing by default."""
        return {}

    def _scaled(self, arrays: Arrays, scales: Arrays) -> Arrays:
        """Put inputs on the scale of the training rows; as they are by default."""
        return arrays

    def _to_learn(self, corpus: Corpus) -> tuple[Arrays, NDArray[np.int64]]:
        """Give inputs to learn from, and the row (m,) that each is of; the rows as they are by default."""
        return self._arrays(corpus), np.arange(len(corpus))

    def _prepare(self, corpus: Corpus) -> None:
        """Compute all inputs in one pass."""
        self._arrays(corpus)

    def _plan(self, seed: int) -> TrainingPlan:
        return replace(self.PLAN.changed(dict(self.training or {})), seed=seed)

    def _learn(self, lessons: Lessons) -> None:
        arrays, rows = self._to_learn(lessons.corpus)
        self.scales_ = self._scales(arrays)
        state = {f"{_SCALES}{name}": scale for name, scale in self.scales_.items()}
        everything = self._data(arrays, lessons.weighted[rows])
        for number in range(self.seeds):
            seed = self.seed * 1000 + number
            plan = self._plan(seed)
            learn, held = everything, None
            if plan.patience is not None:
                learn, held = self._split(lessons, seed)
            with seeded(seed):
                network = self._head(arrays)
            train(network, learn, plan, held)
            state |= {
                f"{number}/{name}": tensor.cpu().numpy() for name, tensor in network.state_dict().items()
            }
        self.shapes_ = {name: list(array.shape[1:]) for name, array in arrays.items()}
        self._restore(State(state, values={"shapes": self.shapes_}))

    def _split(self, lessons: Lessons, seed: int) -> tuple[RowData, RowData]:
        """Give what to learn from, and rows that were given with labels to stop by."""
        given = lessons.corpus.take(np.arange(lessons.gold))
        learn, stop = validation_rows(given, self.validation_share, seed)
        most = lessons.take(np.concatenate([learn, np.arange(lessons.gold, len(lessons))]))
        arrays, rows = self._to_learn(most.corpus)
        part = given.take(stop)
        return self._data(arrays, most.weighted[rows]), self._data(self._arrays(part), part.labels)

    def _data(self, arrays: Arrays, targets: Targets | None = None) -> RowData:
        return RowData(self._scaled(arrays, self.scales_), targets)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return self._answer(self._arrays(corpus))

    def _answer(self, arrays: Arrays) -> Probabilities:
        """Give the mean of what the networks answer to these inputs."""
        data = self._data(arrays)
        answers = [softmax(predict(network, data, precision="float32"), axis=1) for network in self.networks_]
        return np.asarray(np.mean(answers, axis=0))

    def _state(self) -> State:
        return State(self.arrays_, values={"shapes": self.shapes_})

    def _restore(self, state: State) -> None:
        self.arrays_, self.shapes_ = state.arrays, state.values["shapes"]
        self.scales_ = {
            name.removeprefix(_SCALES): array
            for name, array in state.arrays.items()
            if name.startswith(_SCALES)
        }
        empty = {name: np.empty((0, *shape)) for name, shape in self.shapes_.items()}
        self.networks_ = []
        for number in range(self.seeds):
            with seeded(self.seed):
                network = self._head(empty)
            own = {
                name.removeprefix(f"{number}/"): torch.from_numpy(np.array(array))
                for name, array in state.arrays.items()
                if name.startswith(f"{number}/")
            }
            network.load_state_dict(own)
            self.networks_.append(network.eval())
