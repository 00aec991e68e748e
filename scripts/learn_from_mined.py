"""What a member learns from labelled rows of `gap mine`: GAP alone, with them, and from them alone.

Members are fitted on folds of GAP development and validation (grouped by page, official labels) with the mined rows
added to every fold's training rows, and scored out of fold on GAP; mined rows are never scored.

    gap mine --corpus gum --corpus litbank --all --per-page 0 -o mined.tsv
    python scripts/learn_from_mined.py mined.tsv --member surface --member pair_product
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.base import clone

from gapstack.corpus import Corpus, Folds, make_folds, read_gap
from gapstack.corpus.sources import gap_split
from gapstack.members import Member, create
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.scoring import score
from gapstack.scoring.intervals import permutation_test
from gapstack.scoring.metrics import example_losses
from gapstack.types import Floats

ARMS: dict[str, Callable[[Corpus, Corpus], Corpus]] = {
    "GAP": lambda gap, mined: gap,
    "GAP and mined rows": lambda gap, mined: gap + mined,
    "mined rows": lambda gap, mined: mined,
}
_BLOCKS = {"surface": {"blocks": ("surface", "cues")}}  # the other members as they are


def out_of_fold(template: Member, gap: Corpus, mined: Corpus, folds: Folds, arm: str) -> Floats:
    """Out-of-fold probabilities (n, 3) of GAP's rows under one arm."""
    probabilities = np.empty((len(gap), 3))
    for fold in range(folds.k):
        fitted, held = folds.split(fold)
        member = clone(template).fit(ARMS[arm](gap.take(fitted), mined))
        probabilities[held] = member.predict_proba(gap.take(held))
    return probabilities


def table(members: list[str], gap: Corpus, mined: Corpus, seeds: int, folds: int) -> Table:
    """Scores of each member under each arm, means over the seeds of folds and members."""
    columns = [
        Column("rows", "rows"),
        Column("logloss", "logloss", 4, "low"),
        Column("f1", "F1", 1, "high"),
        Column("masculine", "M", 1),
        Column("feminine", "F", 1),
        Column("p", "p"),
    ]
    sections = []
    for name in members:
        found: dict[str, list[Floats]] = {arm: [] for arm in ARMS}
        for seed in range(seeds):
            template = create(name, **_BLOCKS.get(name, {}))
            if "seed" in template.get_params():
                template.set_params(seed=seed)
            template.prepare(gap + mined)
            assignment = make_folds(gap, folds, seed=2019 + seed)
            for arm, made in found.items():
                made.append(out_of_fold(template, gap, mined, assignment, arm))
        losses = {
            arm: np.mean([example_losses(gap.labels, p) for p in made], axis=0) for arm, made in found.items()
        }
        rows: list[tuple[str, dict[str, Cell]]] = []
        for arm, made in found.items():
            scores = [score(gap, probabilities) for probabilities in made]
            rows.append(
                (
                    arm,
                    {
                        "rows": {"GAP": len(gap), "mined rows": len(mined)}.get(arm, len(gap) + len(mined)),
                        "logloss": float(losses[arm].mean()),
                        "f1": float(np.mean([s.f1_overall for s in scores])),
                        "masculine": float(np.mean([s.f1_masculine for s in scores])),
                        "feminine": float(np.mean([s.f1_feminine for s in scores])),
                        "p": None
                        if arm == "GAP"
                        else float(permutation_test(gap.groups, losses[arm], losses["GAP"])),
                    },
                )
            )
        sections.append(Section(name, rows))
    return Table(
        columns,
        sections,
        title=f"What members learn from {len(mined)} mined rows, scored on {gap.name}, {len(gap):,} rows",
        caption=f"Official labels; means over {seeds} seeds of {folds} folds. p: of a logloss that equals GAP's alone, "
        "by sign flips of pages.",
        name_title="training rows",
    )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mined", type=Path, help="labelled GAP TSV")
    parser.add_argument("--member", action="append", required=True, help="member to fit; repeatable")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args()
    gap = gap_split("development") + gap_split("validation")
    print(table(options.member, gap, read_gap(options.mined), options.seeds, options.folds).text())


if __name__ == "__main__":
    main()
