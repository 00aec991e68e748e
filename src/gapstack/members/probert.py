"""ProBERT: an encoder fine-tuned on tagged mentions, and three classes from the pronoun's vector.

Attree 2019, *Gendered Ambiguous Pronouns Shared Task: Boosting Model Confidence by Evidence Pooling*, section 3.1: the
part of GREP, the shared task's first place, that reads no evidence. Mentions are tagged, ``<A> Kate <A> ... <P> her
<P>``. The last layer's vector of the pronoun's first piece goes through a dense layer with tanh, as in the released
code (not in the paper's equation), and dropout to three classes.

Differences: the encoder is the embedded MiniLM with rates that suit it; tags are put around word pieces, so windows
never lose a mention; attention probabilities have no dropout in training. Swapping A and B does not swap the
probabilities exactly: ``<A>`` and ``<B>`` are different words to the encoder.
"""

from typing import Any, ClassVar, Literal

from torch import Tensor, nn

from gapstack.data import Corpus
from gapstack.encoding.encoders import Encoder
from gapstack.encoding.pieces import MENTIONS
from gapstack.members.added_pieces import tagged
from gapstack.members.fine_tuned import FineTuned
from gapstack.members.layers import PoolerHead, first_pieces
from gapstack.training import PieceData, Targets
from gapstack.training.plan import CONSTANT_RATE

ATTREE: dict[str, Any] = (
    CONSTANT_RATE
    | {"epochs": 20, "batch_size": 8, "encoder_lr": 4e-6, "head_lr": 4e-6, "frozen": []}
    | {"patience": 3, "evaluate_every": 80, "attention_dropout": True}
)
"""Training of the paper (section 4) with BERT-large; ``batch_size`` 16 for BERT-base."""


ReadVectors = Literal["pronoun", "mentions"]
"""What :class:`MentionsHead` reads: the pronoun's vector, or those of pronoun, A and B side by side."""


class ProBERT(FineTuned):
    """Three classes from the pronoun's vector over tagged mentions."""

    vectors: ReadVectors = "pronoun"
    """Vectors that the classifier reads. ``mentions`` (not in the paper) suits a frozen encoder, whose vector of the
    pronoun does not say which of the tagged names it refers to."""

    PUBLISHED: ClassVar[dict[str, Any]] = {"encoder": "bert-large-uncased", "training": ATTREE}

    def _build_head(self, encoder: Encoder) -> nn.Module:
        return ProBERTHead(encoder.hidden_size, self.vectors)

    def _build_data(self, corpus: Corpus, encoder: Encoder, targets: Targets | None) -> PieceData:
        return PieceData(tagged(corpus, encoder, self.max_pieces), targets)


class MentionsHead(PoolerHead):
    """Three classes from the vectors of the first pieces of the pronoun, or of all mentions."""

    def __init__(self, width: int, vectors: ReadVectors = "pronoun", dropout: float = 0.1):
        self.mentions = 1 if vectors == "pronoun" else len(MENTIONS)
        super().__init__(width, dropout=dropout, inputs=self.mentions * width)

    def of_mentions(self, hidden: Tensor, mentions: Tensor) -> Tensor:
        """Map hidden states (b, L, H) and mention ranges (b, 3, 2) to logits (b, 3)."""
        return self.logits(first_pieces(hidden, mentions[:, : self.mentions]).flatten(1))


class ProBERTHead(MentionsHead):
    """The classifier alone."""

    def forward(self, hidden: Tensor, mentions: Tensor, **_: Tensor) -> Tensor:
        """As :meth:`of_mentions`."""
        return self.of_mentions(hidden, mentions)
