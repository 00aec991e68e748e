"""What the balance of genders in the training rows is worth: GAP's own hypothesis, measured.

    python benchmarks/gender_balance.py [--seeds 5] [--members surface_cues frozen_cues] [--encoder NAME]

GAP has as many rows about women as about men, so that systems trained on it treat both alike. Arms of one size, drawn
from GAP development and validation by a seed: as many rows of each gender (1:1), four of five masculine (80:20), the
reverse (20:80), and remedies for 80:20: gender-swapped copies of all training rows, feminine rows repeated until both
genders weigh the same, and predictions averaged over both genders. Within a seed the arms share rows.

Scores are of GAP test. Flips: percent of its rows that are answered differently after a swap of gender (words, and
first names of A and B). Pro minus anti: difference of GAP's F1 on the current release of WinoBias. Each figure is a
mean over the seeds; brackets are 95% intervals (t) of the paired difference to 1:1 over the seeds, that is, over
training rows and not over test rows.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.stats import t

from gapstack.audits import SUITES
from gapstack.audits.suite import Items, pro_and_anti
from gapstack.audits.winobias import F1
from gapstack.data import Corpus, Gender
from gapstack.data.augment import augmented
from gapstack.data.gap_data import load_gap
from gapstack.data.gender import first_names, swap_gender
from gapstack.evaluation import Predictions, score
from gapstack.members import create
from gapstack.members.member import Member
from gapstack.types import Floats, Probabilities, Rows

CUES = {"blocks": ["surface", "cues"]}
MEMBERS = {
    "surface": ("surface", {}),
    "surface_cues": ("surface", CUES),
    "frozen_cues": ("frozen_spans", CUES),
    "frozen_spans": ("frozen_spans", {}),
}
SHARE = 0.8
BALANCED = "1:1"
ARMS = (
    BALANCED,
    "20:80",
    "80:20",
    "80:20, swapped copies",
    "80:20, reweighted",
    "80:20, averaged",
)
COLUMNS = {
    "logloss": 3,
    "F1": 1,
    "M": 1,
    "F": 1,
    "bias": 3,
    "flips": 1,
    "WinoBias 1": 1,
    "pro-anti 1": 1,
    "WinoBias 2": 1,
    "pro-anti 2": 1,
}
BOTH_GENDERS = ("original", "swap_gender")


def draw(masculine: Rows, feminine: Rows, size: int, share: float) -> Rows:
    """The first rows of each gender, ``size`` in all, a ``share`` of them masculine."""
    count = round(size * share)
    return np.sort(np.concatenate([masculine[:count], feminine[: size - count]]))


def repeated(corpus: Corpus) -> Corpus:
    """Rows of the rarer gender repeated until both genders weigh the same."""
    groups = [
        [row for row in corpus if row.gender is gender] for gender in (Gender.MASCULINE, Gender.FEMININE)
    ]
    rare, common = sorted(groups, key=len)
    copies = [
        replace(rare[number % len(rare)], id=f"{rare[number % len(rare)].id}~{number // len(rare)}")
        for number in range(len(rare), len(common))
    ]
    return Corpus([*corpus, *copies], label_set=corpus.label_set, name=corpus.name)


def fit(arm: str, kind: str, settings: dict[str, object], rows: Corpus) -> Member:
    """Train a member on the drawn rows with the remedy that the arm's name states."""
    if arm.endswith("swapped copies"):
        settings = settings | {"augment": ["swap_gender"]}
    if arm.endswith("averaged"):
        settings = settings | {"average": list(BOTH_GENDERS)}
    return create(kind, **settings).fit(repeated(rows) if arm.endswith("reweighted") else rows)


def measure(member: Member, test: Corpus, swapped: Corpus, items: Items) -> list[float]:
    """Figures of a fitted member in the order of :data:`COLUMNS`."""
    before, after = (member.predict_proba(rows) for rows in (test, swapped))
    changed = np.array([one != other for one, other in zip(test, swapped, strict=True)])
    flips = 100 * float((before.argmax(1) != after.argmax(1))[changed].mean())
    scores = score(test, before)
    figures = [scores.logloss, scores.f1_overall, scores.f1_masculine, scores.f1_feminine, scores.bias]
    return [*map(float, figures), flips, *stereotypes(items, member.predict_proba(items.corpus))]


