"""Meta-features: a few facts of a row that say whom to trust on it (Sill et al. 2009), one line each.

Each is the same whichever name is called A: a fact of the row, the least or the difference of what the two names have,
or the disagreement of the members. They are read off the blocks of hand-made features that stackers are shown; what
has no value (no URL) is NaN. The parser gives its parses no confidence: the edges between A and B stand for it, since
long paths are where it errs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gapstack.ensemble.stacker import EVIDENCE
from gapstack.errors import MemberError
from gapstack.features.blocks import Features
from gapstack.types import BasePredictions, Floats

_LEAST = 1e-15  # a probability whose logarithm is taken


def _column(name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise MemberError(f"the evidence has no feature {name!r}; give the blocks {' and '.join(EVIDENCE)}")
    return names.index(name)


def _row(name: str) -> Callable[[Features], Floats]:
    return lambda features: features.shared[:, _column(name, features.shared_names)]


def _names(name: str, pool: Callable[[Floats, Floats], Floats]) -> Callable[[Features], Floats]:
    def feature(features: Features) -> Floats:
        a, b = features.candidates[:, :, _column(name, features.candidate_names)].T
        return pool(a, b)

    return feature


def _apart(a: Floats, b: Floats) -> Floats:
    return np.abs(a - b)


def _log(feature: Callable[[Features], Floats]) -> Callable[[Features], Floats]:
    return lambda features: np.log1p(feature(features))


META: dict[str, tuple[str, Callable[[Features], Floats]]] = {
    "feminine": ("a feminine pronoun", _row("feminine")),
    "near": ("words from the pronoun to the nearer name, logarithm", _log(_names("words", np.minimum))),
    "apart": ("difference of the names' distances in words, logarithm", _log(_names("words", _apart))),
    "both_before": ("both names precede the pronoun", _names("before", np.minimum)),
    "one_sentence": ("both names are in the pronoun's sentence", _names("same_sentence", np.minimum)),
    "titled": ("greater share of the page title's words that a name has", _names("title_share", np.maximum)),
    "title_apart": ("difference of these shares", _names("title_share", _apart)),
    "others": ("names beside A and B, logarithm", _log(_row("other_names"))),
    "path": ("edges between A and B in the parse, logarithm", _log(_row("cue_ab_path"))),
}
"""By name: what it is, and its column (n,) of hand-made features."""

NAMES = (*META, "disagreement")
"""All meta-features; the last is computed from base predictions, by :func:`disagreement`."""


def meta_features(features: Features) -> Floats:
    """Give the columns of :data:`META`, (n, len(META)); NaN where there is no value."""
    return np.column_stack([column(features) for _, column in META.values()])


def disagreement(base_predictions: BasePredictions) -> Floats:
    """Give (n, 1): Jensen-Shannon divergence of the members in nats, 0 where all predict the same, at most log 3."""

    def entropy(probabilities: Floats) -> Floats:
        entropies: Floats = -(probabilities * np.log(np.clip(probabilities, _LEAST, None))).sum(axis=-1)
        return entropies

    return (entropy(base_predictions.mean(axis=1)) - entropy(base_predictions).mean(axis=1))[:, None]
