"""A language model's evidence that two mentions are one person, from the text around both.

MiniLM's first layers and two fine-tuned ones give each mention a vector; a small network compares the vectors of two.
It is a mention-ranking model (Lee et al. 2017, without its detection of mentions), and its segments are encoded alone
(Joshi et al. 2019). Vectors are averaged with those of the text with the other gender's pronouns, so that MiniLM cannot
link an occupation by stereotype; the boosters know the gender. Everything is computed by numpy, so that torch need not
be imported; the model's folder has its own copy of MiniLM's first layers, with word embeddings of 8 bits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from math import sqrt
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load, save_file
from scipy.special import erf, expit, softmax
from tokenizers import Tokenizer

from gapstack.coreference.mentions import Kind, Mention, Neural, Place
from gapstack.data import Span
from gapstack.files import atomic_path, read_bytes, write_text
from gapstack.types import Floats32, Ints

FILE = "pairs.safetensors"
ENCODER_FILE = "minilm.safetensors"
TOKENIZER_FILE = "tokenizer.json"
SEGMENT = 384
"""Maximum word pieces of a segment."""
FROZEN = 3
"""Layers of the embedded encoder that are not fine-tuned."""
TUNED = 2
BACK = 120
"""Mentions before a mention that are compared with it."""
DISTANCES = np.array([2, 4, 7, 12, 20, 35, 60, 100, 170, 300, 600, 1200])
"""Upper bounds of the bins of distances, in tokens."""
_HEADS = 12
_LEAST_LINK = 0.002
_PEOPLE = 20
"""Names and nouns of which the probability is kept."""
_CLS, _SEP = 101, 102
_OTHER_GENDER = {
    **{"he": "she", "she": "he", "him": "her", "her": "his", "his": "her", "hers": "his"},
    **{"himself": "herself", "herself": "himself"},
}
_EMBEDDINGS = {"word": "word_embeddings", "position": "position_embeddings", "type": "token_type_embeddings"}
_PARTS = {
    "o": "attention.output.dense",
    "ln1": "attention.output.LayerNorm",
    "f1": "intermediate.dense",
    "f2": "output.dense",
    "ln2": "output.LayerNorm",
}


@dataclass(frozen=True)
class FrozenLayers:
    """Tokenizer, embeddings and first layers of MiniLM."""

    weights: Mapping[str, Floats32]
    tokenizer_file: Path

    @classmethod
    def embedded(cls) -> FrozenLayers:
        """Those of the embedded encoder."""
        from gapstack.encoding.encoders import load_encoder

        folder = load_encoder().folder
        return cls(layers_of(folder / "model.safetensors", range(FROZEN)), folder / "tokenizer.json")

    @classmethod
    def load(cls, folder: Path) -> FrozenLayers:
        """Read a model's folder."""
        found = load(read_bytes(folder / ENCODER_FILE))
        scales = found.pop("word_scale").astype(np.float32)
        weights = {name: value.astype(np.float32) for name, value in found.items()}
        return cls(weights | {"word": weights["word"] * scales[:, None]}, folder / TOKENIZER_FILE)

    def save(self, folder: Path) -> None:
        """Write the files into a folder: word embeddings in 8 bits with a scale each, the rest in half precision."""
        scales = np.abs(self.weights["word"]).max(axis=1).clip(1e-6) / 127
        stored = {name: value.astype(np.float16) for name, value in self.weights.items()}
        stored["word"] = np.round(self.weights["word"] / scales[:, None]).astype(np.int8)
        stored["word_scale"] = scales.astype(np.float16)
        with atomic_path(folder / ENCODER_FILE) as path:
            save_file(stored, path)
        write_text(folder / TOKENIZER_FILE, self.tokenizer_file.read_text(encoding="utf-8"))

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Without padding and truncation."""
        tokenizer = Tokenizer.from_file(str(self.tokenizer_file))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    @cached_property
    def _other_gender(self) -> dict[int, int]:
        """Word pieces of pronouns, and those of the other gender's."""
        pieces = self.tokenizer.get_vocab()
        return {pieces[one]: pieces[other] for one, other in _OTHER_GENDER.items()}

    def swapped(self, pieces: Sequence[int]) -> list[int]:
        """Word pieces with the other gender's pronouns."""
        return [self._other_gender.get(one, one) for one in pieces]

    def pieces(self, text: str, spans: Sequence[Span], place: Place) -> tuple[list[int], Ints]:
        """Word pieces of a text, and the first and last one (k, 2) of mentions.

        ``place`` maps characters of the text to those of the document that it is a part of, in which ``spans`` are.
        """
        encoded = self.tokenizer.encode(text, add_special_tokens=False)
        starts = [place(Span(start, start + 1)).start for start, _ in encoded.offsets]
        ends = [(span.start, span.end - 1) for span in spans]
        places = [[max(bisect_right(starts, at) - 1, 0) for at in pair] for pair in ends]
        return encoded.ids, np.array(places, dtype=int).reshape(-1, 2)

    def states(self, pieces: Sequence[int]) -> list[Floats32]:
        """States (n + 2, w) of each segment of word pieces, between two special ones."""
        return [self._segment(ids) for ids in _segments(pieces)]

    def _segment(self, ids: Sequence[int]) -> Floats32:
        pieces, weights = [_CLS, *ids, _SEP], self.weights
        embedded = weights["word"][pieces] + weights["position"][: len(pieces)] + weights["type"][0]
        return _layers(weights, FROZEN, _normalised(embedded, weights["norm.weight"], weights["norm.bias"]))


