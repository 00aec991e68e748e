"""The training loop: updates, evaluations and checkpoints of one or more phases.

Random numbers depend on the seed and the update's number alone, or on a generator whose state is in the checkpoint, so
an interrupted run resumes in the middle of an epoch with the result of an uninterrupted one.
"""

import math
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import filelock
import numpy as np
import torch
from safetensors.torch import load_file, save
from torch import Tensor, nn

from gapstack.cache import intact_files, store
from gapstack.encoding.frozen import PieceLimit, in_passes
from gapstack.encoding.pieces import batches
from gapstack.errors import MemberError
from gapstack.files import CACHE, cache_root, require_writable
from gapstack.progress import Ticker, progress
from gapstack.training.checkpoints import (
    LOG,
    Checkpoints,
    Evaluation,
    History,
    checkpoint_context,
    current_context,
    identity,
    write_log,
)
from gapstack.training.compiled import CompiledPasses
from gapstack.training.data import TARGET, Inputs, Objective, RowData, cross_entropy, epoch_batches, loader
from gapstack.training.devices import (
    Tensors,
    compute_dtype,
    processes,
    reseed,
    restore_rng,
    rng_states,
    seeded,
    tf32_under,
    training_budget,
)
from gapstack.training.parameters import ENCODER, Optimizer, Weights, freeze, keep_activations, trained_names
from gapstack.training.plan import TrainingPlan
from gapstack.types import Rows


def train(
    model: nn.Module,
    data: RowData,
    plan: TrainingPlan | Sequence[TrainingPlan],
    validation: RowData | None = None,
    *,
    objective: Objective = cross_entropy,
) -> History:
    """Fine-tune a float32 model in place, on the GPU if there is one; afterwards it is in evaluation mode.

    ``plan`` is one phase or several, each with a fresh optimiser; ``validation`` has the rows for early stopping.
    Checkpoints and logs go to the folder of :func:`checkpoint_context`. Under ``torchrun`` each process takes its share
    of every batch, with the same result. The model's ``encoder`` may compute in bfloat16, so the head must cast its
    output to float32.
    """
    plans = (plan,) if isinstance(plan, TrainingPlan) else tuple(plan)
    if not plans or not len(data.sizes):
        raise MemberError("training needs a plan and at least one row")
    if TARGET not in data.batch(np.array([0])):
        raise MemberError("training data give no target; use labelled rows")
    if validation is None and any(phase.patience is not None for phase in plans):
        raise MemberError(
            "training plan: patience needs validation rows to stop by; give some, or leave it out"
        )
    running = any(phase.draws_on_running_rng for phase in plans)
    with seeded(*(() if running else (plans[0].seed,))):
        return _Training(model, data, plans, validation, objective).run()


