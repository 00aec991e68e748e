"""Chada's three families: extractive question answering, multiple choice and sequence classification, all fine-tuned.

Chada 2019, *Gendered Pronoun Resolution using BERT and an Extractive Question Answering Formulation*: the mean of the
three came ninth. Facts are from the paper and the released code.

- **Question answering**: the question is the text's five words from the pronoun on; ``[CLS] question [SEP] text [SEP]``
  goes through the encoder, and a linear layer gives each piece of the text a start and an end logit, learned from the
  rows that have an answer. Seven features of each row, the highest start and end logit within A, within B and anywhere,
  and which name the decoded answer is, go to a logistic regression (C = 0.1) over three classes.
- **Multiple choice**: each row is three inputs, ``[CLS] text {pronoun} is [SEP] ending [SEP]``, where the endings are
  A, B and "other". The first piece's vector goes through a dense layer with tanh and dropout to one logit; softmax over
  three.
- **Sequence classification**: hidden states are the last three layers side by side. A and B are allennlp's
  self-attentive spans of them, the pronoun is its first piece; [A; B; pronoun] goes through 512 ReLU units.

Differences: the encoder is the embedded MiniLM, with rates and frozen layers that suit it. A long text is one window
around its mentions. The regression is fitted on a tenth of the training rows, whole pages, that the network is not
trained on, since its logits on its own rows are overconfident (``calibration_share=0`` is Chada's way), and is
equivariant, so that swapping the names swaps the probabilities; multiple choice is too, and sequence classification is
not. The released sequence classifier cuts the text at the mentions in the order of their names, which scrambles rows
whose pronoun is not last and drops every row's tail; here every row keeps its text. The dense layer of multiple choice
is randomly initialised, not the encoder's pooler.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
import torch
from annotated_types import Interval
from torch import Tensor, nn

from gapstack.data import Corpus, Example, Label
from gapstack.data.corpus import one_hot
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import MENTIONS, PieceView
from gapstack.errors import MemberError
from gapstack.members.added_pieces import before_text, with_endings
from gapstack.members.estimators import fit_symmetric_logistic, logistic_probabilities
from gapstack.members.fine_tuned import ON_GAP, FineTuned, freezes_encoder
from gapstack.members.layers import (
    PoolerHead,
    first_pieces,
    inclusive,
    initialise_like_bert,
    inside,
    self_attentive_extractor,
)
from gapstack.settings import FractionBelowThird, Positive
from gapstack.training import PieceData, Schedule, Targets, TrainingPlan, validation_rows
from gapstack.training.data import TARGET
from gapstack.types import Floats, Ints, Probabilities, Rows

QUESTION_WORDS = 5
ANSWER_PIECES = 30  # longest answer that is decoded, as in SQuAD's baseline
FEATURES = ("start_a", "end_a", "start_b", "end_b", "start", "end", "answer")
"""Inputs of the regression; ``answer`` is 1 for A, -1 for B and 0 for neither or both."""
_MIRROR = ((2, 3, 0, 1, 4, 5, 6), (1, 1, 1, 1, 1, 1, -1))
_NAMES = [MENTIONS.index("a"), MENTIONS.index("b")]
_UPPER_HALF = {"frozen": [*range(13)], "attention_dropout": True}
"""Of the published plans: layers 13 to 24 are trained."""
_OUTSIDE = -1e4  # logit of pieces outside the text: probability 0, but finite


class QuestionAnswering(FineTuned):
    """Answer spans, and a logistic regression over their logits."""

    calibration_share: Annotated[float, Interval(ge=0, le=0.5)] = 0.1
    """Share of the rows, whole pages, that only the regression is fitted on; 0: it is fitted on all, as the network."""
    strength: Positive = 0.1
    """Inverse of the regression's L2 penalty, scikit-learn's ``C``."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-uncased",
        "max_pieces": 300,
        "calibration_share": 0.0,
        "training": _UPPER_HALF | {"epochs": 2, "batch_size": 12, "encoder_lr": 1e-5, "head_lr": 1e-5},
    }
    PLAN = ON_GAP.changed({"label_smoothing": 0.0})
    LEARNED = ("regression",)

    def _build_head(self, encoder: Encoder) -> nn.Module:
        return AnswerSpanHead(
            encoder.hidden_size, min(self.max_pieces or encoder.max_pieces, encoder.max_pieces)
        )

    def _build_data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        weights = np.empty((len(corpus), 0))
        if targets is not None:
            each = targets.astype(np.float64) if targets.ndim == 2 else one_hot(targets.astype(np.int64))
            answered = np.flatnonzero(each[:, : Label.NEITHER].any(axis=1))
            corpus, weights = corpus.take(answered), each[answered, : Label.NEITHER]
        view, text = before_text(corpus, encoder, [question(example) for example in corpus], self.max_pieces)
        if targets is None:
            return PieceData(view, None, {"text": text})
        names = view.mentions[:, _NAMES].astype(np.float64)
        return PieceData(view, np.dstack([names[..., 0], names[..., 1] - 1, weights]), {"text": text})

    def _fit(self, corpus: Corpus) -> None:
        calibration = corpus
        # texts that do not fit into a window are refused before training
        self._build_data(corpus, self._encoder(), corpus.labels)
        if self.calibration_share:
            learn, rest = validation_rows(corpus, self.calibration_share, self.seed)
            corpus, calibration = corpus.take(learn), corpus.take(rest)
        super()._fit(corpus)
        features = self._features(calibration)
        self.regression_ = fit_symmetric_logistic(
            features, calibration.labels, *_MIRROR, strength=self.strength
        )

    def _features(self, corpus: Corpus) -> Floats:
        data = self._build_data(corpus, self._encoder(), None)
        return span_features(corpus, data.view, self._logits(data))

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return logistic_probabilities(self.regression_, self._features(corpus))


