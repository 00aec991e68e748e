"""Prediction with a model, in batches by length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import gcd

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gapstack.encoding.encoders import positions
from gapstack.encoding.frozen import STEP, blocks
from gapstack.progress import progress
from gapstack.training.checkpoints import Tensors
from gapstack.training.data import TARGET, Data, batches
from gapstack.training.devices import compute_dtype, default_budget, processes
from gapstack.training.parameters import ENCODER
from gapstack.training.weights import cast
from gapstack.types import Rows

# Matrix products of a few rows take other instructions for those that do not fill a register
_ROWS = 16


def passes(
    data: Data, rows: Rows, device: torch.device, budget: int
) -> Iterator[tuple[Rows, Tensors, Tensor]]:
    """Divide ``rows``, sorted by size, into forward passes of at most ``budget`` pieces.

    Yields the rows of each pass, the model's inputs, and the targets (empty where the data have none).
    """
    for part in batches(data.sizes[rows], budget):
        batch = {
            name: tensor.to(device, non_blocking=True) for name, tensor in data.batch(rows[part]).items()
        }
        target = batch.pop(TARGET, torch.empty(0))
        yield rows[part], batch, target


def predict(model: nn.Module, data: Data, *, precision: str = "auto") -> NDArray[np.float64]:
    """Compute the model's output for every row, (n, ...) float64, in the order of the rows.

    Leaves the model in evaluation mode, on the device, with its encoder in ``precision`` (see
    :class:`TrainingPlan`). On one machine a row's output is the same to the bit whatever the other rows: rows are
    computed in :func:`~gapstack.encoding.frozen.blocks`.
    """
    device = processes().device
    model.to(device).eval()
    cast(model, compute_dtype(precision, device))
    parts = blocks(data.sizes, default_budget(device), step=_step(model), multiple=_ROWS)
    return outputs(model, data, device, parts)


def outputs(
    model: nn.Module, data: Data, device: torch.device, parts: Iterable[tuple[Rows, int, int | None]]
) -> NDArray[np.float64]:
    """Compute a model's output for all rows, (n, ...) float64 in their order, as it stands.

    Parameters
    ----------
    model : torch.nn.Module
    data : Data
    device : torch.device
        Where the model is.
    parts : iterable of (rows, int, int or None)
        Each pass: its rows, how many of them count, and the length that they are padded to, if to one.
    """
    by_batch: list[Tensor] = []
    order: list[Rows] = []
    with progress("Predicting", len(data.sizes)) as ticker, torch.inference_mode():
        for rows, real, length in parts:
            inputs = {name: tensor.to(device) for name, tensor in data.batch(rows, length).items()}
            inputs.pop(TARGET, None)
            by_batch.append(model(**inputs)[:real].to("cpu", torch.float64))
            order.append(rows[:real])
            ticker.advance(real)
    found = torch.cat(by_batch).numpy()
    in_order = np.empty_like(found)
    in_order[np.concatenate(order)] = found
    return in_order


def _step(model: nn.Module) -> int:
    """Step of the lengths that rows are padded to: one that does not lead beyond the last position."""
    config = getattr(getattr(model, ENCODER, None), "config", None)
    return STEP if config is None else gcd(STEP, positions(config.to_dict()))
