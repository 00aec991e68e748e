"""Stackers that are small networks over rows in both orders."""

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from gapstack.ensemble.linear import LOGIT_FLOOR, member_weights, meta_features
from gapstack.ensemble.stacker import Inputs, Stacker, column_scales, member_inputs, softmax, standardised
from gapstack.features import Features
from gapstack.members.frozen_head import arrays_of, networks_from
from gapstack.members.learned_state import State
from gapstack.settings import Count, NonNegative, Positive, Seed
from gapstack.training import PLAIN, RowData, Schedule, seeded, train
from gapstack.types import BasePredictions, Floats, Labels, Probabilities


class NetworkStacker(Stacker):
    """Mean probabilities of networks of several seeds over base predictions (and evidence)."""

    steps: Count = 300
    """Updates of AdamW, with a learning rate that falls along half a cosine to 0."""
    rate: Positive = 0.01
    decay: NonNegative = 0.1
    """Learning rate and weight decay."""
    batch_size: Count | None = None
    """Rows of an update, the two orders of a row counted separately; by default all."""
    seeds: Count = 3
    seed: Seed = 0
    """Number of networks, and seed of the first."""

    LEARNED = ("scales",)

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
            with seeded(self.seed, number):
                network = self._network(logs.shape[1], table.shape[1])
                train(network, data, plan)
            self.networks_.append(network.cpu())
        self.arrays_ = arrays_of(self.networks_)

    @torch.inference_mode()
    def _predict(self, base: BasePredictions, evidence: Floats) -> Probabilities:
        logs, table = self._inputs(base, evidence)
        each = [softmax(network(logs, table).double().numpy()) for network in self.networks_]
        return np.asarray(np.mean(each, axis=0))

    def _inputs(self, base: BasePredictions, evidence: Floats) -> tuple[Tensor, Tensor]:
        logs = torch.from_numpy(self._logs(base)).float()
        return logs, torch.from_numpy(standardised(evidence, self.scales_)).float()

    def _logs(self, base: BasePredictions) -> BasePredictions:
        return np.log(np.clip(base, LOGIT_FLOOR, None))

    def restore(self, state: State) -> Self:
        """Restore what :meth:`state` returned, with the networks; returns self."""
        super().restore(state)
        size = self.members_, self.scales_.shape[1]
        self.networks_ = networks_from(self.arrays_, [self._network(*size) for _ in range(self.seeds)])
        return self


class DenselyConnected(nn.Module):
    """Layers that each read the outputs of all earlier ones (Yang, Niven and Kao 2019, a stack of 24 models)."""

    def __init__(self, members: int, columns: int, layers: int, width: int, dropout: float):
        super().__init__()
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
    """Yang, Niven and Kao's stack: five densely connected layers of 24 units, dropout 0.5; for fixed steps."""

    inputs: Inputs = "logs"
    """``logs``, the members' log-probabilities; or ``probabilities``."""

    def _logs(self, base: BasePredictions) -> BasePredictions:
        return member_inputs(base, self.inputs, LOGIT_FLOOR)

    def _network(self, members: int, columns: int) -> nn.Module:
        return DenselyConnected(members, columns, layers=5, width=24, dropout=0.5)


class MemberAttention(nn.Module):
    """A conditional logit whose weights are scaled row by row, by attention over the members.

    A query, computed from the row's evidence and all base predictions, is compared with a key of each member. The
    softmax of the products scales the members' weights, by 1 on average.
    """

    names: Tensor
    neither: Tensor
    bias: Tensor

    def __init__(self, members: int, columns: int, width: int = 8, dropout: float = 0.3):
        super().__init__()
        self.members = members
        self.dropout = nn.Dropout(dropout)
        self.query = nn.Linear(columns + 3 * members, width)
        self.keys = nn.Parameter(torch.zeros(members, width))
        for name, size in (("names", members), ("neither", members), ("bias", 1)):
            self.register_buffer(name, torch.zeros(size))

    def forward(self, logs: Tensor, table: Tensor) -> Tensor:
        """Return logits (n, 3)."""
        centred = logs - logs.mean(-1, keepdim=True)
        query = torch.tanh(self.query(self.dropout(torch.cat([table, centred.flatten(1)], dim=1))))
        # (n, members, 1)
        trust = self.members * (query @ self.keys.T).softmax(-1).unsqueeze(-1)
        weights = torch.stack([self.names, self.names, self.neither], dim=-1)
        logits = (trust * weights * logs).sum(1)
        return torch.cat([logits[:, :2], logits[:, 2:] + self.bias], dim=1)


class PoolStacker(NetworkStacker):
    """Attention over the members, with queries from the row's evidence, on top of a conditional logit."""

    steps: Count = 100
    rate: Positive = 0.003
    decay: NonNegative = 10.0
    """As for other networks; little training and much decay keep the weights close to the conditional logit's."""

    READS_EVIDENCE: ClassVar[bool] = True

    def _table(self, evidence: Features) -> Floats:
        return meta_features(evidence)

    def _fit(self, base: BasePredictions, labels: Labels, evidence: Floats) -> None:
        self.weights_ = member_weights(base, labels)
        super()._fit(base, labels, evidence)

    def _network(self, members: int, columns: int) -> nn.Module:
        network = MemberAttention(members, columns)
        if hasattr(self, "weights_"):
            learned = torch.from_numpy(self.weights_).float().split([members, members, 1])
            network.names, network.neither, network.bias = learned
        return network
