"""Question answering: the referent as the answer span of a question about the pronoun, as in SQuAD.

Chada 2019, *Gendered Pronoun Resolution using BERT and an Extractive Question Answering Formulation* (ninth place), the
first of its three families. The question is the text's five words from the pronoun on; ``[CLS] question [SEP] text
[SEP]`` goes through the encoder, and a linear layer gives each piece of the text a start and an end logit. It is
trained on the rows that have an answer. Then seven features of each row, the highest start and end logit within A,
within B and anywhere, and which name the decoded answer is, go through a standard scaler to a logistic regression (C =
0.1) over all three classes.

Differences: the regression is fitted on a tenth of the training rows, whole pages, that the network is not trained on,
since logits on the network's own rows are overconfident (``calibration_share=0`` is Chada's way), and it is
equivariant, so that swapping the names swaps the probabilities. A long text is one window around the mentions instead
of several that overlap. The answer is decoded from the text alone.
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
from gapstack.members.added_pieces import before_text
from gapstack.members.fine_tuned import ON_GAP, FineTuned
from gapstack.members.layers import initialise_like_bert
from gapstack.members.logistic import SwapEquivariantLogistic
from gapstack.members.member import State
from gapstack.settings import Positive
from gapstack.training import PieceData, Targets, validation_rows
from gapstack.types import Floats, Probabilities

QUESTION_WORDS = 5
ANSWER_PIECES = 30  # longest answer that is decoded, as in SQuAD's baseline
FEATURES = ("start_a", "end_a", "start_b", "end_b", "start", "end", "answer")
"""Inputs of the regression; ``answer`` is 1 for A, -1 for B and 0 for neither or both."""
_MIRROR = ((2, 3, 0, 1, 4, 5, 6), (1, 1, 1, 1, 1, 1, -1))
_NAMES = [MENTIONS.index("a"), MENTIONS.index("b")]
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
        "training": {"epochs": 2, "batch_size": 12, "encoder_lr": 1e-5, "head_lr": 1e-5}
        | {"attention_dropout": True, "frozen": ["encoder.embeddings", *range(1, 13)]},
    }
    PLAN = ON_GAP.changed({"label_smoothing": 0.0})

    def _head(self, encoder: Encoder) -> nn.Module:
        return AnswerSpanHead(
            encoder.hidden_size, min(self.max_pieces or encoder.max_pieces, encoder.max_pieces)
        )

    def _data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
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

    def _objective(self, output: Tensor, target: Tensor, smoothing: float) -> Tensor:
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

    def _fit(self, corpus: Corpus) -> None:
        calibration = corpus
        # texts that do not fit into a window are refused before training
        self._data(corpus, self._encoder(), corpus.labels)
        if self.calibration_share:
            learn, rest = validation_rows(corpus, self.calibration_share, self.seed)
            corpus, calibration = corpus.take(learn), corpus.take(rest)
        super()._fit(corpus)
        regression = SwapEquivariantLogistic(*_MIRROR, strength=self.strength)
        self.regression_ = regression.fit(self._features(calibration), calibration.labels)

    def _features(self, corpus: Corpus) -> Floats:
        data = self._data(corpus, self._encoder(), None)
        return span_features(corpus, data.view, self._logits(data))

    def _predict_proba(self, corpus: Corpus) -> Probabilities:
        return self.regression_.predict_proba(self._features(corpus))

    def _state(self) -> State:
        return self.regression_.added_to(super()._state())

    def _restore(self, state: State) -> None:
        self.regression_ = SwapEquivariantLogistic(*_MIRROR, strength=self.strength)
        super()._restore(self.regression_.taken_from(state))


class AnswerSpanHead(nn.Module):
    """SQuAD's head: dropout, and a start and an end logit for each piece; outputs are padded to ``limit`` pieces."""

    def __init__(self, width: int, limit: int, dropout: float = 0.1):
        super().__init__()
        self.limit = limit
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(width, 2)
        initialise_like_bert(self.classifier)

    def forward(self, hidden: Tensor, text: Tensor, **_: Tensor) -> Tensor:
        """Map hidden states (b, L, H) and the texts' ranges (b, 2) to logits (b, limit, 2)."""
        logits = self.classifier(self.dropout(hidden))
        at = torch.arange(hidden.shape[1], device=hidden.device)
        inside = (at >= text[:, :1]) & (at < text[:, 1:])
        logits = logits.masked_fill(~inside[..., None], _OUTSIDE)
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
