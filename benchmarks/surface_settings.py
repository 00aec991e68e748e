"""How the defaults of the surface member were chosen: out-of-fold scores on GAP development and validation.

    python benchmarks/surface_settings.py

Each line changes some settings of the defaults and gives logloss and F1, averaged over two partitions into five
folds grouped by page, and the seconds that one fit took. No test label is read.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gapstack.corpus import Corpus, make_folds, sources
from gapstack.members import create
from gapstack.scoring.scores import score

PARTITIONS = (0, 1)
CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"rounds": 110},
    {"rounds": 300},
    {"learning_rate": 0.05, "rounds": 450},
    {"columns": 0.3},
    {"leaves": 12},
    {"leaves": 40, "min_leaf": 8},
    {"l2": 3.0},
    {"l2": 30.0},
    {"bags": 1},
    {"bags": 8},
    {"blocks": ("surface", "cues")},
)


def out_of_fold(corpus: Corpus, seed: int, settings: dict[str, Any]) -> tuple[float, float, float]:
    """Give logloss, F1 and seconds of the mean fit."""
    probabilities, seconds = np.zeros((len(corpus), 3)), 0.0
    folds = make_folds(corpus, 5, seed=seed)
    for fold in range(folds.k):
        train, held = folds.split(fold)
        member, start = create("surface", **settings), time.perf_counter()
        member.fit(corpus.take(train))
        seconds += time.perf_counter() - start
        probabilities[held] = member.predict_proba(corpus.take(held))
    scores = score(corpus, probabilities)
    return scores.value("logloss"), scores.f1_overall, seconds / folds.k


def main() -> None:
    corpus = sources.gap_split("development") + sources.gap_split("validation")
    for change in CHANGES:
        logloss, f1, seconds = np.mean([out_of_fold(corpus, seed, change) for seed in PARTITIONS], axis=0)
        named = ", ".join(f"{key} {value}" for key, value in change.items()) or "defaults"
        print(f"{named:<36} logloss {logloss:.4f}  F1 {f1:.1f}  {seconds:.1f} s a fit", flush=True)


if __name__ == "__main__":
    main()
