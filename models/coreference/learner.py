"""F-coref's heads over the project's encoder, and their loss.

The model is fastcoref's own ``FCorefModel`` (Otmazgin et al. 2022, section 3; Kirstain et al. 2021); the initialisation
(:func:`begin_small`) and the loss (:class:`Learner`) are ours.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from gapstack.encoding.encoders import load_encoder
from gapstack.resolvers.live import fastcoref_model as model_class
from gapstack.training import seeded, trainable_encoder

PIECES = 384
"""Maximum word pieces of a training text, special ones included."""
WIDTH = 256
"""Units of the heads' layers."""
LENGTH = 3.0
"""Length of the heads' vectors at the start."""
PRIOR = -4.0
"""Log-odds at the start that a span is a mention."""


class Learner(nn.Module):
    """``FCorefModel`` with a separate encoder, as the training loop needs it; returns the loss of each text."""

    def __init__(self, coref: Any, encoder: nn.Module):
        super().__init__()
        self.encoder = encoder
        self.prefix = coref.base_model_prefix
        del coref._modules[self.prefix]
        self.head = coref

    def forward(
        self, ids: torch.Tensor, keep: torch.Tensor, entities: torch.Tensor, whole: torch.Tensor
    ) -> torch.Tensor:
        """Return losses (b,) per mention: of its detection and of its antecedent.

        A text that is not ``whole`` (b,) has a loss on its annotated mentions only.
        """
        head = self.head
        # (b, L, hidden)
        states = self.encoder(ids, attention_mask=keep).last_hidden_state.float()
        # (b, L, L)
        scores = head._calc_mention_logits(head.start_mention_mlp(states), head.end_mention_mlp(states))
        spans = keep[:, :, None] & keep[:, None, :]
        spans = spans.triu().tril(head.max_span_length - 1)
        gold = (entities > 0) & spans
        found = nn.functional.binary_cross_entropy_with_logits(scores, gold.float(), reduction="none")
        # (b, k): the gold mentions first, then what the model takes for mentions
        ranks = scores.detach().masked_fill(gold, torch.inf).masked_fill(~spans, -torch.inf)
        k = int((keep.sum(-1) * head.top_lambda).int().max())
        best = ranks.flatten(1).topk(k).indices
        first, last, kept, pairs = head._prune_topk_mentions(scores, keep.long(), best)
        rows = torch.arange(len(ids), device=ids.device)[:, None]
        links = head._calc_coref_logits(
            head.start_coref_mlp(states[rows, first]), head.end_coref_mlp(states[rows, last])
        )
        # (b, k, k + 1): the last column is no antecedent
        links = head._mask_antecedent_logits(pairs + links, kept)
        links = torch.cat((links, links.new_zeros(len(ids), k, 1)), dim=-1)
        right = self._antecedents(entities[rows, first, last] * kept)
        missed = links.logsumexp(-1) - links.masked_fill(~right, -torch.inf).logsumexp(-1)
        scored = torch.where(whole[:, None, None], spans, gold)
        linked = kept * (whole[:, None] | right[..., :-1].any(-1))
        return ((found * scored).sum((1, 2)) + (missed * linked).sum(-1)) / gold.sum((1, 2)).clamp(min=1)

    @staticmethod
    def _antecedents(entity: torch.Tensor) -> torch.Tensor:
        """Mark right antecedents (b, k, k + 1) of mentions in order, by their entities (b, k), 0 for none."""
        same = ((entity[:, :, None] == entity[:, None, :]) & (entity[:, :, None] > 0)).tril(-1)
        return torch.cat((same, ~same.any(-1, keepdim=True)), dim=-1)

    def whole(self) -> Any:
        """Put the encoder back into fastcoref's model and return that."""
        setattr(self.head, self.prefix, self.encoder)
        return self.head


def its_own_loss(losses: torch.Tensor, target: torch.Tensor, smoothing: float) -> torch.Tensor:
    """Objective of a model that computes its loss itself."""
    return losses


def begin_small(coref: Any) -> None:
    """Initialise the heads' vectors with ``LENGTH``, antecedent scores with similarity, and spans as non-mentions.

    The scores are bilinear in vectors that a layer norm makes as long as the root of their width d. A step of Adam at
    rate r may move such a score by r * d**2 (52 for d = 512 and r = 2e-4), and
    training does not converge; with vectors of length l it is r * d * l**2.
    """
    with torch.no_grad():
        for name in ("start_mention", "end_mention", "start_coref", "end_coref"):
            getattr(coref, f"{name}_mlp").layer_norm.weight.fill_(LENGTH * WIDTH**-0.5)
        for name in ("s2s", "e2e"):
            getattr(coref, f"antecedent_{name}_classifier").weight.add_(2 * LENGTH**-2 * torch.eye(WIDTH))
        coref.mention_start_classifier.bias.fill_(PRIOR)


def make_model(seed: int) -> tuple[Learner, Any]:
    """F-coref's heads, fresh, over the embedded MiniLM; its tokenizer."""
    from transformers import AutoConfig, AutoTokenizer

    encoder = load_encoder()
    config = AutoConfig.from_pretrained(encoder.folder)
    sizes = {"max_span_length": 30, "top_lambda": 0.4, "ffnn_size": WIDTH, "max_segment_len": PIECES}
    config.coref_head = {**sizes, "dropout_prob": 0.3}
    config.architectures = ["FCorefModel"]
    with seeded(seed):
        coref = model_class()(config)
    begin_small(coref)
    return Learner(coref, trainable_encoder(encoder)), AutoTokenizer.from_pretrained(encoder.folder)
