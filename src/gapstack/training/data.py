"""Rows that become tensors, in batches of similar length; predictions for them; validation rows; the loss."""

import copy
import warnings
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from gapstack.cache import array_digest
from gapstack.data import Corpus
from gapstack.data.folds import make_folds
from gapstack.encoding.frozen import PieceLimit, forward_budget, in_passes, on_device
from gapstack.encoding.pieces import PieceView, padded_ids
from gapstack.progress import progress
from gapstack.training.devices import Tensors, compute_dtype, processes, tf32_under, training_budget
from gapstack.training.parameters import ENCODER, cast
from gapstack.types import Rows

Targets = NDArray[np.int64] | NDArray[np.float64]
"""Class labels (n,) int64, or soft labels (n, c): a teacher's probabilities of the classes."""

Objective = Callable[[Tensor, Tensor, float], Tensor]
"""Maps the model's output, targets and label smoothing to the loss of each row, (b,)."""
TARGET = "target"  # key of a batch that goes to the loss and not to the model
_POOL = 16  # batches, within which rows are sorted by length


class RowData:
    """Rows for training or prediction: vectors, or arrays of one shape, such as frozen features, in float32."""

    def __init__(self, inputs: Mapping[str, NDArray[Any]], targets: Targets | None = None):
        columns = dict(inputs) if targets is None else {**inputs, TARGET: targets}
        self._columns = {
            name: column.astype(np.float32) if column.dtype == np.float64 else column
            for name, column in columns.items()
        }

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of pieces of each row, (n,): 1."""
        return np.ones(len(next(iter(self._columns.values()))), dtype=np.int64)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of everything that :meth:`batch` can return."""
        return array_digest(self._contents())

    def _contents(self) -> dict[str, NDArray[Any]]:
        return self._columns

    def batch(self, rows: Rows) -> dict[str, Tensor]:
        """Keyword arguments of the model for ``rows``, padded to the longest, and ``target`` where they have one."""
        return {name: torch.from_numpy(column[rows]) for name, column in self._columns.items()}


class PieceData(RowData):
    """Texts as padded word pieces.

    A batch of b rows has ``ids`` (b, L) int64; ``keep`` (b, L) bool, True on pieces, unless nothing is padded, since
    attention without a mask is faster; ``mentions`` (b, 3, 2) int64, half-open piece ranges of pronoun, A and B; and
    the ``extras``, further inputs with one entry of the first axis for each row (float64 becomes float32).
    """

    def __init__(
        self,
        view: PieceView,
        targets: Targets | None = None,
        extras: Mapping[str, NDArray[Any]] | None = None,
    ):
        super().__init__({"mentions": view.mentions, **(extras or {})}, targets)
        self.view = view

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of pieces of each text, (n,)."""
        return self.view.lengths

    def _contents(self) -> dict[str, NDArray[Any]]:
        return {"ids": self.view.ids, "bounds": self.view.bounds, **self._columns}

    def batch(self, rows: Rows) -> dict[str, Tensor]:
        """See the class and :class:`RowData`."""
        return super().batch(rows) | self._texts(rows)

    def _texts(self, rows: Rows) -> dict[str, Tensor]:
        ids, keep = map(torch.from_numpy, padded_ids(self.view, rows))
        return {"ids": ids} if keep.all() else {"ids": ids, "keep": keep}


def epoch_batches(
    sizes: NDArray[np.int64], batch_size: int, seed: int, epoch: int, order: str = "by_length"
) -> list[Rows]:
    """Divide all rows into batches in an ``order`` of a plan; random orders depend on ``seed`` and ``epoch`` alone."""
    if order != "by_length":
        rows = np.arange(len(sizes))
        if order == "shuffled":
            rng = np.random.default_rng(seed)
            rows = [rng.permutation(rows) for _ in range(epoch + 1)][-1]
        return np.split(rows, range(batch_size, len(rows), batch_size))
    rng = np.random.default_rng([seed, epoch])
    shuffled = rng.permutation(len(sizes))
    parts: list[Rows] = []
    for start in range(0, len(shuffled), _POOL * batch_size):
        pool = shuffled[start : start + _POOL * batch_size]
        pool = pool[np.argsort(sizes[pool], kind="stable")]
        # the short batch goes to a random place in the pool, or it would always have the longest rows
        rest = len(pool) % batch_size
        cut = int(rng.integers(len(pool) // batch_size + 1)) * batch_size
        ends = [*range(batch_size, cut + 1, batch_size), *range(cut + rest, len(pool), batch_size)]
        parts += [part for part in np.split(pool, ends) if len(part)]
    return [parts[index] for index in rng.permutation(len(parts))]


Inputs = tuple[Tensors, Tensor]  # keyword arguments of a model, and targets (or empty)


def loader(data: RowData, rows: Rows, device: torch.device) -> Callable[[Rows], Inputs]:
    """Return a function that puts the rows at given positions of ``rows`` on ``device``."""

    def load(part: Rows) -> Inputs:
        batch = on_device(data.batch(rows[part]), device)
        return batch, batch.pop(TARGET, torch.empty(0))

    return load


def predict(model: nn.Module, data: RowData, *, precision: str = "auto") -> NDArray[np.float64]:
    """Compute the model's output for every row, (n, ...) float64; its encoder stays in ``precision`` (of a plan)."""
    device = processes().device
    model.to(device).eval()
    cast(model, compute_dtype(precision, device, model))
    limit = PieceLimit(prediction_budget(model, device))
    with tf32_under(precision):
        return _outputs(model, data, np.argsort(data.sizes, kind="stable"), device, limit)


