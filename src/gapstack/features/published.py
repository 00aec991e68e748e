"""Two papers' 17 features each, six for each name and five for the row, as the blocks of their members.

``fill_the_gap``, of Yang et al. 2019 (after Krige's public kernel): words of the longest part of the name that the page
title has; whether the pronoun c-commands it, which excludes it; of the mentions that binding theory admits, the sum of
parallelism and of theta-prominence, and the nearness of the nearest in the tree and in characters, for A, for B, and
for the row of all third persons; and the number of persons that are candidates. Nearness is the mean distance of all
candidates minus the mention's own. The kernel takes candidates from spaCy and excludes names of the other gender by a
list; here persons are the PERSON names of the project's parser and no name's gender is looked up.

``positions``, of Abzaliev 2019, scaled as there: whether the page title has all distinctive tokens of the name (the
released code looks for the lower-cased name in the URL's last part); place in the text, index of the sentence, and
depth in its tree, of A, B and the pronoun; words from name to pronoun, and from A to B, here as log(1 + words) / 5,
which is near 1 in long texts; edges on the path in the tree from name to pronoun (dependency edges, with one from a
sentence to the next, for the paper's constituency tree of CoreNLP); and whether the pronoun is feminine (of no effect,
according to the author).

Features that need the parse are NaN for a mention without a token.
"""

from math import log1p, nan

import numpy as np

from gapstack.data import Example, Gender, Span
from gapstack.features import ParseFeatures, Values
from gapstack.language.discourse import Discourse
from gapstack.language.grammar import Parse
from gapstack.language.scenes import Barrier
from gapstack.language.words import distinctive_tokens, page_title, same_token, shared_tokens, words
from gapstack.types import Floats

_SCORES = ("parallel", "theta", "tree", "chars")
_POSITION = ("place", "sentence", "depth")
_FAR = 10.0  # edges
_LONG = 5.0  # log words
_SENTENCE_COST = 1.0  # edges, as for the syntactic cues


def _title_words(example: Example, name: str) -> int:
    """Number of words of the longest part of a name that the page's title has."""
    title, own = page_title(example.url), distinctive_tokens(name)
    other = distinctive_tokens(title.title) if title else ()
    shared = [[same_token(word, of_title) for of_title in other] for word in own]
    runs = np.zeros((len(own) + 1, len(other) + 1), dtype=np.int64)
    for i, row in enumerate(shared):
        for j, is_same in enumerate(row):
            runs[i + 1, j + 1] = is_same * (runs[i, j] + 1)
    return int(runs.max())


def _scores(discourse: Discourse) -> Floats:
    """Scores (3, 4) of A, B and third persons."""
    scores = np.full((3, len(_SCORES)), nan)
    if not discourse.person_mentions:
        return scores
    parse, at = discourse.parse, discourse.at
    who, heads = np.array(discourse.person_mentions, dtype=np.int64).T
    distances = np.stack(
        [discourse.distances[heads], np.abs(parse.spans[heads, 0] - parse.spans[at, 0]).astype(np.float64)]
    )
    nearness = distances.mean(axis=1, keepdims=True) - distances
    parallel = parse.functions[heads] == parse.functions[at]
    values = np.stack([parallel.astype(np.float64), parse.theta[heads], *nearness], axis=1)
    for group in set(who.tolist()):
        own = values[who == group]
        scores[group] = [*own[:, :2].sum(axis=0), *own[:, 2:].max(axis=0)]
    return scores


def _fill_the_gap(example: Example, parse: Parse) -> Values:
    discourse = Discourse(example, parse)
    title = [_title_words(example, name) for name in (example.a_text, example.b_text)]
    if discourse.at < 0:  # the parse has no token there
        return np.column_stack([title, np.full((2, 1 + len(_SCORES)), nan)]), np.full(1 + len(_SCORES), nan)
    commanded = (discourse.two.barriers & Barrier.COMMAND) != 0
    scores = _scores(discourse)
    third_persons = {discourse.folded[head] for who, head in discourse.person_mentions if who == 2}
    count = len({who for who, _ in discourse.person_mentions if who < 2}) + len(third_persons)
    return np.column_stack([title, commanded, scores[:2]]), np.append(scores[2], count)


fill_the_gap_features = ParseFeatures(
    "gap",
    ("title_words", "commanded", *_SCORES),
    (*(f"other_{name}" for name in _SCORES), "candidates"),
    _fill_the_gap,
)


def _positions(example: Example, parse: Parse) -> Values:
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


position_features = ParseFeatures(
    "position", ("titled", *_POSITION, "words", "tree"), (*_POSITION, "ab_words", "feminine"), _positions
)
