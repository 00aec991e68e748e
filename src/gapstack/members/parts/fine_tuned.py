"""What all fine-tuned members share: everything but the network and its input."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from torch import Tensor, nn

from gapstack.corpus import Corpus
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.sizes import Size, encoder_size
from gapstack.errors import MemberError
from gapstack.kinds import Count, Held, Plan, Positive, Seed
from gapstack.members.member import Probabilities, State
from gapstack.members.parts.encoder_member import EncoderMember
from gapstack.members.parts.frozen_phase import HeadAlone, HiddenData, encoded, needs_no_encoder, stored
from gapstack.members.parts.learner import Lessons
from gapstack.members.work import CPU_BATCH, RowCounts, Work
from gapstack.training import (
    Data,
    History,
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
from gapstack.training.int8 import predict_in_int8
from gapstack.training.objective import Objective
from gapstack.training.parameters import ENCODER, freeze

_log = logging.getLogger(__name__)

LAST = (-1,)
LARGE, HIGHEST_LR = 100_000_000, 5e-5
"""BERT-base has more parameters; the highest rate that Devlin et al. 2019 (A.3) fine-tune it at."""
ON_GAP = TrainingPlan(
    epochs=3,
    batch_size=32,
    encoder_lr=1e-4,
    head_lr=5e-4,
    frozen=("encoder.embeddings",),
    schedule=Schedule(shape="linear", warmup=0.1),
    label_smoothing=0.05,
)
"""What MiniLM learns GAP by, where a member has no reason for another plan."""


class FineTuned(EncoderMember):
    """A network over a pre-trained encoder that is fine-tuned on the corpus.

    A subclass gives :attr:`PLAN`, :meth:`_head` and :meth:`_data`, and :meth:`_layers` where the last layer alone
    will not do.

    Parameters
    ----------
    training : mapping or sequence of mappings, optional
        Fields of :class:`~gapstack.training.TrainingPlan` that shall differ from the member's :attr:`PLAN`; one
        mapping for each of its phases, or one for all.
    extra, teacher
        Learned before GAP: see :class:`~gapstack.members.parts.learner.Learner`.
    first : mapping or sequence of mappings, optional
        Fields of the plan of that first stage that shall differ from the last phase on GAP, as ``training`` has
        it; one mapping for each of its phases, if it shall have several.
    validation_share : float
        Share of the training rows, whole pages, that early stopping holds back; nothing is held back unless
        ``training`` sets ``patience``.
    max_pieces : int, optional
        Longest window in pieces; by default the encoder's limit.
    int8 : bool
        Answer with the encoder's linear layers rounded to int8, row by row on the CPU; training does not change. See
        :func:`~gapstack.training.int8.predict_in_int8`.
    seed : int
        Of the head's first weights, dropout, the order of rows and the choice of validation rows.
    encoder, augment, average
        See :class:`~gapstack.members.parts.encoder_member.EncoderMember`.
    """

    training: Plan | Sequence[Plan] | None = None
    first: Plan | Sequence[Plan] | None = None
    validation_share: Held = 0.1
    # what is learned in stages is not weighed
    gold_weight: Positive = field(default=1.0, init=False)
    max_pieces: Count | None = None
    int8: bool = False
    seed: Seed = 0

    PLAN: ClassVar[TrainingPlan | tuple[TrainingPlan, ...]] = ON_GAP

    def _layers(self, encoder: Encoder) -> tuple[int, ...]:
        """Name the layers that the head reads, from 0 (embeddings) up or from -1 (the last) down."""
        return LAST

    @abstractmethod
    def _head(self, encoder: Encoder) -> nn.Module:
        """Make the head, freshly initialised.

        It is called with hidden states (b, L, layers * H) float32, layers side by side in the order of
        :meth:`_layers`, and by name with what :meth:`_data` gives but ``ids``; ``keep`` is missing where nothing
        is padded. It returns logits (b, 3).
        """

    @abstractmethod
    def _data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> Data:
        """Make the network's input of a corpus."""

    def _objective(self, output: Tensor, target: Tensor, smoothing: float) -> Tensor:
        """Loss of each row, (b,); see :data:`gapstack.training.objective.Objective`."""
        return cross_entropy(output, target, smoothing)

    def _prepare_taught(self) -> None:
        """Do once what all folds begin with: the first stage."""
        plans = self._plans()
        self._first_stage(*self._network(plans), plans)

    def _prepare(self, corpus: Corpus) -> None:
        """Run the encoder once if it stands still."""
        plans = self._plans()
        if not (self.extra or self.teacher) and needs_no_encoder(plans[0]):
            encoder = self._encoder()
            stored(self._data(corpus, encoder, None), encoder, self._layers(encoder), plans[0].precision)

    def work(self, size: Size, rows: RowCounts) -> Work:
        """Count all phases on GAP for as many epochs as they have; a first stage on other rows is not counted."""
        pieces = min(rows.pieces, self.max_pieces or size.max_pieces)
        with torch.device("meta"):
            head = sum(parameter.numel() for parameter in self._head(_sketch(size)).parameters())
        passes = 2 * size.layers * size.layer * pieces
        work = Work(learned=head, memory=4 * size.parameters + 16 * head)
        for plan in self._plans():
            learning = plan.epochs * rows.fitted
            if needs_no_encoder(plan):
                states = 2 * rows.fitted * pieces * size.width * len(self._layers(_sketch(size)))
                frozen = Work(passes * rows.all, 6 * head * learning, memory=4 * size.parameters + states)
                work = work.and_then(frozen)
                continue
            still = {part for part in plan.frozen if isinstance(part, int)}
            trained = [layer for layer in range(1, size.layers + 1) if layer not in still]
            # backwards to the lowest layer that learns; twice the operations of a forward pass
            backward = 4 * (size.layers + 1 - min(trained, default=size.layers + 1)) * size.layer * pieces
            embeddings = 0 if {0, "encoder.embeddings"} & {*plan.frozen} else size.embeddings
            learned = len(trained) * size.layer + embeddings
            activations = 2 * CPU_BATCH * size.layers * 16 * size.width
            tuned = Work(
                fold=(passes + backward) * learning + passes * rows.predicted,
                learned=max(0, learned + head - work.learned),
                # gradients and Adam's moments in float32, a copy of the weights in bfloat16
                memory=4 * size.parameters + 14 * (learned + head) + activations,
            )
            work = work.and_then(tuned)
        return work

    def _recipe(self) -> tuple[TrainingPlan, ...]:
        """Phases before ``training`` changes them, for subclasses whose :attr:`PLAN` depends on their settings."""
        return (self.PLAN,) if isinstance(self.PLAN, TrainingPlan) else self.PLAN

    def _plans(self) -> tuple[TrainingPlan, ...]:
        phases = self._recipe()
        changes = self.training or {}
        each = [changes] * len(phases) if isinstance(changes, Mapping) else list(changes)
        if len(each) != len(phases):
            raise MemberError(
                f"{type(self).__name__} is trained in {len(phases)} phases; training has {len(each)}"
            )
        plans = tuple(self._changed(plan, change) for plan, change in zip(phases, each, strict=True))
        if self.int8 and all(needs_no_encoder(plan) for plan in plans):
            raise MemberError("int8 rounds an encoder that learns; all of this one is frozen. Leave int8 out")
        return plans

    def _changed(self, plan: TrainingPlan, changes: Mapping[str, Any]) -> TrainingPlan:
        return replace(plan.changed(dict(changes)), seed=self.seed)

    def _network(self, plans: Sequence[TrainingPlan]) -> tuple[Encoder, Network]:
        encoder = self._encoder()
        with seeded(self.seed):
            body = trainable_encoder(encoder, attention_dropout=plans[-1].attention_dropout)
            network = Network(body, self._head(encoder), self._layers(encoder))
        return encoder, network

    def _lessons(self, corpus: Corpus) -> Lessons:
        return Lessons.given(corpus)  # the others are learned before them

    def _learn(self, lessons: Lessons) -> None:
        corpus, plans = lessons.corpus, self._plans()
        rates = [plan.encoder_lr for plan in plans if not needs_no_encoder(plan)]
        _warn_of_rate(type(self).__name__, self.encoder, max(rates, default=0.0))
        encoder, network = self._network(plans)
        learned = self._learned(network, plans)
        changed: set[str] = set()
        if self.extra or self.teacher:
            changed = self._first_stage(encoder, network, plans)
            learned |= changed
        held: Data | None = None
        if any(plan.patience is not None for plan in plans):
            learn, stop = validation_rows(corpus, self.validation_share, self.seed)
            part = corpus.take(stop)
            held, corpus = self._data(part, encoder, part.labels), corpus.take(learn)
        data = self._data(corpus, encoder, corpus.labels)
        self.history_ = []
        for plan in plans:
            pretrained = None if _of_encoder(changed) else encoder
            self.history_.append(_phase(network, data, held, plan, pretrained, self._objective))
            changed |= self._learned(network, [plan])
        tensors: dict[str, Tensor] = {name: p for name, p in network.named_parameters() if name in learned}
        tensors |= {f"head.{name}": buffer for name, buffer in network.head.named_buffers()}
        # What answers from now on is what a file would give back, to the bit
        self._restore(State(arrays={name: compact(name, tensor) for name, tensor in tensors.items()}))

    def _first_stage(self, encoder: Encoder, network: Network, plans: Sequence[TrainingPlan]) -> set[str]:
        """Learn the extra corpora and the teacher, or take up what another fold learned; name what has changed."""
        stages = [self.first or {}] if isinstance(self.first, Mapping | None) else self.first
        first = [self._changed(plans[-1], {"patience": None, **stage}) for stage in stages]
        corpus, targets = self._taught()
        train_once(network, self._data(corpus, encoder, targets), first, objective=self._objective)
        return self._learned(network, first)

    @staticmethod
    def _learned(network: Network, plans: Sequence[TrainingPlan]) -> set[str]:
        """Names of the parameters that any of the plans changes."""
        names: set[str] = set()
        for plan in plans:
            freeze(network, plan.frozen)
            names |= {name for name, p in network.named_parameters() if p.requires_grad}
        return names

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        logits = self._logits(self._data(corpus, self._encoder(), None))
        return np.asarray(softmax(logits, axis=1))

    def _logits(self, data: Data) -> NDArray[np.float64]:
        """What the fitted network says of rows, (n, ...)."""
        precision = self._plans()[-1].precision
        if _of_encoder(self.arrays_):
            if self.int8:
                return predict_in_int8(self.network_, data)
            return predict(self.network_, data, precision=precision)
        states = stored(data, self._encoder(), self.network_.layers, precision)
        return predict(HeadAlone(self.network_.head), HiddenData(data, states))

    def _state(self) -> State:
        return State(arrays=self.arrays_)

    def _restore(self, state: State) -> None:
        _, network = self._network(self._plans())
        network.load_state_dict(
            {name: torch.from_numpy(array) for name, array in state.arrays.items()}, False
        )
        self.network_, self.arrays_ = network, state.arrays


