"""Relations of each name to the pronoun, for heads that score both names by the same weights."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus, Example, Span
from gapstack.encoding.activations import SpanActivations
from gapstack.encoding.frozen import GROUPS
from gapstack.features.blocks import Features
from gapstack.types import Floats32

# Attention below this is noise in bfloat16, and its logarithm would be nothing but.
_FAINT = 1e-3
# From which group to which, for A and for B.
_READ = tuple(
    [("pronoun", name), (name, "pronoun"), ("pronoun", f"{name}_anywhere"), (f"{name}_anywhere", "pronoun")]
    for name in ("a", "b")
)
ATTENTION_RELATIONS = len(_READ[0])
"""Of each name and head: how many :func:`attention_relations` gives."""


def distance_relations(corpus: Corpus) -> NDArray[np.float32]:
    """Relations of each name to the pronoun, (n, 2, 4).

    Signed log distance in characters, its absolute value, whether the name comes first, and whether the other name is
    between.
    """

    def relate(example: Example, name: Span, other: Span) -> list[float]:
        gap = example.pronoun.start - name.start
        size = float(np.log1p(abs(gap)))
        low, high = sorted((example.pronoun.start, name.start))
        return [np.sign(gap) * size, size, float(gap > 0), float(low < other.start < high)]

    rows = [[relate(e, e.a, e.b), relate(e, e.b, e.a)] for e in corpus]
    return np.array(rows, dtype=np.float32).reshape(len(corpus), 2, 4)


def attention_relations(found: SpanActivations) -> Floats32:
    """Log attention between pronoun and name, (n, 2, layers * heads * 4): see the module's docstring."""
    # (n, layers, heads, 5, 5) -> (n, 4, layers, heads) for each name
    read = [
        [found.attention[..., GROUPS.index(source), GROUPS.index(target)] for source, target in pairs]
        for pairs in _READ
    ]
    stacked = np.stack([np.stack(one, axis=1) for one in read], axis=1).astype(np.float32)
    logs: Floats32 = np.log(stacked + _FAINT).reshape(len(found), 2, math.prod(stacked.shape[2:]))
    return logs


def feature_relations(found: Features) -> Floats32:
    """Each name's own features, its lead over the rival and the row's, (n, 2, 2 k + m), large values damped."""
    own = found.candidates
    shared = np.repeat(found.shared[:, None], 2, axis=1)
    values = np.concatenate([own, own - own[:, ::-1], shared], axis=-1)
    damped: Floats32 = (np.sign(values) * np.log1p(np.abs(values))).astype(np.float32)
    return damped
