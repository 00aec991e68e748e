"""Passes without learning: what a model says of rows, in batches by length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gapstack.progress import progress
from gapstack.training.checkpoints import Tensors
from gapstack.training.data import TARGET, Data, Rows, batches
from gapstack.training.devices import compute_dtype, default_budget, processes
from gapstack.training.weights import cast


def passes(
    data: Data, rows: Rows, device: torch.device, budget: int | None
) -> Iterator[tuple[Rows, Tensors, Tensor]]:
    """Share ``rows``, sorted by size, out to passes of at most ``budget`` pieces.

    Yields the rows of each pass, the model's inputs, and targets (empty where the data have none).
    """
    for part in batches(data.sizes[rows], budget or default_budget(device)):
        batch = {
            name: tensor.to(device, non_blocking=True) for name, tensor in data.batch(rows[part]).items()
        }
        target = batch.pop(TARGET, torch.empty(0))
        yield rows[part], batch, target


def predict(model: nn.Module, data: Data, *, precision: str = "auto") -> NDArray[np.float64]:
    """Give the model's output for every row, (n, ...) float64, in the order of the rows.

    The model stays as this leaves it: in evaluation mode, on the device, and its encoder in ``precision`` (see
    :class:`TrainingPlan`). In bfloat16 an answer depends in its third digit on the rows it is computed with.
    """
    device = processes().device
    model.to(device).eval()
    cast(model, compute_dtype(precision, device))
    order = np.argsort(data.sizes, kind="stable")
    found: list[Tensor] = []
    with progress("Predicting", len(order)) as ticker, torch.inference_mode():
        for rows, inputs, _ in passes(data, order, device, None):
            found.append(model(**inputs).to("cpu", torch.float64))
            ticker.advance(len(rows))
    in_order = torch.cat(found).numpy()
    outputs = np.empty_like(in_order)
    outputs[order] = in_order
    return outputs