def train_once(
    model: nn.Module,
    data: RowData,
    plans: Sequence[TrainingPlan],
    *,
    objective: Objective = cross_entropy,
) -> None:
    """Train in place as :func:`train`, or load the weights of an earlier call (:func:`~.checkpoints.identity`)."""
    key = identity(model, data, plans, objective=objective)
    folder = cache_root() / "trained"
    require_writable(folder, CACHE)
    folder.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(folder / f".{key}.lock"):
        stored = intact_files(folder, ".safetensors", label=f"{key}-")
        if not stored:
            with checkpoint_context(folder / "unfinished"):
                train(model, data, plans, objective=objective)
            names = trained_names(model, plans) | {name for name, _ in model.named_buffers()}
            weights = {
                name: tensor.cpu().clone() for name, tensor in model.state_dict().items() if name in names
            }
            stored = [store(folder, save(weights), ".safetensors", label=f"{key}-")]
            shutil.rmtree(folder / "unfinished" / key, ignore_errors=True)
    model.load_state_dict(load_file(stored[0]), strict=False)
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
        data: RowData,
        plans: tuple[TrainingPlan, ...],
        validation: RowData | None,
        objective: Objective,
    ):
        self.model, self.data, self.plans, self.validation = model, data, plans, validation
        self.objective, self.state = objective, processes()
        self.device = self.state.device
        self.trainable = trained_names(model, plans)  # also raises early if a plan does not fit the model
        self.record = _Record()
        self.best: Tensors = {}
        self.checkpoints: Checkpoints | None = None
        self.log: Path | None = None
        if context := current_context.get():
            folder = context[0] / identity(model, data, plans, validation, objective)
            self.checkpoints = Checkpoints(folder, context[1])
            if self.state.is_main_process:
                self.log = folder / LOG
        model.to(self.device)

    def run(self) -> History:
        adam = self._resume()
        started = time.perf_counter() - self.record.seconds
        self.clock = lambda: time.perf_counter() - started
        total = sum(plan.epochs * len(self.data.sizes) for plan in self.plans[self.record.phase :])
        with progress("training", total) as ticker:
            for plan in self.plans[self.record.phase :]:
                self.plan = plan
                with tf32_under(plan.precision):
                    self._phase(adam, ticker)
                adam = {}
        self.model.eval()
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

    def _phase(self, adam: Tensors, ticker: Ticker) -> None:
        """Run one plan, from the update in the record."""
        plan, record, rows_in_all = self.plan, self.record, len(self.data.sizes)
        freeze(self.model, plan.frozen)
        keep_activations(self.model, not plan.checkpointing)
        self.weights = Weights(self.model, compute_dtype(plan.precision, self.device, self.model))
        remedy = "max_pieces" if plan.checkpointing else "checkpointing = true, or max_pieces"
        self.limit = PieceLimit(plan.token_budget or training_budget(self.device), remedy)
        self.optimizer = optimizer = Optimizer(self.model, self.weights, plan)
        optimizer.restore(adam)
        self._train_mode()
        self.compiled = CompiledPasses(self.model, int(self.data.sizes.max())) if plan.compiled else None
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
            batch_loss = self._gradients(rows)
            loss += optimizer.add_up(batch_loss) if self.state.num_processes > 1 else batch_loss
            optimizer.step(rate)
            record.update += 1
            record.rows += len(rows)
            evaluates = record.update % every == 0 or record.update == total
            saves = self.checkpoints is not None and self.checkpoints.is_due()
            if evaluates or saves or start - last_read > 1:  # reading the loss makes a GPU wait
                last_read, record.loss = start, float(loss)
                if not math.isfinite(record.loss):
                    raise MemberError(
                        f"the training loss is not finite after update {record.update} of phase "
                        f"{record.phase}; lower the learning rates or use precision float32"
                    )
            record.seconds_learning += self.clock() - start
            ticker.advance(len(rows), note=f"loss {record.loss / record.rows:.3f}")
            if evaluates:
                self._evaluate(epoch, rate)
                loss.zero_()
            if saves:
                self._save(optimizer.state())
        # put the phase's result into the model, in float32, and move the record to the next phase
        self.weights.close()
        keep_activations(self.model, True)
        self.model.load_state_dict(self.best, strict=False)
        record.best_updates.append(record.best_update)
        record.phase, record.update = record.phase + 1, 0
        record.best, record.best_update, record.misses, self.best = None, None, 0, {}
        self.weights = Weights(self.model, torch.float32)
        self._save({})

    def _train_mode(self) -> None:
        self.model.train()
        encoder = getattr(self.model, ENCODER, None)
        if encoder is not None and not any(p.requires_grad for p in encoder.parameters()):
            encoder.eval()

    def _gradients(self, rows: Rows) -> Tensor:
        """Compute the gradients of this process's share of ``rows``, and return the sum of their losses, ()."""
        while True:
            with suppress(torch.OutOfMemoryError):
                return self._forward_and_backward(rows)
            # outside the handler, since the error keeps the tensors alive
            self.weights.drop_gradients()
            self.limit.halve(int(self.data.sizes.max()))

    def _forward_and_backward(self, rows: Rows) -> Tensor:
        rank, plan = self.state.process_index, self.plan
        if not plan.draws_on_running_rng:
            reseed(plan.seed, self.record.phase, self.record.update, rank)
        total = torch.zeros((), device=self.device)
        own = rows[rank :: self.state.num_processes]
        load = loader(self.data, own, self.device)
        for part in batches(self.data.sizes[own], self.limit.pieces):
            inputs, target = load(part)
            output = self._output(inputs, whole=len(part) * self.state.num_processes == plan.batch_size)
            loss = self.objective(output, target, plan.label_smoothing).sum()
            self.optimizer.backward(loss / len(rows))
            self.weights.collect()
            total += loss.detach()
        return total

    def _output(self, inputs: Tensors, whole: bool) -> Tensor:
        """The model's output; only a ``whole`` batch is compiled, since others have shapes of their own."""
        if self.compiled is None or not whole:
            return self.model(**inputs)
        with self.compiled.running():
            return self.model(**self.compiled.in_bucket(inputs))

    def _evaluate(self, epoch: int, rate: float) -> None:
        """Record an evaluation, and keep the weights if they are the best so far."""
        record = self.record
        validation = None if self.validation is None else self._validation_loss(self.validation)
        evaluation = Evaluation(
            phase=record.phase,
            epoch=epoch,
            update=record.update,
            loss=record.loss / record.rows,
            validation=validation,
            rate=rate,
            examples_per_second=record.rows / record.seconds_learning,
            seconds=self.clock(),
        )
        record.evaluations.append(evaluation)
        record.loss, record.rows, record.seconds_learning = 0.0, 0, 0.0
        if self.log is not None:
            write_log(self.log, record.evaluations)
        if self.plan.patience is None or validation is None:
            return
        if record.best is None or validation < record.best:
            record.best, record.best_update, record.misses = validation, record.update, 0
            self.best = {name: tensor.clone() for name, tensor in self._trained_state().items()}
        else:
            record.misses += 1

    def _validation_loss(self, data: RowData) -> float:
        """Mean loss without label smoothing; every process computes all rows."""
        self.model.eval()
        order = np.argsort(data.sizes, kind="stable")

        @torch.inference_mode()
        def compute(_: Rows, loaded: Inputs) -> Tensor:
            return self.objective(self.model(**loaded[0]), loaded[1], 0.0).sum()

        load = loader(data, order, self.device)
        total = sum(float(loss) for _, loss in in_passes(data.sizes[order], self.limit, load, compute))
        self._train_mode()
        return total / len(order)

    def _trained_state(self) -> Tensors:
        """All tensors that any phase changes, by name: float32 weights, and buffers (batch norms')."""
        state = self.model.state_dict()
        return {name: self.weights.masters[name].detach() for name in sorted(self.trainable)} | {
            name: state[name] for name, _ in self.model.named_buffers() if name in state
        }

    def _save(self, adam: Tensors) -> None:
        if self.checkpoints is None or not self.state.is_main_process:
            return
        rng = rng_states() if any(plan.draws_on_running_rng for plan in self.plans) else {}
        parts = {"weights": self._trained_state(), "best": self.best, "adam": adam, "rng": rng}
        tensors = {f"{part}/{name}": tensor for part, own in parts.items() for name, tensor in own.items()}
        self.record.seconds = self.clock()
        self.checkpoints.save(asdict(self.record), tensors)