class Network(nn.Module):
    """An encoder and a head over some of its layers.

    Parameters
    ----------
    encoder : torch.nn.Module
        A model of transformers, without a task head.
    head : torch.nn.Module
        See :meth:`FineTuned._head`.
    layers : sequence of int
        See :meth:`FineTuned._layers`.
    """

    def __init__(self, encoder: nn.Module, head: nn.Module, layers: Sequence[int] = LAST):
        super().__init__()
        self.encoder = encoder
        self.head = head
        self.layers = tuple(layers)

    def hidden(self, ids: Tensor, keep: Tensor | None = None) -> Tensor:
        """Give hidden states (b, L, layers * H) float32 for ``ids`` (b, L) with mask ``keep``, True on pieces."""
        mask = None if keep is None else keep.long()
        if self.layers == LAST:
            states: Tensor = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        else:
            output = self.encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True)
            states = torch.cat([output.hidden_states[layer] for layer in self.layers], dim=-1)
        # the head computes in float32 whatever the encoder does
        return states.float()

    def forward(self, ids: Tensor, keep: Tensor | None = None, **inputs: Tensor) -> Tensor:
        """Give logits (b, classes)."""
        if keep is not None:
            inputs["keep"] = keep
        logits: Tensor = self.head(self.hidden(ids, inputs.get("keep")), **inputs)
        return logits


