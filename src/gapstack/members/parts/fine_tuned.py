"""What all fine-tuned members share: everything but the network and its input."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from torch import Tensor, nn

from gapstack.corpus import Corpus
from gapstack.errors import MemberError, MismatchError
from gapstack.members.base import Member, Probabilities, State
from gapstack.training import (
    Data,
    Targets,
    TrainingPlan,
    predict,
    seeded,
    train,
    trainable_encoder,
    validation_rows,
)
from gapstack.training.parameters import ENCODER, freeze
from gapstack.views.encoders import Encoder, load_encoder


class FineTuned(Member):
    """A network over a pre-trained encoder that is fine-tuned on the corpus.

    A subclass gives :attr:`PLAN`, :meth:`_head` and :meth:`_data`.

    Parameters
    ----------
    encoder : str, optional
        Name or folder of the encoder; the embedded MiniLM by default.
    training : mapping, optional
        Fields of :class:`~gapstack.training.TrainingPlan` that shall differ from the member's :attr:`PLAN`.
    validation_share : float
        Share of the training rows, whole pages, that early stopping holds back; nothing is held back unless
        ``training`` sets ``patience``.
    max_pieces : int, optional
        Longest window in pieces; by default the encoder's limit.
    seed : int
        Of the head's first weights, dropout, the order of rows and the choice of validation rows.
    """

    PLAN: ClassVar[TrainingPlan]

    def __init__(
        self,
        encoder: str | None = None,
        training: Mapping[str, Any] | None = None,
        validation_share: float = 0.1,
        max_pieces: int | None = None,
        seed: int = 0,
    ):
        self.encoder = encoder
        self.training = training
        self.validation_share = validation_share
        self.max_pieces = max_pieces
        self.seed = seed

    @abstractmethod
    def _head(self, encoder: Encoder) -> nn.Module:
        """Make the head, freshly initialised.

        It is called with hidden states (b, L, H) float32 and what :meth:`_data` gives but ``ids`` and ``keep``,
        and returns logits (b, 3).
        """

    @abstractmethod
    def _data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> Data:
        """Make the network's input of a corpus."""

    def _plan(self) -> TrainingPlan:
        changes = dict(self.training or {})
        if "seed" in changes:
            raise MemberError("the seed is a setting of the member, not of its training")
        return replace(self.PLAN.changed(changes), seed=self.seed)

    def _network(self, plan: TrainingPlan) -> tuple[Encoder, Network]:
        encoder = load_encoder(self.encoder)
        with seeded(self.seed):
            body = trainable_encoder(encoder, attention_dropout=plan.attention_dropout)
            network = Network(body, self._head(encoder))
        freeze(network, plan.frozen)
        return encoder, network

    def _fit(self, corpus: Corpus) -> None:
        plan = self._plan()
        encoder, network = self._network(plan)
        held: Data | None = None
        if plan.patience is not None:
            learn, stop = validation_rows(corpus, self.validation_share, self.seed)
            part = corpus.take(stop)
            held, corpus = self._data(part, encoder, part.labels), corpus.take(learn)
        self.history_ = train(network, self._data(corpus, encoder, corpus.labels), plan, held)
        learned: dict[str, Tensor] = {name: p for name, p in network.named_parameters() if p.requires_grad}
        learned |= {f"head.{name}": buffer for name, buffer in network.head.named_buffers()}
        # What answers from now on is what a file would give back, to the bit
        self._restore(
            State(
                arrays={name: _compact(name, tensor) for name, tensor in learned.items()},
                values={"encoder": encoder.fingerprint},
            )
        )

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        data = self._data(corpus, load_encoder(self.encoder), None)
        return np.asarray(softmax(predict(self.network_, data, precision=self._plan().precision), axis=1))

    def _state(self) -> State:
        return State(arrays=self.arrays_, values={"encoder": self.encoder_fingerprint_})

    def _restore(self, state: State) -> None:
        encoder, network = self._network(self._plan())
        if state.values["encoder"] != encoder.fingerprint:
            raise MismatchError(
                f"the encoder differs: {type(self).__name__} was fitted over one with fingerprint "
                f"{state.values['encoder']}, and {encoder.name} has {encoder.fingerprint}"
            )
        network.load_state_dict(
            {name: torch.from_numpy(array) for name, array in state.arrays.items()}, False
        )
        self.network_, self.arrays_ = network, state.arrays
        self.encoder_fingerprint_ = encoder.fingerprint


class Network(nn.Module):
    """An encoder and a head over its last layer.

    Parameters
    ----------
    encoder : torch.nn.Module
        A model of transformers, without a task head.
    head : torch.nn.Module
        See :meth:`FineTuned._head`.
    """

    def __init__(self, encoder: nn.Module, head: nn.Module):
        super().__init__()
        self.encoder = encoder
        self.head = head

    def forward(self, ids: Tensor, keep: Tensor | None = None, **inputs: Tensor) -> Tensor:
        """Give logits (b, classes) for ``ids`` (b, L) with mask ``keep`` (b, L), True on pieces."""
        mask = None if keep is None else keep.long()
        # (b, L, H); the head computes in float32 whatever the encoder does
        hidden = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        logits: Tensor = self.head(hidden, **inputs)
        return logits


def _compact(name: str, tensor: Tensor) -> NDArray[Any]:
    """Give a learned tensor as it is stored: the encoder's in half precision, which halves the files.

    float16 has three bits more than the bfloat16 in which encoders compute.
    """
    tensor = tensor.detach().cpu()
    return (tensor.half() if name.startswith(f"{ENCODER}.") else tensor).numpy().copy()