class AnswerSpanHead(nn.Module):
    """SQuAD's head: dropout, and a start and an end logit for each piece; outputs are padded to ``limit`` pieces."""

    def __init__(self, width: int, limit: int, dropout: float = 0.1):
        super().__init__()
        self.limit = limit
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(width, 2)
        initialise_like_bert(self.classifier)

    @staticmethod
    def loss(output: Tensor, target: Tensor, smoothing: float) -> Tensor:
        """Mean (b,) of the cross-entropies of start and end over the pieces of the text, from logits (b, L, 2).

        ``target`` (b, names, 3) has the first and last piece of each name and its probability; these need not sum to 1.
        """
        log_p = output.log_softmax(dim=1)
        places, weights = target[..., :2].long(), target[..., 2:]
        # (b, 2)
        right = (weights * log_p.gather(1, places)).sum(dim=1)
        is_text = output > _OUTSIDE
        anywhere = weights.sum(dim=1) * log_p.masked_fill(~is_text, 0).sum(dim=1) / is_text.sum(dim=1)
        return -((1 - smoothing) * right + smoothing * anywhere).mean(dim=1)

    def forward(self, hidden: Tensor, text: Tensor, **_: Tensor) -> Tensor:
        """Map hidden states (b, L, H) and the texts' ranges (b, 2) to logits (b, limit, 2)."""
        logits = self.classifier(self.dropout(hidden))
        logits = logits.masked_fill(~inside(text, hidden.shape[1])[..., None], _OUTSIDE)
        padding = (0, 0, 0, self.limit - hidden.shape[1])
        return nn.functional.pad(logits, padding, value=_OUTSIDE)


def question(example: Example) -> str:
    """The five words of the text, split at white space, from the pronoun on."""
    return " ".join(example.text[example.pronoun.start :].split(maxsplit=QUESTION_WORDS)[:QUESTION_WORDS])


