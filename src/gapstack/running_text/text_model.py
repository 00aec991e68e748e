"""The files of the model of running text, and its encoder and heads without torch.

Written by ``models/running_text/export.py``. The encoder runs in onnxruntime with weights of 8 bits; the heads are
a few matrices. Both read a passage twice where it has *he* or *she*: as written, and with the other gender's pronouns.
Scores of both readings are averaged, so what the encoder knows about occupations never depends on a pronoun's gender.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from scipy.special import erf, expit

from gapstack.errors import DamageError, DataNotFoundError, Place
from gapstack.files import read_bytes, tree_digest
from gapstack.running_text.evidence import MENTION_FEATURES, mention_features
from gapstack.running_text.lexicon import Lexicon
from gapstack.running_text.mentions import Mention
from gapstack.running_text.word_pieces import CASES, WordPieces, WordPieceTokenizer
from gapstack.text_model_files import ARRAYS, ENCODER, LEXICON, TOKENIZER
from gapstack.types import Bools, Floats, Floats32, Ints

_MOST_PIECES = 500
_BLOCK = 1024  # starts of spans that are scored at once, more than a passage usually has
"""Pieces that the encoder reads at once; more are read in parts."""
_SCALE = 16.0


class SpanScores(NamedTuple):
    """Spans of a passage that may be mentions: first and last pieces (k,), probabilities (k,)."""

    firsts: Ints
    lasts: Ints
    probabilities: Floats


@dataclass(frozen=True)
class Projections:
    """What links are scored by, of m mentions in r readings."""

    query: Floats32
    """(r, m, d)"""
    key: Floats32
    """(r, m, d)"""
    product: Floats32
    """(r, m, p)"""
    new: Floats32
    """Logits (r, m) of referring to nobody before."""


@dataclass(frozen=True)
class TextModel:
    """Encoder, heads, tokenizer and lexicon."""

    encoder: Any
    """Session of onnxruntime: ``inputs`` (n, size) to ``states`` (n, size)."""
    embeddings: np.ndarray
    """Word embeddings (vocabulary, size) in 8 bits."""
    scales: np.ndarray
    """Scale of each row of them (vocabulary,)."""
    heads: Mapping[str, Floats32]
    tokenizer: WordPieceTokenizer
    lexicon: Lexicon
    identity: str

    @classmethod
    def load(cls, folder: Path) -> TextModel:
        """Read a folder; DataNotFoundError if a file is missing, DamageError if one is damaged."""
        import onnxruntime

        for name in (ENCODER, ARRAYS, TOKENIZER, LEXICON):
            if not (folder / name).is_file():
                remedy = "reinstall gapstack, or train the model with models/running_text/train.py"
                raise DataNotFoundError(f"{folder} has no {name}; {remedy}")
        try:
            arrays = load_arrays(read_bytes(folder / ARRAYS))
        except SafetensorError as problem:
            raise DamageError(
                str(problem), place=Place(folder / ARRAYS), remedy="Reinstall gapstack"
            ) from None
        options = onnxruntime.SessionOptions()
        # passages are read in threads of their own; threads that spin would slow them on a busy machine
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        try:
            encoder = onnxruntime.InferenceSession(
                str(folder / ENCODER), options, providers=["CPUExecutionProvider"]
            )
        except Exception as problem:  # onnxruntime's exceptions share no public class
            raise DamageError(
                str(problem).splitlines()[0], place=Place(folder / ENCODER), remedy="Reinstall gapstack"
            ) from None
        heads = {
            name.removeprefix("heads."): array.astype(np.float32)
            for name, array in arrays.items()
            if name.startswith("heads.")
        }
        return cls(
            encoder,
            arrays["embeddings"],
            arrays["scales"].astype(np.float32),
            heads,
            WordPieceTokenizer.load(folder / TOKENIZER),
            Lexicon.load(folder),
            tree_digest(folder, (".md",)),
        )

    def states(self, pieces: WordPieces, swap: bool) -> Floats32:
        """Encoder's states (n, size) of a passage."""
        ids = self.tokenizer.swapped(pieces) if swap else pieces.ids
        parts = []
        for start in range(0, len(ids), _MOST_PIECES):
            part = np.concatenate(
                [[self.tokenizer.first], ids[start : start + _MOST_PIECES], [self.tokenizer.last]]
            )
            inputs = self.embeddings[part].astype(np.float32) * self.scales[part, None]
            parts.append(self.encoder.run(None, {"inputs": inputs})[0][1:-1])
        return np.concatenate(parts) if parts else np.zeros((0, self.embeddings.shape[1]), dtype=np.float32)

    def readings(self, pieces: WordPieces) -> list[Floats32]:
        """States of each reading: one, or two if the passage has *he* or *she*."""
        as_written = self.states(pieces, swap=False)
        if np.array_equal(self.tokenizer.swapped(pieces), pieces.ids):
            return [as_written]
        return [as_written, self.states(pieces, swap=True)]

    def spans(self, readings: Sequence[Floats32], pieces: WordPieces, least: float) -> SpanScores:
        """Spans with at least some probability of being a mention, averaged over the readings."""
        n = len(pieces)
        if not n:
            none = np.zeros(0, dtype=np.int64)
            return SpanScores(none, none, np.zeros(0))
        logits = np.mean([self._span_logits(states, pieces.case) for states in readings], axis=0)
        probabilities = expit(logits.astype(np.float64))
        ends = np.arange(n)[:, None] + np.arange(logits.shape[1])[None]
        allowed: Bools = pieces.begins[:, None] & (ends < n) & pieces.ends[np.minimum(ends, n - 1)]
        firsts, widths = np.nonzero(allowed & (probabilities >= least))
        return SpanScores(firsts, firsts + widths, probabilities[firsts, widths])

    def _span_logits(self, states: Floats32, case: Ints) -> Floats32:
        heads = self.heads
        inputs = np.concatenate([states, np.eye(CASES, dtype=np.float32)[case]], axis=1)
        starts = _gelu(self._linear("start", inputs) + heads["style.weight"][0])
        ends = _gelu(self._linear("end", inputs) + heads["style.weight"][0])
        widths = len(heads["width.weight"])
        # in blocks: a table of numbers without blanks can have tens of thousands of pieces
        blocks = [
            self._scores_by_width(starts[at : at + _BLOCK], ends[at : at + _BLOCK + widths - 1])
            for at in range(0, len(states), _BLOCK)
        ]
        return np.concatenate(blocks) + heads["width.weight"].T

    def _scores_by_width(self, starts: Floats32, ends: Floats32) -> Floats32:
        """Scores (n, widths) of the spans from each start; ``ends`` has those of the widest span of the last too."""
        fits = self._linear("fit", starts) @ ends.T / _SCALE
        scores = self._linear("start_score", starts) + self._linear("end_score", ends).T + fits
        n, widths = len(starts), len(self.heads["width.weight"])
        columns = np.minimum(np.arange(n)[:, None] + np.arange(widths)[None], len(ends) - 1)
        return np.take_along_axis(scores, columns, axis=1)

    def project(
        self, readings: Sequence[Floats32], firsts: Ints, lasts: Ints, mentions: Sequence[Mention]
    ) -> Projections:
        """Projections of a passage's mentions, by their first and last pieces."""
        features = np.array([mention_features(mention) for mention in mentions], dtype=np.float32)
        features = features.reshape(len(mentions), MENTION_FEATURES)
        parts = []
        for states in readings:
            inputs = np.concatenate([states[firsts], states[lasts], features], axis=1)
            vectors = _normalised(_gelu(self._linear("mention", inputs)), self.heads)
            parts.append([self._linear(name, vectors) for name in ("query", "key", "product", "new")])
        query, key, product, new = (np.stack(one) for one in zip(*parts, strict=True))
        return Projections(query, key, product, new[..., 0])

    def link_logits(
        self, query: Floats32, product: Floats32, keys: Floats32, products: Floats32, features: Floats
    ) -> Floats:
        """Logits (k,) of a mention's links to k others, averaged over two readings.

        ``query`` (2, d) and ``product`` (2, p) are the mention's, ``keys`` (2, k, d) and ``products`` (2, k, p)
        those of the others, ``features`` (k, f) of the pairs.
        """
        similar = np.einsum("rd,rkd->rk", query, keys) / _SCALE
        weight = self.heads["pair_in.weight"]
        size = product.shape[-1]
        of_features = features.astype(np.float32) @ weight[:, size:].T + self.heads["pair_in.bias"]
        hidden = _gelu((product[:, None] * products) @ weight[:, :size].T + of_features)
        scores = similar + hidden @ self.heads["pair_out.weight"][0] + self.heads["pair_out.bias"][0]
        result: Floats = scores.mean(axis=0).astype(np.float64)
        return result

    def _linear(self, name: str, inputs: Floats32) -> Floats32:
        result: Floats32 = inputs @ self.heads[f"{name}.weight"].T + self.heads[f"{name}.bias"]
        return result

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """Sizes of keys and of products."""
        return len(self.heads["key.weight"]), len(self.heads["product.weight"])


def packed(projections: Projections) -> str:
    """Projections as text for JSON, in half precision; always of two readings."""
    parts = (projections.query, projections.key, projections.product, projections.new[..., None])
    array = np.concatenate(parts, axis=-1).astype(np.float16)
    return base64.b64encode(np.broadcast_to(array, (2, *array.shape[1:])).tobytes()).decode()


def unpacked(text: str, sizes: tuple[int, int]) -> Projections:
    """Projections of two readings from text."""
    keys, products = sizes
    width = 2 * keys + products + 1
    array = np.frombuffer(base64.b64decode(text), dtype=np.float16).reshape(2, -1, width).astype(np.float32)
    query, key, product, new = np.split(array, [keys, 2 * keys, 2 * keys + products], axis=-1)
    return Projections(query, key, product, new[..., 0])


def _gelu(values: Floats32) -> Floats32:
    result: Floats32 = erf(values / np.float32(np.sqrt(2)))
    result += 1
    result *= values
    result *= np.float32(0.5)
    return result


def _normalised(values: Floats32, heads: Mapping[str, Floats32]) -> Floats32:
    centred = values - values.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    result: Floats32 = centred / deviation * heads["norm.weight"] + heads["norm.bias"]
    return result
