"""What the fine-tuning benchmarks compare with: a plain `transformers.Trainer`, and the machine's matrix peak."""

import tempfile
import time
from typing import Any

import torch
from torch import Tensor, nn
from transformers import Trainer, TrainingArguments

from gapstack.training import PieceData


class WithLoss(nn.Module):
    """A network as Trainer wants it: the loss comes out of the model."""

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network

    def forward(self, ids: Tensor, keep: Tensor, mentions: Tensor, labels: Tensor) -> dict[str, Tensor]:
        """Give loss and logits."""
        logits = self.network(ids, keep, mentions=mentions)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


BEST = {
    "bf16": True,
    "per_device_train_batch_size": 32,
    "train_sampling_strategy": "group_by_length",
}
"""Trainer's best standard settings, with SDPA and no attention dropout, which are the network's; AdamW is fused."""


def fit(network: nn.Module, data: PieceData, rows: int, **settings: Any) -> None:
    """One epoch of Trainer. By default float32, batches of 8 at random, padded to their longest; see :data:`BEST`."""
    view = data.view
    examples = [
        {
            "input_ids": torch.from_numpy(view.ids[view.row(row)]),  # by this name Trainer knows lengths
            "mentions": view.mentions[row].tolist(),
            "labels": row % 3,
        }
        for row in range(rows)
    ]

    def collate(batch: list[dict[str, Any]]) -> dict[str, Tensor]:
        padded = {
            "ids": nn.utils.rnn.pad_sequence([example["input_ids"] for example in batch], batch_first=True),
            "keep": nn.utils.rnn.pad_sequence(
                [torch.ones_like(example["input_ids"], dtype=torch.bool) for example in batch],
                batch_first=True,
            ),
        }
        return padded | {key: torch.tensor([e[key] for e in batch]) for key in ("mentions", "labels")}

    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder,
            num_train_epochs=1,
            report_to="none",
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
            remove_unused_columns=False,
            use_cpu=not torch.cuda.is_available(),
            **settings,
        )
        Trainer(WithLoss(network), arguments, train_dataset=examples, data_collator=collate).train()


def matrix_peak(shapes: tuple[tuple[int, int, int], ...], device: str, repeats: int = 8) -> float:
    """Most bfloat16 floating-point operations a second in products (m, k) x (k, n) of these shapes."""
    best = 0.0
    for m, k, n in shapes:
        left = torch.randn(m, k, device=device, dtype=torch.bfloat16)
        right = torch.randn(n, k, device=device, dtype=torch.bfloat16).T
        for _ in range(repeats):
            synchronize(device)
            began = time.perf_counter()
            left @ right
            synchronize(device)
            best = max(best, 2 * m * k * n / (time.perf_counter() - began))
    return best


def synchronize(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def operations(data: PieceData, layers: int, hidden: int, inner: int) -> float:
    """Floating-point operations of the matrix products in one forward pass over all rows, padding left out.

    A backward pass needs twice as many.
    """
    lengths = data.sizes.astype(float)
    weights = 4 * hidden * hidden + 2 * hidden * inner
    return float(2 * layers * (weights * lengths + 2 * hidden * lengths**2).sum())
