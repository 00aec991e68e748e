"""The feature block ``positions``: the 17 hand-crafted features of Abzaliev 2019, positions of the mentions.

Six for each name and five for the row, scaled as there unless stated otherwise:

- the page title has the name (:mod:`~gapstack.text.page_title`): all of its distinctive tokens, where the released code
  looks for the lower-cased name in the URL's last part;
- position in the text, offset / length in characters, of A, B and the pronoun;
- index of the sentence / number of sentences, of each (the parser's sentences);
- depth in its tree / 10, of each (edges to the root);
- words from name to pronoun, and from A to B, here as log(1 + words) / 5, which is near 1 in long texts;
- edges on the path in the tree from name to pronoun, / 10. The paper counts them in a constituency tree of CoreNLP,
  with 11 on failure; these are dependency edges, and a step from one sentence to the next counts as one;
- the pronoun is feminine (of no effect, according to the author).

Features that need the parse are NaN for a mention without a token.
"""

from __future__ import annotations

from math import log1p, nan

import numpy as np

from gapstack.data import Example, Gender, Span
from gapstack.features.blocks import ParseFeatures
from gapstack.text.grammar import Parse
from gapstack.text.page_title import distinctive_tokens, page_title, shared_tokens
from gapstack.text.words import words
from gapstack.types import Floats

_POSITION = ("place", "sentence", "depth")
CANDIDATE = ("titled", *_POSITION, "words", "tree")
"""Features of each name, in order."""
SHARED = (*_POSITION, "ab_words", "feminine")
"""Features of the row, the pronoun's position first."""

_FAR = 10.0  # edges
_LONG = 5.0  # log words
_SENTENCE_COST = 1.0  # edges, as for the syntactic cues


def _values(example: Example, parse: Parse) -> tuple[Floats, Floats]:
    """Both tables of one row: (2, 6) and (5,)."""
    names = (example.a, example.b)
    at, *heads = (parse.head_of(parse.tokens_in(span)) for span in (example.pronoun, *names))
    edges = parse.distances(at, _SENTENCE_COST) if at >= 0 else None
    candidates = [
        [
            _titled(example, span),
            *_position(example, parse, span, head),
            _words_between(example, span, example.pronoun),
            edges[head] / _FAR if edges is not None and head >= 0 else nan,
        ]
        for span, head in zip(names, heads, strict=True)
    ]
    shared = [
        *_position(example, parse, example.pronoun, at),
        _words_between(example, *names),
        example.gender is Gender.FEMININE,
    ]
    return np.array(candidates, dtype=np.float64), np.array(shared, dtype=np.float64)


def _titled(example: Example, span: Span) -> float:
    title, name = page_title(example.url), example.words(span)
    return title is not None and shared_tokens(name, title.title) == len(distinctive_tokens(name)) > 0


def _position(example: Example, parse: Parse, span: Span, head: int) -> list[float]:
    place = span.start / len(example.text)
    if head < 0:
        return [place, nan, nan]
    return [place, parse.sentence[head] / (parse.sentence[-1] + 1), parse.depth[head] / _FAR]


def _words_between(example: Example, one: Span, other: Span) -> float:
    text = words(example.text)
    first, second = sorted((one, other))
    return log1p(max(text.word_index(second)[0] - text.word_index(first)[-1] - 1, 0)) / _LONG


position_features = ParseFeatures("position", CANDIDATE, SHARED, _values)
