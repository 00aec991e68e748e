"""Learning curves: out-of-fold logloss against GAP's rows, a teacher's rows, members of a stack and seeds.

Members are cross-validated on GAP development and validation (five folds by page, official labels); fewer of GAP's rows
are whole pages drawn from each fold's training rows. Intervals resample pages. Each point is written when it is
computed, and a second call goes on; no test split is read.

    python scripts/learning_curves.py docs/learning_curves.json --run strong
    python scripts/learning_curves.py docs/learning_curves.json --plot docs/learning_curves.svg

The plot needs matplotlib (``pip install -e '.[docs]'``).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus, Folds, make_folds
from gapstack.corpus.sources import gap_split
from gapstack.ensemble import create_stacker
from gapstack.errors import MismatchError
from gapstack.files import write_json
from gapstack.members.frozen_spans import FrozenSpans
from gapstack.members.parts.learner import Learner
from gapstack.members.surface import Surface
from gapstack.progress import progress
from gapstack.runs.answers import OUT_OF_FOLD, run_answers, run_corpora
from gapstack.runs.folder import STACK, find_run
from gapstack.scoring.intervals import bootstrap, contributions
from gapstack.scoring.metrics import log_loss
from gapstack.types import Floats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path, its part is imported by name

from scripts.plots import svg

BLOCKS = ("surface", "cues")
GOLD = (250, 500, 1000, 1500, None)
TEACHER = (0, 1000, 2500, 5000, None)
SEEDS = (1, 2, 4, 8)


class _FewerTaught(Learner):
    """Learns from the first ``most`` rows of its teacher, in a random order that does not change."""

    most: int | None = None

    def _taught(self) -> tuple[Corpus, Floats]:
        corpus, targets = super()._taught()
        rows = np.sort(np.random.default_rng(0).permutation(len(corpus))[: self.most])
        return corpus.take(rows), targets[rows]


class _Trees(_FewerTaught, Surface):
    pass


class _Head(_FewerTaught, FrozenSpans):
    pass


KINDS: dict[str, Callable[[bool], Learner]] = {
    "trees": lambda taught: _Trees(
        blocks=BLOCKS,
        **{"teacher": "stage2", "gold_weight": 1.5, "rounds": 400, "leaves": 31} if taught else {},
    ),
    "head": lambda taught: _Head(
        blocks=BLOCKS,
        **{"teacher": "stage2", "gold_weight": 1.5, "epochs": 8, "width": 64, "hidden": 128, "seeds": 2}
        if taught
        else {"epochs": 30},
    ),
}


@dataclass(frozen=True)
class Point:
    """``logloss`` with its 95% interval ``low`` to ``high``, at ``x`` of what ``curve`` counts."""

    curve: str
    system: str
    x: int
    logloss: float
    low: float
    high: float


def measured(curve: str, system: str, x: int, corpus: Corpus, probabilities: Floats) -> Point:
    """Score out-of-fold probabilities (n, 3)."""
    interval = bootstrap(corpus.groups, {system: contributions(corpus, probabilities)}).interval(
        system, "logloss"
    )
    value = float(log_loss(corpus.labels, probabilities))
    return Point(curve, system, x, round(value, 4), round(interval.low, 4), round(interval.high, 4))


def out_of_fold(member: Learner, corpus: Corpus, folds: Folds, gold: int | None = None) -> Floats:
    """Out-of-fold probabilities (n, 3), each fit on whole pages with about ``gold`` rows of the other folds."""
    splits = [folds.split(fold) for fold in range(folds.k)]
    rows = [fitted if gold is None else _pages(corpus, fitted, gold) for fitted, _ in splits]
    probabilities = np.empty((len(corpus), 3))
    with progress(f"{type(member).__name__.strip('_')}, {gold or 'all'} rows", folds.k) as ticker:
        fits = member.fit_each([corpus.take(own) for own in rows])
        for (_, held), fit in zip(splits, fits, strict=True):
            probabilities[held] = fit.predict_proba(corpus.take(held))
            ticker.advance()
    return probabilities


def _pages(corpus: Corpus, rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Whole pages of ``rows``, the same first ones for every count, with about ``count`` rows."""
    pages = corpus.groups[rows]
    order = np.random.default_rng(0).permutation(np.unique(pages))
    sizes = np.array([(pages == page).sum() for page in order]).cumsum()
    return rows[np.isin(pages, order[: int(np.searchsorted(sizes, count)) + 1])]