def span_features(corpus: Corpus, view: PieceView, logits: Floats) -> Floats:
    """:data:`FEATURES` of each row, (n, 7), from its logits (n, L, 2)."""
    at = np.arange(logits.shape[1])
    columns = []
    for name in _NAMES:
        inside = (at >= view.mentions[:, name, :1]) & (at < view.mentions[:, name, 1:])
        columns.append(np.where(inside[..., None], logits, -np.inf).max(axis=1))
    # spans that are decoded: (first piece, last piece)
    steps = at - at[:, None]
    allowed = (steps >= 0) & (steps < ANSWER_PIECES)
    answers = []
    for example, offset, (starts, ends) in zip(corpus, view.bounds, np.moveaxis(logits, 2, 1), strict=False):
        sums = np.where(allowed, starts[:, None] + ends, -np.inf)
        first, last = offset + np.array(np.unravel_index(sums.argmax(), sums.shape))
        answers.append(is_a_or_b(example, example.text[view.chars[first, 0] : view.chars[last, 1]]))
    return np.column_stack([*columns, logits.max(axis=1), answers])


def is_a_or_b(example: Example, answer: str) -> int:
    """1 if the answer contains A's name or is contained in it, -1 for B's, 0 for neither or both."""
    a, b = (answer in name or name in answer for name in (example.a_text, example.b_text))
    return int(a) - int(b)


OTHER = "other"  # the ending that stands for NEITHER


class MultipleChoice(FineTuned):
    """Three endings of one sentence, each with a logit of the encoder."""

    clip: FractionBelowThird = 0.001
    """Probabilities are clipped to ``clip`` and 1 - ``clip``."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-uncased",
        "training": _UPPER_HALF
        | {"epochs": 2, "batch_size": 4, "encoder_lr": 1e-5, "head_lr": 1e-5, "label_smoothing": 0.0},
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

    def _build_head(self, encoder: Encoder) -> nn.Module:
        return ChoiceHead(encoder.hidden_size)

    def _build_data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> ChoiceData:
        closings = [f" {example.pronoun_text} is" for example in corpus]
        endings = [(example.a_text, example.b_text, OTHER) for example in corpus]
        return ChoiceData(with_endings(corpus, encoder, closings, endings, self.max_pieces), targets)

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return np.clip(super()._predict_proba(corpus), self.clip, 1 - self.clip)


class ChoiceData(PieceData):
    """Rows of three inputs each, one after the other, which the encoder reads as three texts."""

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


LAYERS = (-3, -2, -1)
_UNITS = 512


class SequenceClassifier(FineTuned):
    """Spans of A and B, and the pronoun's piece, to three classes."""

    PUBLISHED: ClassVar[dict[str, Any]] = {
        "encoder": "bert-large-uncased",
        # the rate rises from 5e-7 to 4.8e-6, and the best of the 15 epochs is kept
        "training": _UPPER_HALF
        | {"epochs": 15, "batch_size": 10, "encoder_lr": 4.8e-6, "head_lr": 4.8e-6, "patience": 15}
        | {"label_smoothing": 0.0, "weight_decay": 0.0}
        | {"schedule": {"shape": "triangular", "warmup": 0.0, "rise": 1.0, "floor": 5e-7 / 4.8e-6}},
    }
    PLAN = ON_GAP.changed({"schedule": Schedule(shape="triangular")})

    def _build_head(self, encoder: Encoder) -> nn.Module:
        return SequenceHead(len(LAYERS) * encoder.hidden_size)


class SequenceHead(nn.Module):
    """Self-attentive spans and one piece, of width ``width``, through a hidden layer."""

    encoder_layers = LAYERS  # an encoder of two layers (as in tests) gives its embeddings as the third

    def __init__(self, width: int):
        super().__init__()
        self.extractor = self_attentive_extractor(width)
        self.dense = nn.Linear(3 * width, _UNITS)
        self.classifier = nn.Linear(_UNITS, len(Label))

    def forward(self, hidden: Tensor, mentions: Tensor, **_: Tensor) -> Tensor:
        """Map hidden states (b, L, width) and mention ranges (b, 3, 2) to logits (b, 3)."""
        # (b, 2, width)
        names = self.extractor(hidden, inclusive(mentions[:, 1:]))
        pronoun = first_pieces(hidden, mentions[:, :1])
        joined = torch.cat([names, pronoun], dim=1).flatten(1)
        return self.classifier(torch.relu(self.dense(joined)))
