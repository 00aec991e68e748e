"""Base of fine-tuned members: everything but the network's head and its input.

While a plan freezes the whole encoder, it runs once over all rows and only the head is trained, on hidden states in
float16. Those of the pre-trained encoder are cached on disk (:mod:`gapstack.encoding.activations`) for all folds and
members.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from gapstack.data import Corpus
from gapstack.data.extra import ExtraNames
from gapstack.data.teacher import TeacherNames, soft_labelled
from gapstack.encoding.activations import hidden_states
from gapstack.encoding.encoders import Encoder, EncoderName, encoder_size, load_encoder
from gapstack.encoding.frozen import PieceLimit, in_half, in_passes, read_states
from gapstack.encoding.pieces import align
from gapstack.errors import MemberError
from gapstack.members.learned_state import State
from gapstack.members.member import Member
from gapstack.progress import progress
from gapstack.settings import Count, Natural, Seed, ValidationFraction
from gapstack.training import (
    History,
    PieceData,
    Schedule,
    Targets,
    TrainingPlan,
    cross_entropy,
    predict,
    seeded,
    train,
    train_once,
    trainable_encoder,
    validation_rows,
)
from gapstack.training.data import Inputs, Objective, loader, predict_in_int8, prediction_budget
from gapstack.training.devices import compute_dtype, processes
from gapstack.training.parameters import ENCODER, Weights, trained_names
from gapstack.training.plan import Plan, for_size
from gapstack.types import Floats, Probabilities, Rows

LAST = (-1,)
ON_GAP = TrainingPlan(
    epochs=3,
    batch_size=32,
    encoder_lr=1e-4,
    head_lr=5e-4,
    frozen=(0,),
    schedule=Schedule(shape="linear", warmup=0.1),
    label_smoothing=0.05,
)
"""Default plan over the embedded encoder."""
HEAD_ALONE = ON_GAP.changed({"epochs": 15, "head_lr": 2e-3, "frozen": (ENCODER,)})
"""Default plan of a head on the frozen encoder."""


class FineTuned(Member):
    """A network over a pre-trained encoder that is fine-tuned on the corpus.

    ``extra`` and ``teacher`` are learned before GAP.

    A subclass defines :meth:`_build_head`. It also defines :meth:`_build_data`, :attr:`PLAN` and :meth:`plans` where
    the defaults do not fit.
    """

    extra: ExtraNames = ()
    """Corpora that are learned before GAP, by their names in :data:`gapstack.data.extra.EXTRA`."""
    teacher: TeacherNames = None
    """Soft labels that are learned before GAP's: see :func:`gapstack.data.teacher.load_teacher`."""
    encoder: EncoderName = None
    """Name or folder of the encoder; the embedded MiniLM by default."""
    training: Plan | Sequence[Plan] | None = None
    """Changes of :attr:`PLAN`, fields of :class:`~gapstack.training.TrainingPlan`; for each phase, or for all."""
    pretraining: Plan | Sequence[Plan] | None = None
    """Phases on ``extra`` and ``teacher``; the defaults of a phase are those of the last one on GAP."""
    validation_share: ValidationFraction = 0.1
    """Share of the training rows, whole pages, that early stopping holds back if ``training`` sets ``patience``."""
    max_pieces: Count | None = None
    """Longest window in pieces; by default the encoder's limit."""
    lora: Natural | None = None
    """Rank of adapters that are trained in place of the encoder's own weights (Hu et al. 2022); 0 for none. By default
    16 for encoders of more than a billion parameters, and none for others."""
    int8: bool = False
    """Predict with the encoder's linear layers rounded to int8, row by row on the CPU; training does not change."""
    seed: Seed = 0
    """Seed of the head's first weights, dropout, the order of rows and the choice of validation rows."""

    PLAN: ClassVar[TrainingPlan | tuple[TrainingPlan, ...]] = ON_GAP

    @abstractmethod
    def _build_head(self, encoder: Encoder) -> nn.Module:
        """Called by ``fit``, ``prepare`` and ``restore``: a new head.

        The head is called with hidden states (b, L, layers * H) float32, and by name with the inputs of
        :meth:`_build_data` except ``ids``; ``keep`` is missing where nothing is padded. It returns logits (b, 3). Two
        attributes are optional: ``encoder_layers``, the layers that it reads side by side, from 0 (embeddings) up or
        from -1 (the last, the default) down; and ``loss(output, target, smoothing)``, in place of
        :func:`mean_cross_entropy`.
        """

    def _build_data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        """Called whenever rows are learned or predicted: the network's input.

        By default, the pieces of the rows' texts and mentions.
        """
        return PieceData(align(corpus, encoder, self.max_pieces), targets)

    def prepare(self, corpus: Corpus) -> None:
        """Compute inputs in one pass; before ``fit``, also train on the extra corpora and the teacher."""
        super().prepare(corpus)
        if (self.extra or self.teacher) and not self._is_fitted:
            self._pretrain(*self._network(self.plans()))

    def _prepare(self, corpus: Corpus) -> None:
        """Run the encoder once if it is frozen."""
        plan = self.plans()[0]
        if not (self.extra or self.teacher) and freezes_encoder(plan):
            encoder = self._encoder()
            dtype = compute_dtype(plan.precision, processes().device, encoder)
            with seeded(self.seed):
                layers = layers_read_by(self._build_head(encoder))
            hidden_states(self._build_data(corpus, encoder, None).view, encoder, layers, dtype)

    def _encoder(self) -> Encoder:
        return load_encoder(self.encoder)

    def plans(self) -> tuple[TrainingPlan, ...]:
        """Return the plan of each phase for an encoder of this size, with the changes of ``training``.

        Override it where :attr:`PLAN` depends on settings.
        """
        return self._changed((self.PLAN,) if isinstance(self.PLAN, TrainingPlan) else self.PLAN)

    def _changed(self, phases: tuple[TrainingPlan, ...]) -> tuple[TrainingPlan, ...]:
        """Adapt plans to the encoder's size, and change them by ``training``."""
        changes = self.training or {}
        if not all(map(freezes_encoder, phases)) and (size := encoder_size(self.encoder)) is not None:
            phases = tuple(
                phase if freezes_encoder(phase) else for_size(phase, size.parameters, self.lora)
                for phase in phases
            )
        each = [changes] * len(phases) if isinstance(changes, Mapping) else list(changes)
        if len(each) != len(phases):
            raise MemberError(
                f"{type(self).__name__} is trained in {len(phases)} phases; training has {len(each)}. Give a table for "
                "each phase, or one for all"
            )
        plans = tuple(
            replace(plan.changed(dict(change)), seed=self.seed)
            for plan, change in zip(phases, each, strict=True)
        )
        if self.int8 and all(map(freezes_encoder, plans)):
            raise MemberError("int8 rounds a tuned encoder, and all of this one is frozen; leave int8 out")
        return plans

    def pretraining_plans(self) -> list[TrainingPlan]:
        """Return the plans of the phases on ``extra`` and ``teacher``."""
        stages = (
            [self.pretraining or {}] if isinstance(self.pretraining, Mapping | None) else self.pretraining
        )
        return [self.plans()[-1].changed({"patience": None, **stage}) for stage in stages]

    def _network(self, plans: Sequence[TrainingPlan]) -> tuple[Encoder, Network]:
        encoder = self._encoder()
        with seeded(self.seed):
            body = trainable_encoder(encoder, plans[-1], self.lora)
            return encoder, Network(body, self._build_head(encoder))

    def _fit(self, corpus: Corpus) -> None:
        plans = self.plans()
        encoder, network = self._network(plans)
        changed = self._pretrain(encoder, network) if self.extra or self.teacher else set()
        learned = trained_names(network, plans) | changed
        held: PieceData | None = None
        if any(plan.patience is not None for plan in plans):
            learn, stop = validation_rows(corpus, self.validation_share, self.seed)
            validation, corpus = corpus.take(stop), corpus.take(learn)
            held = self._build_data(validation, encoder, validation.labels)
        data = self._build_data(corpus, encoder, corpus.labels)
        self.history_ = []
        for plan in plans:
            pretrained = None if _any_of_encoder(changed) else encoder
            self.history_.append(self._phase(network, data, held, plan, pretrained))
            changed |= trained_names(network, [plan])
        tensors: dict[str, Tensor] = {name: p for name, p in network.named_parameters() if name in learned}
        tensors |= {f"head.{name}": buffer for name, buffer in network.head.named_buffers()}
        # predict with the rounded weights that a file would give back
        self.arrays_ = {name: compact(name, tensor) for name, tensor in tensors.items()}
        self._load_network()

    def _pretrain(self, encoder: Encoder, network: Network) -> set[str]:
        """Learn the extra corpora and the teacher, once for all folds; return names of changed parameters."""
        phases = self.pretraining_plans()
        corpus, targets = soft_labelled(self.extra, self.teacher, self.augment)
        train_once(
            network, self._build_data(corpus, encoder, targets), phases, objective=loss_of(network.head)
        )
        return trained_names(network, phases)

    def _phase(
        self,
        network: Network,
        data: PieceData,
        held: PieceData | None,
        plan: TrainingPlan,
        pretrained: Encoder | None,
    ) -> History:
        """Train one phase; ``pretrained`` is the encoder if nothing has changed it yet."""
        held = held if plan.patience is not None else None
        if not freezes_encoder(plan):
            return train(network, data, plan, held, objective=loss_of(network.head))
        frozen = tuple(part for part in plan.frozen if part != ENCODER)
        rest = replace(plan, frozen=frozen, checkpointing=False, compiled=False)
        learned = HiddenData(data, network, pretrained, plan.precision)
        stopping = held and HiddenData(held, network, pretrained, plan.precision)
        return train(Network(None, network.head), learned, rest, stopping, objective=loss_of(network.head))

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return softmax(self._logits(self._build_data(corpus, self._encoder(), None)), axis=1)

    def _logits(self, data: PieceData) -> Floats:
        """The fitted network's logits, (n, ...)."""
        precision = self.plans()[-1].precision
        if _any_of_encoder(self.arrays_):
            if self.int8:
                return predict_in_int8(self.network_, data)
            return predict(self.network_, data, precision=precision)
        hidden = HiddenData(data, self.network_, self._encoder(), precision)
        return predict(Network(None, self.network_.head), hidden)

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self._load_network()

    def _load_network(self) -> None:
        _, self.network_ = self._network(self.plans())
        tensors = {name: torch.from_numpy(array) for name, array in self.arrays_.items()}
        self.network_.load_state_dict(tensors, strict=False)


