"""Prediction with an encoder whose linear layers have int8 weights, for processors without bfloat16 products."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from gapstack.progress import progress
from gapstack.training.data import TARGET, Data
from gapstack.training.parameters import ENCODER


def predict_in_int8(model: nn.Module, data: Data) -> NDArray[np.float64]:
    """Compute the model's output for every row, (n, ...) float64, with weights of the encoder rounded to int8.

    Weights are scaled by output channel, activations as they come (dynamic quantisation; Jacob et al. 2018, section 2),
    by torch.ao's kernels for CPUs. A pass's activations have one scale in common, so each row has a pass of its own,
    lest the rows beside it change it. The model itself stays as it is. ``benchmarks/quantised.py`` has what it costs
    and saves.
    """
    quantised = copy.deepcopy(model).cpu().float().eval()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # it is deprecated; torchao, its successor, is another package, and slower here
        from torch.ao.quantization import per_channel_dynamic_qconfig, quantize_dynamic

        encoder = quantize_dynamic(getattr(quantised, ENCODER), {nn.Linear: per_channel_dynamic_qconfig})
    setattr(quantised, ENCODER, encoder)
    outputs: list[torch.Tensor] = []
    with progress("Predicting", len(data.sizes)) as ticker, torch.inference_mode():
        for row in range(len(data.sizes)):
            inputs = data.batch(np.array([row]))
            inputs.pop(TARGET, None)
            outputs.append(quantised(**inputs).double())
            ticker.advance(1)
    return np.asarray(torch.cat(outputs).numpy())
