"""Stackers that are small networks: a densely connected one, and a pool that attends over members.

Tables of a few thousand rows are one batch: each step sees all rows, in both orders.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from threading import Lock
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from gapstack.ensemble.stacker import Stacker, Table, member_inputs, scales_of, softmax, standardised
from gapstack.kinds import Count, Floor, Inputs, NotNegative, Positive, Seed
from gapstack.members.member import Probabilities, State
from gapstack.training import PLAIN, RowData, Schedule, seeded, train
from gapstack.types import BasePredictions, Labels

_ONE_AT_A_TIME = Lock()
"""Stackers are fitted in threads, which share torch's random numbers."""


class NetworkStacker(Stacker):
    """Networks of several seeds over base predictions (and evidence), whose probabilities are averaged.

    Parameters
    ----------
    steps : int
        Updates of AdamW, whose rate falls along half a cosine to 0.
    rate, decay : float
        Learning rate and weight decay.
    inputs : str
        What is read of the members: ``logs``, log-probabilities; or ``probabilities``.
    floor : float
        Least probability that a member is taken to give.
    seeds, seed : int
        Number of networks, and seed of the first.
    """

    steps: Count = 300
    rate: Positive = 0.01
    decay: NotNegative = 0.1
    inputs: Inputs = "logs"
    floor: Floor = 1e-3
    seeds: Count = 3
    seed: Seed = 0

    @abstractmethod
    def _network(self, members: int, columns: int) -> nn.Module:
        """Make a network from logs (n, members, 3) and evidence (n, columns) to logits (n, 3)."""

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Table | None) -> None:
        self.scales_ = np.empty((2, 0)) if evidence is None else scales_of(evidence)
        logs, table = self._inputs(base, evidence)
        data = RowData({"logs": logs.numpy(), "table": table.numpy()}, labels)
        plan = replace(
            PLAIN,
            epochs=self.steps,
            batch_size=len(labels),
            token_budget=len(labels),
            head_lr=self.rate,
            weight_decay=self.decay,
            schedule=Schedule(shape="cosine", offset=0),
            order="as_given",
            evaluate_every=self.steps,
        )
        self.networks_ = []
        for number in range(self.seeds):
            with _ONE_AT_A_TIME, seeded(self.seed, number):
                network = self._network(logs.shape[1], table.shape[1])
                train(network, data, plan)
            self.networks_.append(network.cpu())

    @torch.inference_mode()
    def _predict(self, base: BasePredictions, evidence: Table | None) -> Probabilities:
        logs, table = self._inputs(base, evidence)
        answers = [softmax(network(logs, table).double().numpy()) for network in self.networks_]
        mean: Probabilities = np.mean(answers, axis=0)
        return mean

    def _inputs(self, base: BasePredictions, evidence: Table | None) -> tuple[Tensor, Tensor]:
        logs = torch.from_numpy(member_inputs(base, self.inputs, self.floor)).float()
        if evidence is None:
            return logs, torch.empty(len(logs), 0)
        return logs, torch.from_numpy(standardised(evidence, self.scales_)).float()

    def _state(self) -> State:
        arrays = {
            f"{number}/{name}": tensor.numpy()
            for number, network in enumerate(self.networks_)
            for name, tensor in network.state_dict().items()
        }
        members, columns = self.networks_[0].members, self.networks_[0].columns
        return State(arrays | {"scales": self.scales_}, values={"members": members, "columns": columns})

    def _restore(self, state: State) -> None:
        self.scales_ = state.arrays["scales"]
        self.networks_ = []
        for number in range(self.seeds):
            network = self._network(int(state.values["members"]), int(state.values["columns"]))
            own = f"{number}/"
            network.load_state_dict(
                {
                    name.removeprefix(own): torch.from_numpy(np.array(array))
                    for name, array in state.arrays.items()
                    if name.startswith(own)
                }
            )
            self.networks_.append(network.eval())


class DenselyConnected(nn.Module):
    """Layers of which each reads all that came before: Yang, Niven and Kao 2019 (systems' stack of 24 models).

    Parameters
    ----------
    members, columns : int
    layers, width : int
    dropout : float
    """

    def __init__(self, members: int, columns: int, layers: int, width: int, dropout: float):
        super().__init__()
        self.members, self.columns = members, columns
        sizes = [3 * members + width * number for number in range(layers + 1)]
        self.hidden = nn.ModuleList(nn.Linear(size, width) for size in sizes[:-1])
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(sizes[-1], 3)

    def forward(self, logs: Tensor, table: Tensor) -> Tensor:
        """Give logits (n, 3)."""
        so_far = logs.flatten(1)
        for layer in self.hidden:
            so_far = torch.cat([so_far, self.dropout(functional.relu(layer(so_far)))], dim=1)
        logits: Tensor = self.out(so_far)
        return logits


class DenseStacker(NetworkStacker):
    """Yang, Niven and Kao's stack: five layers of 24 units, dropout .5, each reading all before it.

    They train on probabilities, with Adam at 1e-3 whose rate falls on plateaus, until a held-out fold has not gained
    for 50 epochs. Here the number of steps is fixed, so that no row must be held back, and by default the inputs are
    log-probabilities; ``inputs="probabilities", rate=1e-3, decay=0.0, seeds=1`` is theirs but for the stopping.
    """

    def _network(self, members: int, columns: int) -> nn.Module:
        return DenselyConnected(members, columns, layers=5, width=24, dropout=0.5)


class MemberAttention(nn.Module):
    """Whom to trust on which row: weights of the members from what a row looks like, then a conditional logit.

    A row's query comes from its evidence and from what the members say on average; each member has a learned key.
    The softmax of query times key, plus each member's standing weight, weighs the members' log-probabilities; two
    scales and a bias turn the result into logits. At the start all members weigh the same on all rows.

    Parameters
    ----------
    members, columns : int
    width : int
        Of queries and keys.
    dropout : float
        On the inputs of the query.
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
        """Give logits (n, 3)."""
        seen = torch.cat([table, logs.mean(1), logs.std(1, correction=0)], dim=1)
        query = torch.tanh(self.query(self.dropout(seen)))
        trust = (query @ self.keys.T + self.standing).softmax(-1)
        pooled = torch.einsum("nm,nmc->nc", trust, logs)
        names, neither = pooled[:, :2] * self.scales[0], pooled[:, 2:] * self.scales[1] + self.bias
        return torch.cat([names, neither], dim=1)


class PoolStacker(NetworkStacker):
    """A neural evidence pool: attention over the members, asked by what the row looks like."""

    READS_EVIDENCE: ClassVar[bool] = True

    def _network(self, members: int, columns: int) -> nn.Module:
        return MemberAttention(members, columns)
