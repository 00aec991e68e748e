"""The network of running text while it is trained: encoder, mention scorer and link scorer.

Mentions are spans whose start and end fit (Kirstain et al. 2021, section 3; Martinelli et al. 2024, section 3.1); a
link is scored by projections of two mentions and by what their words say (:mod:`gapstack.running_text.evidence`).
``export.py`` writes what :mod:`gapstack.running_text` reads without torch.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file
from torch import Tensor, nn
from transformers import AutoModel

from gapstack.processes import fastest_dtype
from gapstack.running_text.evidence import MENTION_FEATURES, PAIR_FEATURES
from gapstack.running_text.word_pieces import CASES
from gapstack.text_model_files import encoder_weights

WIDTHS = 40
"""Longest mention in word pieces."""
_STYLES = 5  # no corpus, and four corpora


class Heads(nn.Module):
    """Scorers on top of the encoder's states."""

    def __init__(self, size: int, spans: int = 256, mention: int = 512, links: int = 256, product: int = 64):
        super().__init__()
        self.start = nn.Linear(size + CASES, spans)
        self.end = nn.Linear(size + CASES, spans)
        self.style = nn.Embedding(_STYLES, spans)
        self.fit = nn.Linear(spans, spans)
        self.start_score = nn.Linear(spans, 1)
        self.end_score = nn.Linear(spans, 1)
        self.width = nn.Embedding(WIDTHS, 1)
        self.mention = nn.Linear(2 * size + MENTION_FEATURES, mention)
        self.norm = nn.LayerNorm(mention)
        self.query = nn.Linear(mention, links)
        self.key = nn.Linear(mention, links)
        self.product = nn.Linear(mention, product)
        self.new = nn.Linear(mention, 1)
        self.pair_in = nn.Linear(product + PAIR_FEATURES, 128)
        self.pair_out = nn.Linear(128, 1)
        nn.init.constant_(self.start_score.bias, -4.0)  # hardly any span is a mention
        nn.init.zeros_(self.style.weight)
        nn.init.zeros_(self.width.weight)

    def span_scores(self, states: Tensor, case: Tensor, style: int) -> Tensor:
        """Logits (n, WIDTHS) of the spans from each piece of a window, by width."""
        # (n, size + CASES)
        inputs = torch.cat([states, nn.functional.one_hot(case, CASES).to(states.dtype)], dim=-1)
        gelu = nn.functional.gelu
        starts = gelu(self.start(inputs) + self.style.weight[style])
        ends = gelu(self.end(inputs) + self.style.weight[style])
        fits = self.fit(starts) @ ends.T / 16  # (n, n)
        scores = self.start_score(starts) + self.end_score(ends).T + fits
        n = len(states)
        index = torch.arange(n)[:, None] + torch.arange(WIDTHS)[None]
        return scores.gather(1, index.clamp(max=n - 1)) + self.width.weight.T

    def mentions(self, firsts: Tensor, lasts: Tensor, features: Tensor) -> Tensor:
        """Vectors (m, 512) of mentions, from the states of their first and last pieces and their features."""
        return self.norm(nn.functional.gelu(self.mention(torch.cat([firsts, lasts, features], dim=-1))))

    def links(self, vectors: Tensor, later: Tensor, earlier: Tensor, features: Tensor) -> Tensor:
        """Logits (k,) of pairs of mentions, by their numbers."""
        query, key, product = self.query(vectors), self.key(vectors), self.product(vectors)
        similar = (query[later] * key[earlier]).sum(-1) / 16
        inputs = torch.cat([product[later] * product[earlier], features], dim=-1)
        return similar + self.pair_out(nn.functional.gelu(self.pair_in(inputs)))[:, 0]


