"""The training loop: updates, evaluations and checkpoints of one or more phases.

Random numbers depend on the seed and the number of the update alone, or on a generator whose state is part of the
checkpoint, so an interrupted run resumes in the middle of an epoch with the result of an uninterrupted one.
"""

from __future__ import annotations

import logging
import math
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field

import filelock
import numpy as np
import torch
from safetensors.torch import load_file, save
from torch import Tensor, nn

from gapstack.cache import intact_files, store
from gapstack.errors import MemberError
from gapstack.files import cache_root
from gapstack.progress import Ticker, progress
from gapstack.training.checkpoints import CheckpointContext, Checkpoints, Tensors, current_context
from gapstack.training.data import TARGET, Data, Objective, cross_entropy, epoch_batches
from gapstack.training.devices import (
    compute_dtype,
    default_budget,
    processes,
    reseed,
    restore_rng,
    rng_states,
    seeded,
)
from gapstack.training.fingerprint import draws_on, identity
from gapstack.training.history import Evaluation, History, Log
from gapstack.training.parameters import ENCODER, Optimizer, Weights, freeze, keep_activations
from gapstack.training.plan import TrainingPlan
from gapstack.training.prediction import passes
from gapstack.types import Rows

_log = logging.getLogger(__name__)


def train(
    model: nn.Module,
    data: Data,
    plan: TrainingPlan | Sequence[TrainingPlan],
    validation: Data | None = None,
    *,
    objective: Objective = cross_entropy,
    context: CheckpointContext | None = None,
) -> History:
    """Fine-tune a model in place, on the GPU if there is one.

    Under ``torchrun`` or ``accelerate launch`` each process takes its share of every batch, with the result of one
    process. (:func:`gapstack.runs.run` distributes members and folds instead.)

    Parameters
    ----------
    model : torch.nn.Module
        float32. Its ``encoder``, if any, may compute in bfloat16, so the head must cast the encoder's output to
        float32. Afterwards the model is in evaluation mode, on the device, in float32.
    data, validation : Data
        Training rows and rows for early stopping, with ``target``.
    plan : TrainingPlan or sequence of them
        Phases, run in turn, each with a fresh optimiser.
    objective : callable
        See :data:`~gapstack.training.data.Objective`.
    context : CheckpointContext, optional
        Where checkpoints and logs go; by default the enclosing ``checkpoint_context`` block, if any.

    Raises
    ------
    MemberError
        If there are no rows or targets, a plan does not fit the model, or the loss is no longer a number.
    """
    plans = (plan,) if isinstance(plan, TrainingPlan) else tuple(plan)
    if not plans or not len(data.sizes):
        raise MemberError("training needs a plan and at least one row")
    if TARGET not in data.batch(np.array([0])):
        raise MemberError("training data give no target; use labelled rows")
    if validation is None and any(phase.patience is not None for phase in plans):
        raise MemberError("training plan: patience needs validation rows to stop by")
    with seeded(*(() if draws_on(plans) else (plans[0].seed,))):
        return _Training(model, data, plans, validation, objective, context or current_context()).run()


def train_once(
    model: nn.Module,
    data: Data,
    plan: TrainingPlan | Sequence[TrainingPlan],
    *,
    objective: Objective = cross_entropy,
) -> None:
    """Train a model in place as :func:`~gapstack.training.train` does, or load the weights of an earlier call.

    The cache key is :func:`~gapstack.training.fingerprint.identity`, so folds whose first stage has the same seed and
    rows share one training. One of several concurrent processes trains while the others wait. An interrupted call
    resumes.
    """
    plans = (plan,) if isinstance(plan, TrainingPlan) else tuple(plan)
    key = identity(model, data, plans, objective=objective)
    folder = cache_root() / "trained"
    folder.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(folder / f".{key}.lock"):
        stored = intact_files(folder, ".safetensors", label=f"{key}-")
        if not stored:
            context = CheckpointContext(folder / "unfinished")
            train(model, data, plans, objective=objective, context=context)
            weights = {name: tensor.cpu().clone() for name, tensor in model.state_dict().items()}
            stored = [store(folder, save(weights), ".safetensors", label=f"{key}-")]
            shutil.rmtree(context.subfolder(key).folder, ignore_errors=True)
    model.load_state_dict(load_file(stored[0]))
    model.eval()


@dataclass
class _Record:
    """Progress of a run: the part of a checkpoint that is JSON."""

    phase: int = 0
    update: int = 0
    evaluations: list[Evaluation] = field(default_factory=list)
    best: float | None = None
    best_update: int | None = None
    best_updates: list[int | None] = field(default_factory=list)
    misses: int = 0
    loss: float = 0.0
    rows: int = 0
    seconds: float = 0.0
    seconds_learning: float = 0.0


