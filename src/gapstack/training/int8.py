"""Prediction with an encoder whose linear layers have int8 weights, for processors without bfloat16 products."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from gapstack.training.data import Data
from gapstack.training.parameters import ENCODER
from gapstack.training.prediction import outputs


def predict_in_int8(model: nn.Module, data: Data) -> NDArray[np.float64]:
    """Compute the model's output for every row, (n, ...) float64, with its encoder :func:`in_int8`.

    A pass's activations have one scale in common, so each row has a pass of its own, lest the rows beside it change it.
    The model itself stays as it is. ``benchmarks/quantised.py`` has what it costs and saves.
    """
    rounded = copy.deepcopy(model).cpu().float().eval()
    setattr(rounded, ENCODER, in_int8(getattr(rounded, ENCODER)))
    parts = ((np.array([row]), 1, None) for row in range(len(data.sizes)))
    return outputs(rounded, data, torch.device("cpu"), parts)


def in_int8(encoder: nn.Module) -> nn.Module:
    """Give a float32 encoder with the weights of its linear layers rounded to int8, for CPUs.

    Weights are scaled by output channel, activations as they come (dynamic quantisation; Jacob et al. 2018, section 2).
    """
    with warnings.catch_warnings():
        # torch.ao is deprecated; torchao, its successor, is another package, and slower here
        warnings.simplefilter("ignore")
        from torch.ao.quantization import per_channel_dynamic_qconfig, quantize_dynamic

        rounded: nn.Module = quantize_dynamic(encoder, {nn.Linear: per_channel_dynamic_qconfig})
    return rounded