def _attend(
    attention: nn.Module,
    hidden_states: Tensor,
    attention_mask: Tensor | None,
    position_bias: Tensor,
    **_: object,
) -> tuple[Tensor]:
    """Attention of MPNet by torch's fused kernel; transformers has an eager one only."""
    shape = (*hidden_states.shape[:2], attention.num_attention_heads, attention.attention_head_size)
    query, key, value = (
        projection(hidden_states).view(shape).transpose(1, 2)
        for projection in (attention.q, attention.k, attention.v)
    )
    bias = (position_bias if attention_mask is None else position_bias + attention_mask).to(query.dtype)
    mixed = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
    return (attention.o(mixed.transpose(1, 2).reshape(hidden_states.shape)),)


class Network(nn.Module):
    """Encoder and heads. The states of frozen layers are computed once for each window and kept in memory."""

    def __init__(self, encoder: str, layers: int, frozen: int):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(encoder, add_pooling_layer=False)
        self.encoder.encoder.layer = self.encoder.encoder.layer[:layers]
        self.encoder.config.num_hidden_layers = layers
        self.encoder.encoder.relative_attention_bias.weight.requires_grad = False
        for layer in self.encoder.encoder.layer:
            layer.attention.attn.forward = partial(_attend, layer.attention.attn)
        for parameter in self.encoder.embeddings.parameters():
            parameter.requires_grad = False
        for layer in self.encoder.encoder.layer[:frozen]:
            for parameter in layer.parameters():
                parameter.requires_grad = False
        self.frozen = frozen
        self._kept: dict[bytes, Tensor] = {}
        self.heads = Heads(self.encoder.config.hidden_size)

    def states(self, windows: list[np.ndarray]) -> list[Tensor]:
        """States (n, size) of each window, whose ids include special tokens, without those."""
        hidden = nn.utils.rnn.pad_sequence(self._lower(windows), batch_first=True)
        states = self._layers(hidden, _mask(windows), slice(self.frozen, None))
        return [states[row, 1 : len(window) - 1].float() for row, window in enumerate(windows)]

    @torch.no_grad()
    def _lower(self, windows: list[np.ndarray]) -> list[Tensor]:
        """States (n, size) of the last frozen layer."""
        keys = [window.tobytes() for window in windows]
        new = [window for key, window in zip(keys, windows, strict=True) if key not in self._kept]
        if new:
            ids = nn.utils.rnn.pad_sequence(
                [torch.from_numpy(window) for window in new],
                batch_first=True,
                padding_value=self.encoder.embeddings.padding_idx,
            )
            training = self.encoder.training
            self.encoder.eval()
            hidden = self.encoder.embeddings(input_ids=ids)
            hidden = self._layers(hidden, _mask(new), slice(self.frozen))
            self.encoder.train(training)
            for window, states in zip(new, hidden, strict=True):
                self._kept[window.tobytes()] = states[: len(window)].half()
        return [self._kept[key].float() for key in keys]

    def _layers(self, hidden: Tensor, mask: Tensor | None, part: slice) -> Tensor:
        """States after some of the layers."""
        stack = self.encoder.encoder
        bias = stack.compute_position_bias(hidden)
        has_bfloat16 = fastest_dtype(hidden.device) == torch.bfloat16
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=has_bfloat16):
            for layer in stack.layer[part]:
                hidden = layer(hidden, mask, bias)[0]
        return hidden


def _mask(windows: list[np.ndarray]) -> Tensor:
    """What is added to the attention of padded windows (w, 1, 1, n)."""
    lengths = torch.tensor([len(window) for window in windows])
    padding = torch.arange(int(lengths.max()))[None] >= lengths[:, None]
    return torch.zeros(padding.shape).masked_fill(padding, -1e4)[:, None, None]


def trained_weights(path: Path) -> dict[str, Tensor]:
    """Averaged weights of a state of ``train.py``, or those that ``export.py`` rounded and wrote to a folder."""
    if not path.is_dir():
        state: dict[str, Tensor] = torch.load(path, weights_only=True)["average"]
        return state
    encoder = {f"encoder.{name}": torch.tensor(values) for name, values in encoder_weights(path).items()}
    arrays = load_file(path / "model.safetensors")
    heads = {name: torch.tensor(value).float() for name, value in arrays.items() if name.startswith("heads.")}
    return encoder | heads