def curves(corpus: Corpus, folds: Folds, known: set[tuple[str, str, int]]) -> Iterator[Point]:
    """Points for GAP's rows, the teacher's and seeds that are not ``known`` yet."""
    fitted = len(folds.split(0)[0])

    def of_gold(name: str, taught: bool) -> Iterator[Point]:
        system = f"{name}, taught" if taught else name
        for gold in GOLD:
            if ("GAP's rows", system, gold or fitted) not in known:
                answers = out_of_fold(KINDS[name](taught), corpus, folds, gold)
                yield measured("GAP's rows", system, gold or fitted, corpus, answers)

    for name, make in KINDS.items():
        for taught in (False, True):
            yield from of_gold(name, taught)
        whole = len(make(True)._taught()[0])
        for most in TEACHER:
            if ("teacher's rows", name, whole if most is None else most) not in known:
                member = make(most != 0)
                member.most = most
                answers = out_of_fold(member, corpus, folds)
                yield measured("teacher's rows", name, whole if most is None else most, corpus, answers)
    for seeds in SEEDS:
        if ("seeds", "head, taught", seeds) not in known:
            member = KINDS["head"](True).set_params(seeds=seeds)
            yield measured("seeds", "head, taught", seeds, corpus, out_of_fold(member, corpus, folds))


def of_run(name: str, corpus: Corpus, folds: Folds) -> Iterator[Point]:
    """Points for stacks of a run's best 1, 2, ... members, best first by out-of-fold logloss, each stack nested."""
    run = find_run(name)
    if run is None:
        raise MismatchError(f"there is no run {name!r}; expected the name of a finished one")
    folder, _ = run
    train = run_corpora(folder)[OUT_OF_FOLD]
    answers = run_answers(folder, train).members
    if list(train.ids) != list(corpus.ids):
        raise MismatchError(f"run {name} has other rows than GAP development and validation")
    ranked = sorted(answers.keys() - {STACK}, key=lambda label: log_loss(corpus.labels, answers[label]))
    for count in range(1, len(ranked) + 1):
        base = np.stack([answers[label] for label in ranked[:count]], axis=1)
        nested = np.empty((len(corpus), 3))
        for fold in range(folds.k):
            fitted, held = folds.split(fold)
            stacker = create_stacker("conditional").fit(base[fitted], corpus.labels[fitted])
            nested[held] = stacker.predict_proba(base[held])
        yield measured("members", "stack", count, corpus, nested)


def plot(points: list[Point], place: Path) -> None:
    """Draw each curve with its intervals, side by side on one scale of logloss."""
    names = list(dict.fromkeys(point.curve for point in points))
    with svg(place) as pyplot:
        size = (3.6 * len(names), 3.4)
        _, panels = pyplot.subplots(1, len(names), figsize=size, sharey=True, squeeze=False)
        for name, panel in zip(names, panels[0], strict=True):
            for system in dict.fromkeys(point.system for point in points if point.curve == name):
                own = sorted((p for p in points if (p.curve, p.system) == (name, system)), key=lambda p: p.x)
                x = [point.x for point in own]
                panel.plot(x, [point.logloss for point in own], marker="o", markersize=3, label=system)
                panel.fill_between(x, [p.low for p in own], [p.high for p in own], alpha=0.15)
            panel.set_xlabel(name)
            panel.legend(fontsize=7, frameon=False)
            panel.grid(alpha=0.3)
        panels[0][0].set_ylabel("logloss, out of fold")


def main() -> None:
    """Measure what is missing in the file, or draw it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("points", type=Path, help="JSON file of the points, which is added to")
    parser.add_argument("--run", help="a finished run whose members are added one by one")
    parser.add_argument("--plot", type=Path, help="draw the points of the file as SVG, and measure nothing")
    arguments = parser.parse_args()
    stored = json.loads(arguments.points.read_text()) if arguments.points.exists() else []
    points = [Point(**values) for values in stored]
    if arguments.plot:
        plot(points, arguments.plot)
        return
    corpus = gap_split("development") + gap_split("validation")
    folds = make_folds(corpus, 5, seed=2019)
    known = {(point.curve, point.system, point.x) for point in points}
    if arguments.run:
        points = [point for point in points if point.curve != "members"]
        found = of_run(arguments.run, corpus, folds)
    else:
        found = curves(corpus, folds, known)
    for point in found:
        points.append(point)
        write_json(arguments.points, [asdict(each) for each in points])
        print(point)


if __name__ == "__main__":
    main()