@dataclass(frozen=True)
class PairScorer:
    """Weights by name, as ``models/people/pairs.py`` trains them."""

    weights: Mapping[str, Floats32]
    encoder: FrozenLayers

    @classmethod
    def load(cls, folder: Path, encoder: FrozenLayers | None = None) -> PairScorer:
        """Read the files of a folder, without those of an ``encoder`` that is given."""
        found = load(read_bytes(folder / FILE))
        weights = {name: value.astype(np.float32) for name, value in found.items()}
        return cls(weights, encoder or FrozenLayers.load(folder))

    def save(self, folder: Path) -> None:
        """Write the weights into a folder, in half precision."""
        with atomic_path(folder / FILE) as path:
            save_file({name: value.astype(np.float16) for name, value in self.weights.items()}, path)

    def vectors(self, text: str, spans: Sequence[Span], place: Place) -> Floats32:
        """Vectors (k, h) of mentions by their characters in a document; see :meth:`FrozenLayers.pieces`."""
        pieces, places = self.encoder.pieces(text, spans, place)
        if not len(places):
            return np.zeros((0, len(self.weights["v.bias"])), dtype=np.float32)
        swapped = self.encoder.swapped(pieces)
        readings = [pieces] if swapped == pieces else [pieces, swapped]
        result: Floats32 = np.mean([self._vectors(one, places) for one in readings], axis=0)
        return result

    def _vectors(self, pieces: Sequence[int], places: Ints) -> Floats32:
        states = [_layers(self.weights, TUNED, segment)[1:-1] for segment in self.encoder.states(pieces)]
        return self._linear("v", np.concatenate(states)[places].reshape(len(places), -1))

    def _linear(self, name: str, x: Floats32) -> Floats32:
        result: Floats32 = x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return result

    def judge_all(self, units: Iterable[Sequence[Mention]]) -> Iterator[Sequence[Mention]]:
        """Yield the units of a document, whose mentions are compared with those before."""
        before: list[Mention] = []
        for unit in units:
            self._judge(unit, before)
            before = [*before, *unit][-BACK:]
            yield unit

    def _judge(self, unit: Sequence[Mention], before: Sequence[Mention]) -> None:
        """Compare the mentions of a unit, in the order of the text, with those before it and with each other.

        Hardly any text to learn from has a neutral pronoun for one person, so these are not compared.
        """
        if not unit:
            return
        around = [*before, *unit]
        vectors = np.array([mention.vector for mention in around], dtype=np.float32)
        left, right, lefts, rights = (self._linear(name, vectors) for name in ("left", "right", "lp", "rp"))
        alone = self._linear("eps.2", np.maximum(self._linear("eps.0", vectors), 0))[:, 0]
        validity = expit(self._linear("valid", vectors))[:, 0]
        classes = Classes(around)
        for i in range(len(before), len(around)):
            mention, others = around[i], compared(around, i)
            if mention.kind is Kind.PRONOUN and not mention.sign:
                continue
            hidden = left[i] + right[others] + (lefts[i] * rights[others]) @ self.weights["prod.weight"].T
            for name, values in classes.of(i, others).items():
                hidden += self.weights[f"{name}.weight"][values]
            logits = self._linear("out", np.maximum(hidden, 0))[:, 0]
            shares = softmax(np.append(logits, alone[i]))
            links = {around[j]: float(p) for j, p in zip(others, shares, strict=False) if p > _LEAST_LINK}
            mention.neural = Neural(links, _people(mention, links), float(shares[-1]), float(validity[i]))


