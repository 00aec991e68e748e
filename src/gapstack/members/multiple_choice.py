"""Multiple choice: three endings of "text {pronoun} is ...", A, B and "other", scored by a fine-tuned encoder.

Chada 2019, *Gendered Pronoun Resolution using BERT and an Extractive Question Answering Formulation*: one of the three
families whose mean came ninth; facts from the released code. Each row is three inputs, ``[CLS] text {pronoun} is [SEP]
ending [SEP]``. The vector of the first piece goes through a dense layer with tanh and dropout to one logit; softmax
over the three, clipped to 0.001 and 0.999.

Differences: a long text is cut around its mentions, alike for all three inputs. Rates and frozen embeddings suit the
embedded encoder. The encoder's pooler is not used: the dense layer is randomly initialised. Swapping A and B swaps the
probabilities.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from gapstack.data import Corpus, Label
from gapstack.encoding.encoders import Encoder
from gapstack.errors import MemberError
from gapstack.members.added_pieces import with_endings
from gapstack.members.fine_tuned import ON_GAP, FineTuned, freezes_encoder
from gapstack.members.layers import PoolerHead
from gapstack.settings import FractionBelowThird
from gapstack.training import PieceData, Targets, TrainingPlan
from gapstack.training.data import TARGET
from gapstack.types import Ints, Probabilities, Rows

OTHER = "other"  # the ending that stands for NEITHER


class MultipleChoice(FineTuned):
    """Three endings of one sentence, each with a logit of the encoder."""

    clip: FractionBelowThird = 0.001
    """Probabilities are clipped to ``clip`` and 1 - ``clip``."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-uncased",
        "training": {"epochs": 2, "batch_size": 4, "encoder_lr": 1e-5, "head_lr": 1e-5}
        | {"frozen": [], "label_smoothing": 0.0, "attention_dropout": True},
    }
    PLAN = ON_GAP.changed({"epochs": 2})

    def plans(self) -> tuple[TrainingPlan, ...]:
        """Return the plan of each phase; raises MemberError if one freezes the whole encoder."""
        plans = super().plans()
        if any(map(freezes_encoder, plans)):
            raise MemberError(
                "training freezes the whole encoder; only an encoder that learns can distinguish the endings. "
                "Freeze some of its layers"
            )
        return plans

    def _head(self, encoder: Encoder) -> nn.Module:
        return ChoiceHead(encoder.hidden_size)

    def _data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> ChoiceData:
        closings = [f" {example.pronoun_text} is" for example in corpus]
        endings = [(example.a_text, example.b_text, OTHER) for example in corpus]
        return ChoiceData(with_endings(corpus, encoder, closings, endings, self.max_pieces), targets)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return np.clip(super()._predict_proba(corpus), self.clip, 1 - self.clip)


class ChoiceData(PieceData):
    """Rows of three inputs each, which the encoder reads as three texts.

    A batch of b rows, the longest input of L pieces, is ``ids`` and ``keep`` (3 b, L), a row's inputs one after the
    other, and ``target`` (b,) or (b, 3). ``view`` has 3 n inputs in this order.
    """

    @property
    def sizes(self) -> Ints:
        """Three times the number of pieces of each row's longest input, (n,)."""
        return len(Label) * self.view.lengths.reshape(-1, len(Label)).max(axis=1, initial=0)

    def batch(self, rows: Rows) -> dict[str, Tensor]:
        """See the class and :class:`~gapstack.training.Data`."""
        inputs = (rows[:, None] * len(Label) + np.arange(len(Label))).ravel()
        batch = self._texts(inputs)
        if TARGET in self._columns:
            batch[TARGET] = torch.from_numpy(self._columns[TARGET][rows])
        return batch


class ChoiceHead(PoolerHead):
    """One logit from the first piece of each of three inputs."""

    def __init__(self, width: int):
        super().__init__(width, 1)

    def forward(self, hidden: Tensor, **_: Tensor) -> Tensor:
        """Map hidden states (3 b, L, H) to logits (b, 3)."""
        return self.logits(hidden[:, 0]).view(-1, len(Label))
