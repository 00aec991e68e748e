"""Masked language models: logits of the words at a mask."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from gapstack.encoding.encoders import Encoder, quiet
from gapstack.errors import MemberError


class LanguageModel(nn.Module):
    """An encoder with a masked-LM head.

    Parameters
    ----------
    encoder : torch.nn.Module
        Of transformers; with its own masked-LM head if ``head`` is None, else without one.
    head : TiedHead, optional
    """

    def __init__(self, encoder: nn.Module, head: TiedHead | None = None):
        super().__init__()
        self.encoder = encoder
        self.head = head

    def forward(
        self, ids: Tensor, at: Tensor, keep: Tensor | None = None, words: Tensor | None = None, **_: Tensor
    ) -> Tensor:
        """Give the logits (b, V) of all words at the positions ``at`` (b,) of ``ids`` (b, L).

        With ``words`` (b, w): log probabilities (b, w + 1) of these words, and of all others together.
        """
        output = self.encoder(input_ids=ids, attention_mask=None if keep is None else keep.long())
        rows = torch.arange(len(ids), device=ids.device)
        if self.head is None:
            logits = output.logits[rows, at].float()
        else:
            embeddings: Tensor = self.encoder.get_input_embeddings().weight  # type: ignore[operator]
            logits = self.head(output.last_hidden_state[rows, at].float(), embeddings.float())
        if words is None:
            return logits
        log_p = logits.double().log_softmax(dim=-1)
        others = log_p.scatter(1, words, -torch.inf).logsumexp(dim=-1, keepdim=True)
        return torch.cat([log_p.gather(1, words), others], dim=-1)


class TiedHead(nn.Module):
    """BERT's masked-LM head (Devlin et al. 2019): dense, GELU, layer norm, and the input embeddings as decoder.

    Parameters
    ----------
    width : int
        Of hidden states and embeddings.
    vocabulary : int
    """

    def __init__(self, width: int, vocabulary: int):
        super().__init__()
        self.dense = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        nn.init.normal_(self.dense.weight, std=0.02)
        nn.init.zeros_(self.dense.bias)

    def forward(self, hidden: Tensor, embeddings: Tensor) -> Tensor:
        """Give logits (..., V) from hidden states (..., H) and embeddings (V, H)."""
        return functional.linear(self.norm(functional.gelu(self.dense(hidden))), embeddings, self.bias)


def has_own_head(encoder: Encoder) -> bool:
    """Whether the encoder's configuration says that its files hold its masked-LM head."""
    names = encoder.config.get("architectures") or []
    return any(name.endswith(("ForMaskedLM", "ForPreTraining")) for name in names)


def with_own_head(encoder: Encoder) -> nn.Module | None:
    """Load an encoder with the masked-LM head of its pre-training; None if it has none.

    Raises
    ------
    MemberError
        If its configuration promises a head that its weights lack.
    """
    from transformers import AutoModelForMaskedLM

    if not has_own_head(encoder):
        return None
    with quiet():
        model, report = AutoModelForMaskedLM.from_pretrained(
            encoder.folder, use_safetensors=True, dtype=torch.float32, output_loading_info=True
        )
    if report["missing_keys"]:
        raise MemberError(
            f"encoder {encoder.name} says that it is a {encoder.config['architectures'][0]}, and its weights lack "
            f"{', '.join(sorted(report['missing_keys'])[:3])}; get its files again"
        )
    ready: nn.Module = model.eval()
    return ready
