"""Sizes of encoders: from their configuration, or known by name where the encoder is not at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from gapstack.encoding.encoders import is_at_hand, load_encoder, positions


@dataclass(frozen=True, slots=True)
class Size:
    """What an encoder of BERT's kind is made of: layers, widths, vocabulary, longest input in pieces."""

    layers: int
    width: int
    inner: int
    vocabulary: int
    max_pieces: int = 512

    @classmethod
    def of_config(cls, config: Mapping[str, Any]) -> Self:
        """Read a ``config.json`` of transformers."""
        width = int(config.get("hidden_size") or config["dim"])
        return cls(
            layers=int(config.get("num_hidden_layers") or config["n_layers"]),
            width=width,
            inner=int(config.get("intermediate_size") or config.get("hidden_dim") or 4 * width),
            vocabulary=int(config["vocab_size"]),
            max_pieces=positions(config),
        )

    @property
    def embeddings(self) -> int:
        """Parameters of the embeddings (words, positions, two segments, a norm)."""
        return (self.vocabulary + self.max_pieces + 2 + 2) * self.width

    @property
    def layer(self) -> int:
        """Parameters of one layer: attention, the two dense layers, both norms."""
        return 4 * self.width * (self.width + 1) + 2 * self.width * self.inner + self.inner + 5 * self.width

    @property
    def parameters(self) -> int:
        """All of them, without pooler and task head."""
        return self.embeddings + self.layers * self.layer


KNOWN: Mapping[str, Size] = {
    "bert-base-uncased": Size(12, 768, 3072, 30_522),
    "bert-base-cased": Size(12, 768, 3072, 28_996),
    "bert-large-uncased": Size(24, 1024, 4096, 30_522),
    "bert-large-cased": Size(24, 1024, 4096, 28_996),
}
"""Devlin et al. 2019, section 3; vocabularies of the released models."""


def encoder_size(name: str | None) -> Size | None:
    """Size of an encoder by name or folder, None for the embedded one; None if it is neither at hand nor known."""
    if not is_at_hand(name):
        return KNOWN.get(str(name).rpartition("/")[2])
    try:
        return Size.of_config(load_encoder(name).config)
    except KeyError:  # a configuration of another kind
        return None