class _Training:
    """One call of :func:`train`."""

    def __init__(
        self,
        model: nn.Module,
        data: Data,
        plans: tuple[TrainingPlan, ...],
        validation: Data | None,
        objective: Objective,
        context: CheckpointContext | None,
    ):
        self.model, self.data, self.plans, self.validation = model, data, plans, validation
        self.objective = objective
        self.state = processes()
        self.device = self.state.device
        self.trainable: set[str] = set()
        for plan in plans:  # also raises early if a plan does not fit the model
            freeze(model, plan.frozen)
            self.trainable |= {name for name, p in model.named_parameters() if p.requires_grad}
        self.record = _Record()
        self.longest = int(data.sizes.max())
        self.most_pieces: int | None = None  # after memory ran out
        self.best: Tensors = {}
        self.checkpoints: Checkpoints | None = None
        self.log: Log | None = None
        if context is not None:
            context = context.subfolder(identity(model, data, plans, validation, objective))
            self.checkpoints = Checkpoints(context.folder, context.checkpoint_seconds)
            if self.state.is_main_process:
                self.log = Log(context.folder, context.tensorboard)
        model.to(self.device)

    def run(self) -> History:
        adam = self._resume()
        started = time.perf_counter() - self.record.seconds
        self.clock = lambda: time.perf_counter() - started
        total = sum(plan.epochs * len(self.data.sizes) for plan in self.plans[self.record.phase :])
        with progress("Training", total) as ticker:
            for phase in range(self.record.phase, len(self.plans)):
                self._phase(self.plans[phase], adam, ticker)
                adam = {}
        self.model.eval()
        if self.log is not None:
            self.log.close()
        return History(tuple(self.record.evaluations), tuple(self.record.best_updates))

    def _resume(self) -> Tensors:
        """Load the checkpoint, if any, and return the optimiser's state."""
        checkpoint = self.checkpoints.load() if self.checkpoints else None
        if checkpoint is None:
            return {}
        values, tensors = checkpoint
        evaluations = [Evaluation(**line) for line in values.pop("evaluations")]
        self.record = _Record(evaluations=evaluations, **values)
        parts: dict[str, Tensors] = {"weights": {}, "best": {}, "adam": {}, "rng": {}}
        for key, tensor in tensors.items():
            part, _, name = key.partition("/")
            parts[part][name] = tensor if part == "rng" else tensor.to(self.device)
        self.model.load_state_dict(parts["weights"], strict=False)
        self.best = parts["best"]
        restore_rng(parts["rng"])
        return parts["adam"]

    def _phase(self, plan: TrainingPlan, adam: Tensors, ticker: Ticker) -> None:
        """Run one plan, from the update in the record."""
        record, rows_in_all = self.record, len(self.data.sizes)
        freeze(self.model, plan.frozen)
        keep_activations(self.model, not plan.checkpointing)
        weights = Weights(self.model, compute_dtype(plan.precision, self.device))
        optimizer = Optimizer(self.model, weights, plan)
        optimizer.restore(adam)
        self._train_mode()
        per_epoch = -(-rows_in_all // plan.batch_size)
        total, every = plan.epochs * per_epoch, plan.evaluate_every or per_epoch
        loss, last_read = torch.tensor(record.loss, device=self.device), 0.0
        epoch, order = -1, list[Rows]()
        ticker.advance(record.update // per_epoch * rows_in_all + record.update % per_epoch * plan.batch_size)
        while record.update < total and not (plan.patience and record.misses >= plan.patience):
            start = self.clock()
            if record.update // per_epoch != epoch:
                epoch = record.update // per_epoch
                order = epoch_batches(self.data.sizes, plan.batch_size, plan.seed, epoch, plan.order)
            rows = order[record.update % per_epoch]
            rate = plan.schedule.factor(record.update, total)
            loss += self._update(plan, weights, optimizer, rows, rate)
            record.update += 1
            record.rows += len(rows)
            evaluates = record.update % every == 0 or record.update == total
            saves = self.checkpoints is not None and self.checkpoints.is_due()
            if evaluates or saves or start - last_read > 1:  # reading the loss makes a GPU wait
                last_read, record.loss = start, self._finite(loss)
            record.seconds_learning += self.clock() - start
            ticker.advance(len(rows), note=f"loss {record.loss / record.rows:.3f}")
            if evaluates:
                self._evaluate(plan, weights, epoch, rate)
                loss.zero_()
            if saves:
                self._save(weights, optimizer)
        self._end_phase(plan, weights)

    def _train_mode(self) -> None:
        self.model.train()
        encoder = getattr(self.model, ENCODER, None)
        if encoder is not None and not any(p.requires_grad for p in encoder.parameters()):
            encoder.eval()

    def _update(
        self, plan: TrainingPlan, weights: Weights, optimizer: Optimizer, rows: Rows, rate: float
    ) -> Tensor:
        """Make one update with ``rows`` and return the sum of their losses, ()."""
        total: Tensor | None = None
        while total is None:
            with suppress(torch.OutOfMemoryError):
                total = self._gradients(plan, weights, rows)
            if total is None:  # outside the handler, since the error keeps the tensors alive
                weights.drop_gradients()
                self._halve_budget(plan)
        if self.state.num_processes > 1:
            total = optimizer.add_up(total)
        optimizer.step(rate)
        return total

    def _budget(self, plan: TrainingPlan) -> int:
        """Pieces in one pass."""
        limit = plan.token_budget or default_budget(self.device)
        return limit if self.most_pieces is None else min(limit, self.most_pieces)

    def _halve_budget(self, plan: TrainingPlan) -> None:
        before = self._budget(plan)
        if before <= self.longest:
            remedy = "max_pieces" if plan.checkpointing else "checkpointing = true, or max_pieces"
            raise MemberError(
                f"out of memory with one row of {self.longest:,} pieces; set {remedy}, or use a smaller encoder"
            )
        self.most_pieces = max(self.longest, before // 2)
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        _log.warning(
            "out of memory with %s pieces in a pass; continuing with %s (set token_budget to start with it)",
            f"{before:,}",
            f"{self.most_pieces:,}",
        )

    def _gradients(self, plan: TrainingPlan, weights: Weights, rows: Rows) -> Tensor:
        """Add up the gradients of this process's share of ``rows``, and return the sum of their losses, ()."""
        rank, count = self.state.process_index, self.state.num_processes
        if plan.dropout_rng == "by_update":
            reseed(plan.seed, self.record.phase, self.record.update, rank)
        total = torch.zeros((), device=self.device)
        for _, inputs, target in passes(self.data, rows[rank::count], self.device, self._budget(plan)):
            loss = self.objective(self.model(**inputs), target, plan.label_smoothing).sum()
            (loss / len(rows)).backward()
            weights.collect()
            total += loss.detach()
        return total

    def _finite(self, loss: Tensor) -> float:
        value = float(loss)
        if not math.isfinite(value):
            raise MemberError(
                f"the training loss is no longer a number after update {self.record.update} of phase "
                f"{self.record.phase}; lower the learning rates or use precision float32"
            )
        return value

    def _evaluate(self, plan: TrainingPlan, weights: Weights, epoch: int, rate: float) -> None:
        """Record an evaluation, and store the weights if they are the best so far."""
        record = self.record
        validation_loss = None if self.validation is None else self._validation_loss(self.validation, plan)
        record.evaluations.append(
            Evaluation(
                phase=record.phase,
                epoch=epoch,
                update=record.update,
                loss=record.loss / record.rows,
                validation=validation_loss,
                rate=rate,
                examples_per_second=record.rows / record.seconds_learning,
                seconds=self.clock(),
            )
        )
        record.loss, record.rows, record.seconds_learning = 0.0, 0, 0.0
        if self.log is not None:
            self.log.write(record.evaluations)
        if plan.patience is not None and validation_loss is not None:
            if record.best is None or validation_loss < record.best:
                record.best, record.best_update, record.misses = validation_loss, record.update, 0
                self.best = {name: tensor.clone() for name, tensor in self._trained_state(weights).items()}
            else:
                record.misses += 1

    @torch.inference_mode()
    def _validation_loss(self, data: Data, plan: TrainingPlan) -> float:
        """Mean loss without label smoothing; every process computes all rows."""
        self.model.eval()
        order = np.argsort(data.sizes, kind="stable")
        total = sum(
            float(self.objective(self.model(**inputs), target, 0.0).sum())
            for _, inputs, target in passes(data, order, self.device, self._budget(plan))
        )
        self._train_mode()
        return total / len(order)

    def _trained_state(self, weights: Weights) -> Tensors:
        """All tensors that any phase changes, by name: float32 weights, and buffers (batch norms')."""
        state = self.model.state_dict()
        return {name: weights.masters[name].detach() for name in sorted(self.trainable)} | {
            name: state[name] for name, _ in self.model.named_buffers() if name in state
        }

    def _end_phase(self, plan: TrainingPlan, weights: Weights) -> None:
        """Put the phase's result into the model, in float32, and move the record to the next phase."""
        record = self.record
        weights.close()
        keep_activations(self.model, True)
        self.model.load_state_dict(self.best, strict=False)
        record.best_updates.append(record.best_update)
        record.phase, record.update = record.phase + 1, 0
        record.best, record.best_update, record.misses, self.best = None, None, 0, {}
        self._save(Weights(self.model, torch.float32), None)

    def _save(self, weights: Weights, optimizer: Optimizer | None) -> None:
        if self.checkpoints is None or not self.state.is_main_process:
            return
        tensors = {f"weights/{name}": tensor for name, tensor in self._trained_state(weights).items()}
        tensors |= {f"best/{name}": tensor for name, tensor in self.best.items()}
        if optimizer is not None:
            tensors |= {f"adam/{key}": tensor for key, tensor in optimizer.state().items()}
        if draws_on(self.plans):
            tensors |= {f"rng/{device}": state for device, state in rng_states().items()}
        self.record.seconds = self.clock()
        self.checkpoints.save(asdict(self.record), tensors)
