"""Prediction with a model, in batches of similar length; optionally with int8 weights."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gapstack.encoding.pieces import batches
from gapstack.progress import progress
from gapstack.training.data import TARGET, Data
from gapstack.training.devices import Tensors, compute_dtype, default_budget, processes
from gapstack.training.parameters import ENCODER, cast
from gapstack.types import Rows


def passes(
    data: Data, rows: Rows, device: torch.device, budget: int
) -> Iterator[tuple[Rows, Tensors, Tensor]]:
    """Divide ``rows``, sorted by size, into passes of at most ``budget`` pieces: rows, inputs, targets (or empty)."""
    for part in batches(data.sizes[rows], budget):
        tensors = data.batch(rows[part]).items()
        batch = {name: tensor.to(device, non_blocking=True) for name, tensor in tensors}
        target = batch.pop(TARGET, torch.empty(0))
        yield rows[part], batch, target


def predict(model: nn.Module, data: Data, *, precision: str = "auto") -> NDArray[np.float64]:
    """Compute the model's output for every row, (n, ...) float64; its encoder stays in ``precision`` (of a plan)."""
    device = processes().device
    model.to(device).eval()
    cast(model, compute_dtype(precision, device))
    order = np.argsort(data.sizes, kind="stable")
    return _outputs(model, len(order), passes(data, order, device, default_budget(device)))


def predict_in_int8(model: nn.Module, data: Data) -> NDArray[np.float64]:
    """As :func:`predict`, on the CPU, with int8 weights in the encoder's linear layers; the model does not change.

    Weights are scaled by output channel, activations by batch (Jacob et al. 2018, section 2), so each row is a batch.
    """
    rounded = copy.deepcopy(model).cpu().float().eval()
    with warnings.catch_warnings():
        # torch.ao is deprecated; torchao, its successor, is another package, and slower here
        warnings.simplefilter("ignore")
        from torch.ao.quantization import per_channel_dynamic_qconfig, quantize_dynamic

        encoder = quantize_dynamic(getattr(rounded, ENCODER), {nn.Linear: per_channel_dynamic_qconfig})
    setattr(rounded, ENCODER, encoder)
    rows = np.arange(len(data.sizes))
    return _outputs(rounded, len(rows), passes(data, rows, torch.device("cpu"), 1))


def _outputs(
    model: nn.Module, count: int, parts: Iterable[tuple[Rows, Tensors, Tensor]]
) -> NDArray[np.float64]:
    outputs: list[Tensor] = []
    order: list[Rows] = []
    with progress("Predicting", count) as ticker, torch.inference_mode():
        for rows, inputs, _ in parts:
            outputs.append(model(**inputs).to("cpu", torch.float64))
            order.append(rows)
            ticker.advance(len(rows))
    return np.asarray(torch.cat(outputs).numpy()[np.argsort(np.concatenate(order))])