def layers_read_by(head: nn.Module) -> tuple[int, ...]:
    """Layers of the encoder that a head reads."""
    return tuple(getattr(head, "encoder_layers", LAST))


def loss_of(head: nn.Module) -> Objective:
    """Loss that a head is trained with."""
    return getattr(head, "loss", mean_cross_entropy)


def mean_cross_entropy(output: Tensor, target: Tensor, smoothing: float) -> Tensor:
    """Loss of each row, (b,), for logits (b, 3), or the mean loss of several heads, (b, heads, 3)."""
    heads = output.unsqueeze(1) if output.dim() == 2 else output
    return torch.stack([cross_entropy(logits, target, smoothing) for logits in heads.unbind(1)]).mean(0)


class Network(nn.Module):
    """An encoder without a task head, and a head over some of its layers; without encoder, it reads hidden states."""

    def __init__(self, encoder: nn.Module | None, head: nn.Module):
        super().__init__()
        self.encoder, self.head, self.layers = encoder, head, layers_read_by(head)

    def hidden(self, ids: Tensor, keep: Tensor | None = None) -> Tensor:
        """Hidden states (b, L, layers * H) float32 for ``ids`` (b, L) with mask ``keep``, True on pieces."""
        assert self.encoder is not None
        if self.layers == LAST:
            return read_states(self.encoder, ids, keep).last.float()
        layers = read_states(self.encoder, ids, keep, hidden=True).hidden
        return torch.cat([layers[layer] for layer in self.layers], dim=-1).float()

    def forward(self, ids: Tensor | None = None, hidden: Tensor | None = None, **inputs: Tensor) -> Tensor:
        """Return logits (b, classes) for pieces ``ids`` or their ``hidden`` states, and the head's other inputs."""
        if ids is not None:
            return self.head(self.hidden(ids, inputs.get("keep")), **inputs)
        assert hidden is not None
        return self.head(hidden.float(), **inputs)  # on the device: float16 is half as much to copy