def current_release(items: Items) -> Items:
    """Rows of the current release of WinoBias."""
    current = items.facts["release"] == "current"
    facts = {name: fact[current] for name, fact in items.facts.items()}
    return replace(items, corpus=items.corpus.take(np.flatnonzero(current)), facts=facts)


def stereotypes(items: Items, answers: Probabilities) -> list[float]:
    """Mean F1 of both sides, and pro minus anti, of types 1 and 2 of WinoBias."""
    counts = F1.contributions(items.corpus, Predictions.of(answers))
    figures = []
    for kind in ("type1", "type2"):
        sides = pro_and_anti(items, items.facts["kind"] == kind)
        pro, anti = (float(F1.score(np.append(len(rows), counts[rows].sum(axis=0)))) for rows in sides)
        figures += [(pro + anti) / 2, pro - anti]
    return figures


def table(name: str, figures: dict[str, Floats]) -> None:
    """Print means over the seeds, (seeds, columns) by arm, and differences to the balanced arm."""
    print(f"\n{name}\n\n| Training rows | {' | '.join(COLUMNS)} |\n| --- |{' --- |' * len(COLUMNS)}")
    for arm, each in figures.items():
        cells = [f"{value:.{digits}f}" for value, digits in zip(each.mean(0), COLUMNS.values(), strict=True)]
        print(f"| {arm} | {' | '.join(cells)} |")
    print(f"\n| Minus {BALANCED} | {' | '.join(COLUMNS)} |\n| --- |{' --- |' * len(COLUMNS)}")
    for arm, each in figures.items():
        if arm != BALANCED:
            cells = [
                interval(*pair) for pair in zip((each - figures[BALANCED]).T, COLUMNS.values(), strict=True)
            ]
            print(f"| {arm} | {' | '.join(cells)} |")


def interval(differences: Floats, digits: int) -> str:
    """Mean (seeds,) with its 95% interval."""
    mean, count = differences.mean(), len(differences)
    half = t.ppf(0.975, count - 1) * differences.std(ddof=1) / np.sqrt(count)
    return f"{mean:+.{digits}f} [{mean - half:+.{digits}f}, {mean + half:+.{digits}f}]"


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and measure all arms, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5, help="subsamples, at least 2")
    parser.add_argument("--members", nargs="+", choices=MEMBERS, default=["surface_cues", "frozen_cues"])
    parser.add_argument("--encoder", help="a folder or a name of the Hub; by default the embedded one")
    parser.add_argument("--test-rows", type=int, default=2000, help="rows of GAP test to score")
    options = parser.parse_args(arguments)
    gap = load_gap()
    train, test = gap.train, gap.splits["test"][: options.test_rows]
    swapped = augmented(test, partial(swap_gender, names=first_names()))
    items = current_release(SUITES["winobias"].load())
    genders = np.array([row.gender for row in train])
    sides = [np.flatnonzero(genders == gender) for gender in (Gender.MASCULINE, Gender.FEMININE)]
    size = round(min(map(len, sides)) / SHARE)
    print(
        f"{train.name}: {size} of {len(train)} rows, {train.label_set} labels; {test.name}, {len(test)} rows"
    )
    for name in options.members:
        kind, settings = MEMBERS[name]
        if kind != "surface":
            settings = settings | {"encoder": options.encoder}
        both = create(kind, **settings, augment=["swap_gender"], average=list(BOTH_GENDERS))
        for rows in (train, test, swapped, items.corpus):
            both.prepare(rows)
        figures: dict[str, list[list[float]]] = {arm: [] for arm in ARMS}
        for seed in range(options.seeds):
            started = time.perf_counter()
            masculine, feminine = (
                np.random.default_rng([seed, k]).permutation(s) for k, s in enumerate(sides)
            )
            for arm in ARMS:
                share = {BALANCED: 0.5, "20:80": 1 - SHARE}.get(arm, SHARE)
                rows = train.take(draw(masculine, feminine, size, share))
                member = fit(arm, kind, settings | {"seed": seed}, rows)
                figures[arm].append(measure(member, test, swapped, items))
            print(f"{name}, seed {seed}: {time.perf_counter() - started:.0f} s", flush=True)
        table(name, {arm: np.array(rows) for arm, rows in figures.items()})


if __name__ == "__main__":
    main()