class Classes:
    """Classes of pairs of mentions, as indices of the rows of the scorer's tables."""

    def __init__(self, mentions: Sequence[Mention]):
        self._start = np.array([one.start for one in mentions])
        self._kind = np.array([one.kind for one in mentions])
        self._sign = np.array([one.sign or int(np.sign(one.odds)) * (abs(one.odds) > 1) for one in mentions])
        self._words = [frozenset(one.words) or frozenset((one.lemma,)) for one in mentions]
        is_pronoun = self._kind == Kind.PRONOUN
        same = np.array([is_pronoun & (self._sign == sign) for sign in (-1, 0, 1)])
        # (3, n + 1): pronouns of each gender before each mention
        self._before = np.pad(np.cumsum(same, axis=1), ((0, 0), (1, 0)))

    def of(self, i: int, others: Sequence[int]) -> dict[str, Ints]:
        """Classes (k,) by table: distance, kinds and genders, mentions between, pronouns alike between, same words."""
        j = np.asarray(others, dtype=int)
        distance, steps = self._start[i] - self._start[j], i - j
        kinds = self._kind * 3 + self._sign + 1
        alike = self._before[self._sign[i] + 1]
        between = alike[np.maximum(i, j)] - alike[np.minimum(i, j) + 1]
        gap = np.ceil(np.log2(np.maximum(steps, 1))).astype(int)
        return {
            "dist": np.searchsorted(DISTANCES, np.abs(distance)) + (distance < 0) * (len(DISTANCES) + 1),
            "cat": kinds[i] * 9 + kinds[j],
            "gap": np.where(steps < 0, 7, np.minimum(gap, 6)),
            "same": np.minimum(between, 3) if self._kind[i] == Kind.PRONOUN else np.full(len(j), 4),
            "match": np.array([self._match(i, other) for other in others], dtype=int),
        }

    def _match(self, i: int, j: int) -> int:
        """How words agree: 0 not, 1 some, 2 all of the shorter, 3 equal; pronouns do not."""
        if self._kind[i] != self._kind[j] or self._kind[i] == Kind.PRONOUN:
            return 0
        one, other = self._words[i], self._words[j]
        shared = len(one & other)
        if shared and shared == min(len(one), len(other)):
            return 3 if len(one) == len(other) else 2
        return int(shared > 0)


