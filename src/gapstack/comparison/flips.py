"""Counterfactuals: how often a member changes its answer after a change of the row that should not matter.

``gender`` exchanges masculine and feminine words and the first names of A and B; ``order`` exchanges the roles of A and
B; ``names`` replaces the names by Liu's placeholders. Only members that held the rows out predict them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gapstack.data import Corpus
from gapstack.data.augment import Augmentation, anonymise_names, swap_names
from gapstack.data.gender import first_names, swap_gender
from gapstack.errors import DataError
from gapstack.evaluation import answers as most_probable
from gapstack.evaluation.resampling import REPLICATES, mean_intervals
from gapstack.types import Floats

if TYPE_CHECKING:
    from gapstack.comparison.entries import ComparedEntry


@dataclass(frozen=True, eq=False)
class Flips:
    """Share of predictions that change, among the rows that a counterfactual changes."""

    members: tuple[str, ...]
    rows: dict[str, int]  # number of changed rows by counterfactual
    shares: dict[str, Floats]  # value, low and high, (m, 3)


def counterfactual_flips(
    rows: Corpus, entries: Sequence[ComparedEntry], count: int, *, replicates: int = REPLICATES, seed: int = 0
) -> Flips:
    """Predict up to ``count`` random rows and their counterfactuals with the members that held them out.

    Raises DataError if there is no such member.
    """
    predictors = {entry.name: entry.predictor for entry in entries if entry.predictor is not None}
    if not predictors:
        raise DataError(
            "no member held these rows out, so none can predict changed rows",
            expected="a run that held them out, or a saved member",
        )
    kinds = {
        "gender": Augmentation(partial(swap_gender, names=first_names())),
        "order": Augmentation(swap_names, (1, 0, 2)),
        "names": Augmentation(anonymise_names),
    }
    drawn = np.random.default_rng(seed).permutation(len(rows))[:count]
    some = rows.take(np.sort(drawn)).unlabelled()
    examples, changed = list(some), {}
    for kind, augmentation in kinds.items():
        variants = {
            row: changed_example
            for row, example in enumerate(some)
            if (changed_example := augmentation.change(example)) is not None and changed_example != example
        }
        if variants:
            changed[kind] = list(variants), range(len(examples), len(examples) + len(variants))
            examples += [replace(other, id=f"{other.id} {kind}") for other in variants.values()]
    # one corpus, so that each member computes its features in one pass
    corpus = Corpus(examples, name="counterfactuals")
    answers = np.stack([predictor.predict_proba(corpus) for predictor in predictors.values()])
    shares = {}
    for kind, (before, after) in changed.items():
        swapped = most_probable(answers[:, after][..., kinds[kind].columns])
        differs = (most_probable(answers[:, before]) != swapped).astype(np.float64)
        shares[kind] = mean_intervals(some.groups[before], differs.T, replicates=replicates, seed=seed)
    counts = {kind: len(before) for kind, (before, _) in changed.items()}
    return Flips(tuple(predictors), counts, shares)
