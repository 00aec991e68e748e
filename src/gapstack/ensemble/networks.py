"""Stackers that are small networks over rows in both orders."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from threading import Lock
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from gapstack.ensemble.linear import LOGIT_FLOOR
from gapstack.ensemble.stacker import Inputs, Stacker, column_scales, member_inputs, softmax, standardised
from gapstack.members.frozen_head import arrays_of, networks_from
from gapstack.members.member import State
from gapstack.settings import Count, NonNegative, Positive, Seed
from gapstack.training import PLAIN, RowData, Schedule, seeded, train
from gapstack.types import BasePredictions, Floats, Labels, Probabilities

_TORCH_SEED = Lock()  # stackers are fitted in threads, which share torch's random state


class NetworkStacker(Stacker):
    """Mean probabilities of networks of several seeds over base predictions (and evidence)."""

    steps: Count = 300
    """Updates of AdamW, with a learning rate that falls along half a cosine to 0."""
    rate: Positive = 0.01
    decay: NonNegative = 0.1
    """Learning rate and weight decay."""
    batch_size: Count | None = None
    """Rows of an update, the two orders of a row counted separately; by default all."""
    inputs: Inputs = "logs"
    """``logs``, the members' log-probabilities; or ``probabilities``."""
    seeds: Count = 3
    seed: Seed = 0
    """Number of networks, and seed of the first."""

    @abstractmethod
    def _network(self, members: int, columns: int) -> nn.Module:
        """Create a network from logs (n, members, 3) and evidence (n, columns) to logits (n, 3)."""

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Floats) -> None:
        self.scales_ = column_scales(evidence)
        logs, table = self._inputs(base, evidence)
        data = RowData({"logs": logs.numpy(), "table": table.numpy()}, labels)
        batch_size = min(self.batch_size or len(labels), len(labels))
        plan = replace(
            PLAIN,
            epochs=max(1, round(self.steps * batch_size / len(labels))),
            batch_size=batch_size,
            token_budget=batch_size,
            head_lr=self.rate,
            weight_decay=self.decay,
            schedule=Schedule(shape="cosine", offset=0),
            order="as_given" if self.batch_size is None else "shuffled",
            evaluate_every=self.steps,
        )
        self.networks_ = []
        for number in range(self.seeds):
            with _TORCH_SEED, seeded(self.seed, number):
                network = self._network(logs.shape[1], table.shape[1])
                train(network, data, plan)
            self.networks_.append(network.cpu())

    @torch.inference_mode()
    def _predict(self, base: BasePredictions, evidence: Floats) -> Probabilities:
        logs, table = self._inputs(base, evidence)
        each = [softmax(network(logs, table).double().numpy()) for network in self.networks_]
        return np.asarray(np.mean(each, axis=0))

    def _inputs(self, base: BasePredictions, evidence: Floats) -> tuple[Tensor, Tensor]:
        logs = torch.from_numpy(member_inputs(base, self.inputs, LOGIT_FLOOR)).float()
        return logs, torch.from_numpy(standardised(evidence, self.scales_)).float()

    def _state(self) -> State:
        values = {"members": self.networks_[0].members, "columns": self.scales_.shape[1]}
        return State(arrays_of(self.networks_) | {"scales": self.scales_}, values=values)

    def _restore(self, state: State) -> None:
        self.scales_ = state.arrays["scales"]
        size = int(state.values["members"]), int(state.values["columns"])
        self.networks_ = networks_from(state, [self._network(*size) for _ in range(self.seeds)])


class DenselyConnected(nn.Module):
    """Layers that each read the outputs of all earlier ones (Yang, Niven and Kao 2019, a stack of 24 models)."""

    def __init__(self, members: int, columns: int, layers: int, width: int, dropout: float):
        super().__init__()
        self.members, self.columns = members, columns
        sizes = [3 * members + width * number for number in range(layers + 1)]
        self.hidden = nn.ModuleList(nn.Linear(size, width) for size in sizes[:-1])
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(sizes[-1], 3)

    def forward(self, logs: Tensor, table: Tensor) -> Tensor:
        """Return logits (n, 3)."""
        outputs = logs.flatten(1)
        for layer in self.hidden:
            outputs = torch.cat([outputs, self.dropout(functional.relu(layer(outputs)))], dim=1)
        return self.out(outputs)


class DenseStacker(NetworkStacker):
    """Yang, Niven and Kao's stack: five densely connected layers of 24 units, dropout 0.5.

    The paper trains on probabilities with Adam at 1e-3, reduced on plateaus, in batches of 32, and stops early on a
    held-out fold. Here the number of steps is fixed and the inputs are log-probabilities by default; the recipe
    ``yang2019`` has its settings except early stopping.
    """

    def _network(self, members: int, columns: int) -> nn.Module:
        return DenselyConnected(members, columns, layers=5, width=24, dropout=0.5)


class MemberAttention(nn.Module):
    """Per-row member weights computed from row features, then a conditional logit.

    Weights are the softmax of a query (evidence, mean and deviation of the members) times each member's key, plus its
    bias; initially they are equal.
    """

    def __init__(self, members: int, columns: int, width: int = 8, dropout: float = 0.3):
        super().__init__()
        self.members, self.columns = members, columns
        self.dropout = nn.Dropout(dropout)
        self.query = nn.Linear(columns + 6, width)
        self.keys = nn.Parameter(torch.zeros(members, width))
        self.standing = nn.Parameter(torch.zeros(members))
        self.scales = nn.Parameter(torch.ones(2))
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, logs: Tensor, table: Tensor) -> Tensor:
        """Return logits (n, 3)."""
        seen = torch.cat([table, logs.mean(1), logs.std(1, correction=0)], dim=1)
        query = torch.tanh(self.query(self.dropout(seen)))
        trust = (query @ self.keys.T + self.standing).softmax(-1)
        pooled = torch.einsum("nm,nmc->nc", trust, logs)
        names, neither = pooled[:, :2] * self.scales[0], pooled[:, 2:] * self.scales[1] + self.bias
        return torch.cat([names, neither], dim=1)


class PoolStacker(NetworkStacker):
    """Attention over the members, with queries from the row's evidence."""

    READS_EVIDENCE: ClassVar[bool] = True

    def _network(self, members: int, columns: int) -> nn.Module:
        return MemberAttention(members, columns)