def compared(mentions: Sequence[Mention], i: int) -> list[int]:
    """Mentions that one is compared with: those before it, and for a pronoun names and nouns later in its sentence."""
    before = list(range(max(0, i - BACK), i))
    if mentions[i].kind is not Kind.PRONOUN:
        return before
    sentence = mentions[i].sentence
    later = takewhile(lambda j: mentions[j].sentence == sentence, range(i + 1, len(mentions)))
    return [*before, *(j for j in later if mentions[j].kind is not Kind.PRONOUN)]


def _segments(pieces: Sequence[int]) -> list[Sequence[int]]:
    """Cut pieces into the fewest segments of equal length."""
    size = -(-len(pieces) // max(-(-len(pieces) // SEGMENT), 1)) or 1
    return [pieces[start : start + size] for start in range(0, len(pieces), size)]


def layers_of(file: Path, layers: Iterable[int]) -> dict[str, Floats32]:
    """Embeddings and some layers of a BERT encoder, numbered from 0, by the names of :class:`PairScorer`."""
    with safe_open(file, framework="numpy") as tensors:
        result = {
            ours: tensors.get_tensor(f"embeddings.{theirs}.weight") for ours, theirs in _EMBEDDINGS.items()
        }
        for end in ("weight", "bias"):
            result[f"norm.{end}"] = tensors.get_tensor(f"embeddings.LayerNorm.{end}")
            for number, layer in enumerate(layers):
                ours, theirs = f"layers.{number}", f"encoder.layer.{layer}"
                parts = [f"{theirs}.attention.self.{part}.{end}" for part in ("query", "key", "value")]
                result[f"{ours}.qkv.{end}"] = np.concatenate([tensors.get_tensor(part) for part in parts])
                for short, name in _PARTS.items():
                    result[f"{ours}.{short}.{end}"] = tensors.get_tensor(f"{theirs}.{name}.{end}")
    return result


def _layers(weights: Mapping[str, Floats32], number: int, x: Floats32) -> Floats32:
    for layer in range(number):
        x = _layer(x, weights, f"layers.{layer}.")
    return x


def _layer(x: Floats32, weights: Mapping[str, Floats32], name: str) -> Floats32:
    """One transformer layer (post-norm, as in BERT)."""

    def linear(part: str, values: Floats32) -> Floats32:
        product: Floats32 = values @ weights[f"{name}{part}.weight"].T + weights[f"{name}{part}.bias"]
        return product

    def normalised(part: str, values: Floats32) -> Floats32:
        return _normalised(values, weights[f"{name}{part}.weight"], weights[f"{name}{part}.bias"])

    n, width = x.shape
    size = width // _HEADS
    queries, keys, values = linear("qkv", x).reshape(n, 3, _HEADS, size).transpose(1, 2, 0, 3)
    scores = queries @ keys.transpose(0, 2, 1) / np.float32(sqrt(size))
    attention = np.exp(scores - scores.max(axis=-1, keepdims=True))
    attention /= attention.sum(axis=-1, keepdims=True)
    x = normalised("ln1", x + linear("o", (attention @ values).transpose(1, 0, 2).reshape(n, width)))
    inner = linear("f1", x)
    inner *= 0.5 * (1 + erf(inner / np.float32(sqrt(2))))
    return normalised("ln2", x + linear("f2", inner))


def _normalised(x: Floats32, weight: Floats32, bias: Floats32) -> Floats32:
    centred = x - x.mean(axis=-1, keepdims=True)
    scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
    result: Floats32 = centred / scale * weight + bias
    return result


def _people(mention: Mention, links: Mapping[Mention, float]) -> dict[Mention, float]:
    """Probability of each name and noun, over chains of links from a pronoun."""
    people: dict[Mention, float] = defaultdict(float)
    if mention.kind is not Kind.PRONOUN:
        return {}
    for other, p in links.items():
        if other.kind is not Kind.PRONOUN:
            people[other] += p
        elif other.neural is not None:
            for name, share in other.neural.people.items():
                people[name] += p * share
    return dict(sorted(people.items(), key=lambda one: -one[1])[:_PEOPLE])
