"""The feature block ``fill_the_gap``: the 17 hand-made features of Yang et al. 2019 (after Krige's public kernel).

Six for each name and five for the row:

- characters of the name that the page title shares;
- whether the pronoun c-commands it, and so cannot mean it;
- parallelism, theta-prominence, and how near it is in the tree and in characters, each asked of its best mention
  that binding theory leaves as a candidate: A's, B's, and for the row everybody else's. A distance is scored as
  in the kernel by the mean over all candidates minus its own, so that nearer is more;
- how many people are left as candidates.

The kernel finds candidates with spaCy and sorts out names of the other gender by a list; here people are the
PERSON names of the project's parser and no name's gender is looked up. Where A, B or the others have no candidate
left, their four scores are NaN.
"""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Example
from gapstack.features.parse_features import ParseFeatures
from gapstack.text.binding import Barrier
from gapstack.text.discourse import Discourse
from gapstack.text.grammar import Parse
from gapstack.text.page_title import page_title, same_token, telling_tokens

Floats = NDArray[np.float64]

_SCORES = ("parallel", "theta", "tree", "chars")
CANDIDATE = ("title_chars", "commanded", *_SCORES)
"""What each name has, in this order."""
SHARED = (*(f"other_{name}" for name in _SCORES), "candidates")
"""What the row has."""


def _title_chars(example: Example, name: str) -> float:
    title = page_title(example.url)
    theirs = telling_tokens(title.title) if title else ()
    return sum(len(own) for own in telling_tokens(name) if any(same_token(own, other) for other in theirs))


def _scores(discourse: Discourse) -> Floats:
    """Scores (3, 4) of A, B and everybody else."""
    parse, at = discourse.parse, discourse.at
    who, heads = (np.array(column, dtype=np.int64) for column in zip(*discourse.everybody, strict=True))
    distances = np.stack(
        [discourse.distances[heads], np.abs(parse.spans[heads, 0] - parse.spans[at, 0]).astype(np.float64)]
    )
    nearness = distances.mean(axis=1, keepdims=True) - distances
    parallel = parse.functions[heads] == parse.functions[at]
    values = np.stack([parallel.astype(np.float64), parse.theta[heads], *nearness], axis=1)
    found = np.full((3, len(_SCORES)), nan)
    for group in range(3):
        if (who == group).any():
            found[group] = values[who == group].max(axis=0)
    return found


def _values(example: Example, parse: Parse) -> tuple[Floats, Floats]:
    """Both tables of one row: (2, 6) and (5,)."""
    discourse = Discourse(example, parse)
    title = [_title_chars(example, name) for name in (example.a_text, example.b_text)]
    if discourse.at < 0:  # the parse has no token there
        blank = np.full((2, len(CANDIDATE) - 1), nan)
        return np.column_stack([title, blank]), np.full(len(SHARED), nan)
    commanded = (discourse.two.barriers & Barrier.COMMAND) != 0
    scores = _scores(discourse) if discourse.everybody else np.full((3, len(_SCORES)), nan)
    strangers = {discourse.folded[head] for who, head in discourse.everybody if who == 2}
    left = len({who for who, _ in discourse.everybody if who < 2}) + len(strangers)
    return np.column_stack([title, commanded, scores[:2]]), np.append(scores[2], left)


fill_the_gap_features = ParseFeatures("gap", CANDIDATE, SHARED, _values)
"""Features of Fill the GAP; see :class:`~gapstack.features.parse_features.ParseFeatures`."""
