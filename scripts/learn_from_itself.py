"""What members learn from a model's own answers to mined rows (self-distillation).

In each fold of GAP development and validation (five by page, official labels) trees and a head are fitted on GAP's rows
and the teacher's, as the recipe `strong` has them; the mean of their answers to the mined rows joins the teacher's, and
both are fitted again. So what answers a held-out row has never learned from it, not even second-hand. Scores are out of
fold; differences have 95% intervals over pages.

    gap mine stage2.jsonl --all --per-page 0 -o mined.tsv     # texts of the teacher's rows: id, text, url a line
    python scripts/learn_from_itself.py mined.tsv
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from gapstack.corpus import Corpus, make_folds, read_gap
from gapstack.corpus.leakage import shared_with
from gapstack.corpus.sources import gap_split
from gapstack.members.frozen_spans import FrozenSpans
from gapstack.members.parts.learner import Learner
from gapstack.members.surface import Surface
from gapstack.progress import progress
from gapstack.report.render import Column, Section, Table
from gapstack.runs.recipe import Recipe
from gapstack.scoring.intervals import bootstrap, contributions
from gapstack.scoring.metrics import log_loss
from gapstack.types import Floats

TAUGHT = ("surface_taught", "frozen_taught")
"""Labels of the recipe's members that are taught."""


class _SelfTaught(Learner):
    """Learns from ``answers`` (n, 3) to ``mined`` beside its teacher's."""

    # no settings, hence not annotated
    mined = Corpus([])
    answers = np.empty((0, 3))

    def _taught(self) -> tuple[Corpus, Floats]:
        corpus, targets = super()._taught()
        return corpus + self.mined, np.concatenate([targets, self.answers])


class _Trees(_SelfTaught, Surface):
    pass


class _Head(_SelfTaught, FrozenSpans):
    pass


def members() -> dict[str, _SelfTaught]:
    """Unfitted, by label."""
    settings = {part.label: part.settings for part in Recipe.load("strong").members}
    kinds: list[type[_SelfTaught]] = [_Trees, _Head]
    return {label: kind(**settings[label]) for label, kind in zip(TAUGHT, kinds, strict=True)}


def clean(mined: Corpus, gap: Corpus) -> Corpus:
    """The rows that share neither page nor passage with GAP, without labels and with ids of their own."""
    shared = shared_with(mined, gap)
    rows = mined.take(np.flatnonzero(~(shared["page"] | shared["passage"])))
    return Corpus([replace(row, id=f"mined:{row.id}", label=None) for row in rows], name="mined rows")


def table(gap: Corpus, mined: Corpus) -> Table:
    """Score each member with and without the mined rows."""
    folds = make_folds(gap, 5, seed=2019)
    names = [f"{label}{suffix}" for suffix in ("", ", and itself") for label in TAUGHT]
    answers = {name: np.empty((len(gap), 3)) for name in names}
    for member in members().values():
        member.prepare(gap + mined)
    with progress("fits", folds.k * len(names)) as ticker:
        for fold in range(folds.k):
            fitted, held = folds.split(fold)
            own = []
            for label, member in members().items():
                member.fit(gap.take(fitted))
                answers[label][held] = member.predict_proba(gap.take(held))
                own.append(member.predict_proba(mined))
                ticker.advance()
            for label, member in members().items():
                member.mined, member.answers = mined, np.mean(own, axis=0)
                member.fit(gap.take(fitted))
                answers[f"{label}, and itself"][held] = member.predict_proba(gap.take(held))
                ticker.advance()
    together = {
        "mean of both": np.mean([answers[label] for label in TAUGHT], axis=0),
        "mean of both, and itself": np.mean([answers[f"{label}, and itself"] for label in TAUGHT], axis=0),
    }
    answers |= together
    resampled = bootstrap(
        gap.groups, {name: contributions(gap, probabilities) for name, probabilities in answers.items()}
    )
    rows = []
    for name, probabilities in answers.items():
        interval = resampled.interval(name, "logloss")
        rows.append(
            (
                name,
                {
                    "logloss": float(log_loss(gap.labels, probabilities)),
                    "low": interval.low,
                    "high": interval.high,
                },
            )
        )
    columns = [
        Column("logloss", "logloss", 4, "low"),
        Column("low", "95% from", 4),
        Column("high", "to", 4),
    ]
    return Table(
        columns,
        [Section("", rows)],
        title=f"What members learn from their own answers to {len(mined):,} mined rows, scored on {gap.name}",
        caption="Official labels; out of fold, five folds by page, seed 2019; intervals resample pages.",
    )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mined", type=Path, help="GAP TSV of gap mine, with or without labels")
    gap = gap_split("development") + gap_split("validation")
    print(table(gap, clean(read_gap(parser.parse_args().mined), gap)).text())


if __name__ == "__main__":
    main()
