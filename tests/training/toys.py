"""A model and data small enough to train in a moment: two-piece 'texts' whose class is written in them."""

import time
from typing import Any

import numpy as np
import torch
from torch import nn

from gapstack.files import fingerprint
from gapstack.training import checkpoints
from gapstack.training.checkpoints import Evaluation


class ToyEncoder(nn.Module):
    """Embeddings and a stack of two layers, named as transformers names them."""

    def __init__(self, width: int = 8):
        super().__init__()
        self.embeddings = nn.Embedding(16, width)
        self.layer = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
        self.dropout = nn.Dropout(0.2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        hidden = self.embeddings(ids)
        for layer in self.layer:
            hidden = self.dropout(torch.tanh(layer(hidden)))
        return hidden


class Toy(nn.Module):
    """Encoder, batch norm (a buffer that learns) and classifier."""

    def __init__(self, seed: int = 0):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.encoder = ToyEncoder()
            self.norm = nn.BatchNorm1d(8)
            self.head = nn.Linear(8, 3)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.encoder(ids).float()[:, 0]))


class ToyData:
    """``n`` rows of 2 to 6 pieces; the class is the first piece modulo 3."""

    def __init__(
        self, n: int = 40, seed: int = 0, pause: float = 0.0, labels: bool = True, soft: bool = False
    ):
        chance = np.random.default_rng(seed)
        self.sizes = chance.integers(2, 7, n)
        self.ids = chance.integers(1, 16, (n, 6))
        self.pause, self.labels, self.soft = pause, labels, soft
        self.fingerprint = fingerprint(n, seed, soft)

    def batch(self, rows: np.ndarray) -> dict[str, torch.Tensor]:
        time.sleep(self.pause)
        longest = self.sizes[rows].max()
        keep = np.arange(longest) < self.sizes[rows, None]
        classes = self.ids[rows, 0] % 3
        target: Any = np.eye(3, dtype=np.float32)[classes] if self.soft else classes
        ids = self.ids[rows, :longest]
        batch = {"ids": torch.from_numpy(ids * keep)}
        return batch | ({"target": torch.from_numpy(target)} if self.labels else {})


def write_log(folder, *evaluations):
    """What a training writes for (phase, update, loss, validation)."""
    lines = [
        Evaluation(
            phase=phase, epoch=0, update=update, loss=loss, validation=validation, rate=1.0,
            examples_per_second=1.0, seconds=1.0,
        )
        for phase, update, loss, validation in evaluations
    ]  # fmt: skip
    folder.mkdir(parents=True)
    checkpoints.write_log(folder / checkpoints.LOG, lines)
