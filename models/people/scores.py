"""CoNLL scores of clusters of people: MUC, B-cubed and CEAF-e, mentions of one cluster only included (singletons)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain

import numpy as np
from scipy.optimize import linear_sum_assignment

Clusters = Sequence[frozenset[Hashable]]


class ConllScores:
    """Adds up the counts of documents (Pradhan et al. 2014)."""

    def __init__(self) -> None:
        self._counts = {name: np.zeros(4) for name in ("MUC", "B3", "CEAF-e", "mentions")}
        """Recall's numerator and denominator, then precision's."""

    def add(self, found: Iterable[Iterable[Hashable]], gold: Iterable[Iterable[Hashable]]) -> None:
        """Add a document's clusters of mentions; no mention is in two clusters of a side."""
        ours, theirs = ([frozenset(one) for one in side if one] for side in (found, gold))
        both = [(theirs, ours), (ours, theirs)]
        self._counts["MUC"] += list(chain.from_iterable(_muc(*sides) for sides in both))
        self._counts["B3"] += list(chain.from_iterable(_b_cubed(*sides) for sides in both))
        shared = len(frozenset().union(*ours) & frozenset().union(*theirs))
        self._counts["mentions"] += [shared, sum(map(len, theirs)), shared, sum(map(len, ours))]
        self._counts["CEAF-e"] += _ceaf_e(ours, theirs)

    def table(self) -> dict[str, float]:
        """F1 in per cent by name, and ``CoNLL``, the mean of the first three."""
        scores = {}
        for name, (right, of_gold, also_right, of_found) in self._counts.items():
            recall, precision = right / max(of_gold, 1), also_right / max(of_found, 1)
            scores[name] = 100 * 2 * recall * precision / max(recall + precision, 1e-9)
        scores["CoNLL"] = float(np.mean([scores[name] for name in ("MUC", "B3", "CEAF-e")]))
        return scores


def _muc(of: Clusters, by: Clusters) -> tuple[float, float]:
    """Links of some clusters that others keep, and all their links."""
    number = {mention: i for i, cluster in enumerate(by) for mention in cluster}
    kept = sum(len(one) - len({number.get(mention, mention) for mention in one}) for one in of)
    return kept, sum(len(one) - 1 for one in of)


def _b_cubed(of: Clusters, by: Clusters) -> tuple[float, float]:
    number = {mention: i for i, cluster in enumerate(by) for mention in cluster}
    right = 0.0
    for one in of:
        shared = Counter(number[mention] for mention in one if mention in number)
        right += sum(count**2 for count in shared.values()) / len(one)
    return right, sum(map(len, of))


def _ceaf_e(found: Clusters, gold: Clusters) -> tuple[float, float, float, float]:
    if not found or not gold:
        return 0.0, len(gold), 0.0, len(found)
    similar = np.array([[2 * len(a & b) / (len(a) + len(b)) for b in gold] for a in found])
    total = float(similar[linear_sum_assignment(-similar)].sum())
    return total, len(gold), total, len(found)
