"""The feature block ``fill_the_gap``: the 17 hand-crafted features of Yang et al. 2019 (after Krige's public kernel).

Six for each name and five for the row:

- characters of the name that the page title shares;
- True if the pronoun c-commands it, which excludes it;
- parallelism, theta-prominence, and nearness in the tree and in characters, each the maximum over the mentions that
  binding theory admits: A's, B's, and for the row all third persons'. Nearness is, as in the kernel, the mean distance
  of all candidates minus the mention's own;
- the number of persons that are candidates.

The kernel takes candidates from spaCy and excludes names of the other gender by a list; here persons are the PERSON
names of the project's parser and no name's gender is looked up. The four scores of A, B or the others are NaN where
no mention is admitted.
"""

from __future__ import annotations

from math import nan

import numpy as np

from gapstack.data import Example
from gapstack.features.blocks import ParseFeatures
from gapstack.text.discourse import Discourse
from gapstack.text.grammar import Parse
from gapstack.text.page_title import distinctive_tokens, page_title, same_token
from gapstack.text.scenes import Barrier
from gapstack.types import Floats

_SCORES = ("parallel", "theta", "tree", "chars")
CANDIDATE = ("title_chars", "commanded", *_SCORES)
"""Features of each name, in order."""
SHARED = (*(f"other_{name}" for name in _SCORES), "candidates")
"""Features of the row."""


def _title_chars(example: Example, name: str) -> float:
    title = page_title(example.url)
    of_title = distinctive_tokens(title.title) if title else ()
    return sum(
        len(own) for own in distinctive_tokens(name) if any(same_token(own, other) for other in of_title)
    )


def _scores(discourse: Discourse) -> Floats:
    """Scores (3, 4) of A, B and third persons."""
    parse, at = discourse.parse, discourse.at
    who, heads = np.array(discourse.person_mentions, dtype=np.int64).T
    distances = np.stack(
        [discourse.distances[heads], np.abs(parse.spans[heads, 0] - parse.spans[at, 0]).astype(np.float64)]
    )
    nearness = distances.mean(axis=1, keepdims=True) - distances
    parallel = parse.functions[heads] == parse.functions[at]
    values = np.stack([parallel.astype(np.float64), parse.theta[heads], *nearness], axis=1)
    scores = np.full((3, len(_SCORES)), nan)
    for group in range(3):
        if (who == group).any():
            scores[group] = values[who == group].max(axis=0)
    return scores


def _values(example: Example, parse: Parse) -> tuple[Floats, Floats]:
    """Both tables of one row: (2, 6) and (5,)."""
    discourse = Discourse(example, parse)
    title = [_title_chars(example, name) for name in (example.a_text, example.b_text)]
    if discourse.at < 0:  # the parse has no token there
        blank = np.full((2, len(CANDIDATE) - 1), nan)
        return np.column_stack([title, blank]), np.full(len(SHARED), nan)
    commanded = (discourse.two.barriers & Barrier.COMMAND) != 0
    scores = _scores(discourse) if discourse.person_mentions else np.full((3, len(_SCORES)), nan)
    third_persons = {discourse.folded[head] for who, head in discourse.person_mentions if who == 2}
    count = len({who for who, _ in discourse.person_mentions if who < 2}) + len(third_persons)
    return np.column_stack([title, commanded, scores[:2]]), np.append(scores[2], count)


fill_the_gap_features = ParseFeatures("gap", CANDIDATE, SHARED, _values)