@lru_cache(maxsize=64)  # once, and not for each fold
def _warn_of_rate(member: str, encoder: str | None, rate: float) -> None:
    """Warn of a large encoder that is trained at a rate for small ones."""
    size = encoder_size(encoder)
    if rate > HIGHEST_LR and size is not None and size.parameters > LARGE:
        _log.warning(
            "%s trains %s (%.0f million parameters) at a rate of %g, which suits small encoders; large ones forget "
            'what they know above %g. Set training.encoder_lr, or take settings = "published"',
            *(member, encoder, size.parameters / 1e6, rate, HIGHEST_LR),
        )


def _sketch(size: Size) -> Encoder:
    """An encoder that has a size and nothing else, for a head that is counted and not used."""
    named = {"name": "an encoder", "num_layers": size.layers, "hidden_size": size.width}
    return cast(
        Encoder, SimpleNamespace(**named, num_heads=size.width // 64 or 1, max_pieces=size.max_pieces)
    )


def _of_encoder(names: Iterable[str]) -> bool:
    """Whether any of the names is that of a parameter of the encoder."""
    return any(name.startswith(f"{ENCODER}.") for name in names)


def _phase(
    network: Network,
    data: Data,
    held: Data | None,
    plan: TrainingPlan,
    pretrained: Encoder | None,
    objective: Objective,
) -> History:
    """Carry out one phase; where nothing of the encoder learns, it runs once and the head is trained alone.

    ``pretrained`` is the encoder if nothing has changed it yet.
    """
    stop = held if plan.patience is not None else None
    if not needs_no_encoder(plan):
        return train(network, data, plan, stop, objective=objective)

    def with_states(part: Data) -> HiddenData:
        if pretrained is None:
            return HiddenData(part, encoded(part, network.hidden, network, plan.precision))
        return HiddenData(part, stored(part, pretrained, network.layers, plan.precision))

    head_plan = replace(plan, frozen=tuple(part for part in plan.frozen if part != ENCODER))
    return train(
        HeadAlone(network.head),
        with_states(data),
        head_plan,
        None if stop is None else with_states(stop),
        objective=objective,
    )


def compact(name: str, tensor: Tensor) -> NDArray[Any]:
    """Give a learned tensor as it is stored: the encoder's in half precision, which halves the files.

    float16 has three bits more than the bfloat16 in which encoders compute.
    """
    tensor = tensor.detach().cpu()
    return (tensor.half() if name.startswith(f"{ENCODER}.") else tensor).numpy().copy()