def prediction_budget(model: nn.Module, device: torch.device) -> int:
    """Pieces in a forward pass."""
    config = getattr(getattr(model, ENCODER, None), "config", None)
    return training_budget(device) if config is None else forward_budget(device, config)


def predict_in_int8(model: nn.Module, data: RowData) -> NDArray[np.float64]:
    """As :func:`predict`, on the CPU, with int8 weights in the encoder's linear layers (Jacob et al. 2018)."""
    rounded = copy.deepcopy(model).cpu().float().eval()
    with warnings.catch_warnings():
        # torch.ao is deprecated; torchao, its successor, is another package, and slower here
        warnings.simplefilter("ignore")
        from torch.ao.quantization import per_channel_dynamic_qconfig, quantize_dynamic

        encoder = quantize_dynamic(getattr(rounded, ENCODER), {nn.Linear: per_channel_dynamic_qconfig})
    setattr(rounded, ENCODER, encoder)
    return _outputs(rounded, data, np.arange(len(data.sizes)), torch.device("cpu"), PieceLimit(1))


def _outputs(
    model: nn.Module, data: RowData, order: Rows, device: torch.device, limit: PieceLimit
) -> NDArray[np.float64]:
    @torch.inference_mode()
    def compute(_: Rows, loaded: Inputs) -> Tensor:
        return model(**loaded[0])

    outputs: list[Tensor] = []
    with progress("Predicting", len(order)) as ticker:
        for part, output in in_passes(data.sizes[order], limit, loader(data, order, device), compute):
            outputs.append(output.double())
            ticker.advance(len(part))
    return np.asarray(torch.cat(outputs).numpy()[np.argsort(order)])


def cross_entropy(logits: Tensor, target: Tensor, smoothing: float) -> Tensor:
    """Cross-entropy (b,) of logits (b, c) with labels (b,), or soft labels (b, c) that sum to their row's weight."""
    if not target.is_floating_point():
        return functional.cross_entropy(logits.float(), target, reduction="none", label_smoothing=smoothing)
    weight = target.sum(dim=-1, keepdim=True)
    return weight.squeeze(-1) * functional.cross_entropy(
        logits.float(), target / weight, reduction="none", label_smoothing=smoothing
    )


def validation_rows(corpus: Corpus, share: float, seed: int) -> tuple[Rows, Rows]:
    """Split a labelled corpus into training rows and about a ``share`` for early stopping, by pages."""
    learn, stop = make_folds(corpus, round(1 / share), seed=seed).split(0)
    return np.sort(learn), np.sort(stop)
