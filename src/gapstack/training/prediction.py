"""Prediction with a model, in batches by length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gapstack.progress import progress
from gapstack.training.checkpoints import Tensors
from gapstack.training.data import TARGET, Data, Rows
from gapstack.training.devices import compute_dtype, default_budget, processes
from gapstack.training.weights import cast
from gapstack.views.frozen import batches


def passes(
    data: Data, rows: Rows, device: torch.device, budget: int | None
) -> Iterator[tuple[Rows, Tensors, Tensor]]:
    """Divide ``rows``, sorted by size, into forward passes of at most ``budget`` pieces.

    Yields the rows of each pass, the model's inputs, and the targets (empty where the data have none).
    """
    for part in batches(data.sizes[rows], budget or default_budget(device)):
        batch = {
            name: tensor.to(device, non_blocking=True) for name, tensor in data.batch(rows[part]).items()
        }
        target = batch.pop(TARGET, torch.empty(0))
        yield rows[part], batch, target


def predict(model: nn.Module, data: Data, *, precision: str = "auto") -> NDArray[np.float64]:
    """Compute the model's output for every row, (n, ...) float64, in the order of the rows.

    Leaves the model in evaluation mode, on the device, with its encoder in ``precision`` (see
    :class:`TrainingPlan`). In bfloat16 the third digit of an output depends on the other rows of its batch.
    """
    device = processes().device
    model.to(device).eval()
    cast(model, compute_dtype(precision, device))
    order = np.argsort(data.sizes, kind="stable")
    batch_outputs: list[Tensor] = []
    with progress("Predicting", len(order)) as ticker, torch.inference_mode():
        for rows, inputs, _ in passes(data, order, device, None):
            batch_outputs.append(model(**inputs).to("cpu", torch.float64))
            ticker.advance(len(rows))
    by_size = torch.cat(batch_outputs).numpy()
    outputs = np.empty_like(by_size)
    outputs[order] = by_size
    return outputs
