"""A tiny random model of running text, for tests that need no weights."""

import numpy as np

from gapstack.running_text.evidence import MENTION_FEATURES, PAIR_FEATURES
from gapstack.running_text.lexicon import Lexicon
from gapstack.running_text.text_model import TextModel
from gapstack.running_text.word_pieces import CASES, WordPieceTokenizer
from gapstack.text_model_files import shipped

SIZE, SPANS, MENTION, LINKS, PRODUCT, WIDTHS = 8, 6, 10, 5, 4, 12
_SHAPES = {
    "start": (SPANS, SIZE + CASES),
    "end": (SPANS, SIZE + CASES),
    "fit": (SPANS, SPANS),
    "start_score": (1, SPANS),
    "end_score": (1, SPANS),
    "mention": (MENTION, 2 * SIZE + MENTION_FEATURES),
    "query": (LINKS, MENTION),
    "key": (LINKS, MENTION),
    "product": (PRODUCT, MENTION),
    "new": (1, MENTION),
    "pair_in": (7, PRODUCT + PAIR_FEATURES),
    "pair_out": (1, 7),
}


class Mixer:
    """An encoder that mixes each piece with the mean of its passage."""

    def run(self, outputs, feed):
        inputs = feed["inputs"]
        return [np.tanh(inputs + inputs.mean(axis=0))]


def tiny_model(seed: int = 0) -> TextModel:
    """A model with random heads, and the shipped tokenizer and lexicon."""
    rng = np.random.default_rng(seed)
    heads = {
        f"{name}.weight": rng.normal(size=shape).astype(np.float32) for name, shape in _SHAPES.items()
    } | {f"{name}.bias": rng.normal(size=shape[0]).astype(np.float32) for name, shape in _SHAPES.items()}
    heads["style.weight"] = np.zeros((5, SPANS), dtype=np.float32)
    heads["width.weight"] = np.zeros((WIDTHS, 1), dtype=np.float32)
    heads["norm.weight"], heads["norm.bias"] = np.ones(MENTION, np.float32), np.zeros(MENTION, np.float32)
    embeddings = rng.integers(-100, 100, size=(30527, SIZE)).astype(np.int8)
    folder = shipped()
    return TextModel(
        Mixer(),
        embeddings,
        np.full(30527, 0.02, dtype=np.float32),
        heads,
        WordPieceTokenizer.load(folder / "tokenizer.json"),
        Lexicon.load(folder),
        "tiny",
    )
