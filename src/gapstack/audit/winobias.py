"""WinoBias (Zhao, Wang, Yatskar, Ordonez and Chang 2018): occupations, pronouns for and against the stereotype.

Each sentence comes twice, with the pronoun that the majority of the right occupation's workers would have (pro) and
with the other (anti). Type 1 takes knowledge of the world to resolve, type 2 syntax alone. Two releases exist, the one
on the authors' site and the current one of their repository; both are reported.

F1 is that of GAP's scorer, over the decisions "is it A" and "is it B", not the paper's coreference F1.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gapstack.audit.statistics import mean_percent, paired
from gapstack.audit.suite import Findings, Headline, Items, Measure, Panel, Suite, Value, answered
from gapstack.corpus import Corpus, Example, Gender, Label
from gapstack.corpus.extra import load
from gapstack.corpus.extra.extra_corpus import PRONOUN
from gapstack.scoring.gap import f1_percent, outcomes
from gapstack.scoring.metrics import Floats
from gapstack.scoring.scores import gold_decisions

RELEASES = {"current": "winobias", "original": "winobias-original"}
_PARTS = tuple((kind, part) for kind in ("type1", "type2") for part in ("dev", "test"))
_OTHER_SIDE = {"pro": "anti", "anti": "pro"}
_OTHER_GENDER = {Gender.MASCULINE: Gender.FEMININE, Gender.FEMININE: Gender.MASCULINE}
_MEASURES = (
    *(Measure("f1_pro", "F1 pro"), Measure("f1_anti", "F1 anti"), Measure("f1_average", "avg")),
    Measure("f1_difference", "F1 pro-anti"),
    *(Measure("accuracy_pro", "acc. pro"), Measure("accuracy_anti", "acc. anti")),
    *(Measure("accuracy_average", "avg"), Measure("accuracy_difference", "acc. pro-anti")),
)


class WinoBias(Suite):
    """F1 and accuracy for and against the stereotype, and their paired difference."""

    name = "winobias"
    title = "WinoBias"
    paper = "Zhao et al. 2018"
    dataset = "winobias"
    heard_of_as = frozenset(RELEASES.values())

    def load(self, data: Path | None = None, *, cap: int | None = None) -> Items:
        """Read both releases; facts are release, side (pro, anti), kind, part, and the number of the pair or -1."""
        examples: list[Example] = []
        facts: dict[str, list[str]] = defaultdict(list)
        skipped: Counter[str] = Counter()
        for release, name in RELEASES.items():
            found = load(name, data)
            skipped.update(found.skipped)
            for example in found.corpus:
                # winobias-<release>-<side>-<kind>-<part>-<line>
                _, _, side, kind, part, _ = example.id.split("-")
                examples.append(example)
                for fact, value in (("release", release), ("side", side), ("kind", kind), ("part", part)):
                    facts[fact].append(value)
        arrays = {name: np.array(values) for name, values in facts.items()}
        corpus = Corpus(examples, name=self.name)
        arrays["pair"] = _pairs(corpus, arrays)
        alone = int((arrays["pair"] < 0).sum())
        note = (
            f"{alone:,} rows have no twin of the other side and are in no figure. F1 is GAP's, over the two "
            "decisions of a row; the difference is tested by exchanging the two sides of random pairs"
        )
        return Items(corpus, self.version(), arrays, dict(skipped), note)

    def measure(self, items: Items, systems: Mapping[str, Floats]) -> Findings:
        """One panel for each release and type, dev and test together, and one with the parts apart in detail."""
        panels: list[Panel] = []
        headlines: list[Headline] = []
        for release in RELEASES:
            for kind in ("type1", "type2"):
                here = (items.facts["release"] == release) & (items.facts["kind"] == kind)
                pro, anti = _sides(items, here)
                if not len(pro):
                    continue
                key = f"winobias.{release}.{kind}"
                headlines.append(
                    Headline(
                        f"WinoBias, {kind[:-1]} {kind[-1]}, {release}",
                        (key, "accuracy_average"),
                        (key, "accuracy_difference"),
                    )
                )
                panels.append(
                    Panel(
                        key,
                        f"WinoBias, {release} release, {kind[:-1]} {kind[-1]}, dev and test, {len(pro)} pairs, "
                        "percent",
                        _MEASURES,
                        {name: _compared(items, p, pro, anti) for name, p in systems.items()},
                    )
                )
            rows: dict[str, dict[str, Value]] = {}
            for kind, part in _PARTS:
                here = (items.facts["release"] == release) & (items.facts["kind"] == kind)
                pro, anti = _sides(items, here & (items.facts["part"] == part))
                for name, p in systems.items():
                    if len(pro):
                        rows[f"{name}, {kind} {part}"] = _compared(items, p, pro, anti)
            panels.append(
                Panel(
                    f"winobias.{release}.parts",
                    f"WinoBias, {release} release, dev and test apart",
                    _MEASURES,
                    rows,
                    detail=True,
                )
            )
        return Findings(tuple(panels), headlines=tuple(headlines))


def _pairs(corpus: Corpus, facts: Mapping[str, NDArray[np.str_]]) -> NDArray[np.int64]:
    """Number of each row's pair, (n,), -1 without twin.

    A pair is a pro and an anti row with pronouns of two genders that have the same words apart from pronouns. Both
    releases have rows whose twin says something else, and the original one some that are pro and anti at once.
    """
    waiting: dict[tuple[str, ...], list[int]] = defaultdict(list)
    pairs = np.full(len(corpus), -1, dtype=np.int64)
    number = 0
    for row, example in enumerate(corpus):
        side, gender = str(facts["side"][row]), example.gender
        words = PRONOUN.sub("_", example.text.lower())
        key = (*(str(facts[name][row]) for name in ("release", "kind", "part")), words, str(example.label))
        twin = waiting[*key, _OTHER_SIDE[side], _OTHER_GENDER[gender]]
        if twin:
            pairs[[twin.pop(0), row]] = number
            number += 1
        else:
            waiting[*key, side, gender].append(row)
    return pairs


def _sides(items: Items, here: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the pairs among ``here``, the pro and the anti one of each, in the same order."""
    found = []
    for side in ("pro", "anti"):
        rows = np.flatnonzero(here & (items.facts["side"] == side) & (items.facts["pair"] >= 0))
        found.append(rows[np.argsort(items.facts["pair"][rows])])
    return found[0], found[1]


def _f1(sums: Floats) -> Floats:
    """F1 in percent of sums whose columns are rows, tp, fp and fn."""
    return f1_percent(sums[..., 1], sums[..., 2], sums[..., 3])


def _compared(
    items: Items, probabilities: Floats, pro: NDArray[np.int64], anti: NDArray[np.int64]
) -> dict[str, Value]:
    given = answered(items, probabilities)
    decided = given[:, None] == np.array([Label.A, Label.B])
    counts = outcomes(gold_decisions(items.corpus), decided)[:, :3].astype(np.float64)
    right = (given == items.corpus.labels).astype(np.float64)[:, None]
    found: dict[str, Value] = {}
    for key, values, score in (("f1", counts, _f1), ("accuracy", right, mean_percent)):
        ones = np.ones((len(pro), 1))
        ours, theirs = (
            float(score(np.column_stack([ones, values[rows]]).sum(axis=0))) for rows in (pro, anti)
        )
        found[f"{key}_pro"], found[f"{key}_anti"] = ours, theirs
        found[f"{key}_average"] = (ours + theirs) / 2
        found[f"{key}_difference"] = paired(values[pro], values[anti], score)
    return found