class HiddenData(PieceData):
    """Rows as ``data`` with float16 hidden states (cached if pre-trained) in place of the pieces' ids."""

    def __init__(self, data: PieceData, network: Network, pretrained: Encoder | None, precision: str):
        self.view, self._columns = data.view, data._columns
        dtype = compute_dtype(precision, processes().device, network)
        # (pieces, D), all rows end to end
        self._states = (
            torch.from_numpy(hidden_states(data.view, pretrained, network.layers, dtype).values)
            if pretrained
            else _tuned_states(data, network, dtype)
        )

    def _contents(self) -> dict[str, NDArray[Any]]:
        return {**super()._contents(), "hidden": self._states.numpy()}

    def _texts(self, rows: Rows) -> dict[str, Tensor]:
        """The mask of :class:`PieceData`, and ``hidden`` (b, L, D), as stored, in place of ``ids``."""
        texts = super()._texts(rows)
        del texts["ids"]
        states = [self._states[self.view.row(row)] for row in rows]
        return {**texts, "hidden": pad_sequence(states, batch_first=True)}


def _tuned_states(data: PieceData, network: Network, dtype: torch.dtype) -> Tensor:
    """Hidden states (pieces, D) of an encoder that has been trained."""
    device = processes().device
    network.to(device).eval()
    weights = Weights(network, dtype)
    states = torch.empty(0)
    order = np.argsort(data.sizes, kind="stable")

    @torch.inference_mode()
    def compute(_: Rows, loaded: Inputs) -> Tensor:
        return in_half(network.hidden(loaded[0]["ids"], loaded[0].get("keep")))

    with progress("Encoding", len(order)) as ticker:
        limit = PieceLimit(prediction_budget(network, device))
        for rows, hidden in in_passes(data.sizes[order], limit, loader(data, order, device), compute):
            if not len(states):
                states = torch.empty(int(data.sizes.sum()), hidden.shape[-1], dtype=torch.float16)
            if states.dtype != hidden.dtype == torch.float32:
                states = states.float()
            for row, row_states in zip(order[rows].tolist(), hidden, strict=True):
                states[data.view.row(row)] = row_states[: data.sizes[row]]
            ticker.advance(len(rows))
    weights.close()
    return states


def freezes_encoder(plan: TrainingPlan) -> bool:
    """Return True if a plan freezes the whole encoder."""
    return ENCODER in plan.frozen


def _any_of_encoder(names: Iterable[str]) -> bool:
    return any(name.startswith(f"{ENCODER}.") for name in names)


def compact(name: str, tensor: Tensor) -> NDArray[Any]:
    """A learned tensor as it is stored: the encoder's in float16, which has more bits than bfloat16."""
    tensor = tensor.detach().cpu()
    return (tensor.half() if name.startswith(f"{ENCODER}.") else tensor).numpy().copy()
