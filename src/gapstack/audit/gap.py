"""GAP test: F1 and bias by gender, by form of the pronoun and by slice, and with gender-balancing weights.

Feminine and masculine rows of GAP differ in the number of nearby names and the rank of the right one, which explains
part of a system's bias (Kocijan, Camburu and Lukasiewicz 2020). Weights that balance both remove that part.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from gapstack.audit.statistics import REPLICATES, ends
from gapstack.audit.suite import Findings, Headline, Items, Measure, Panel, Suite, Value
from gapstack.comparison.strata import STRATA, names_and_ranks, rank_of_answer, strata
from gapstack.corpus import Gender, Label
from gapstack.corpus.sources import gap_split
from gapstack.scoring import bootstrap, contributions
from gapstack.scoring.gap import f1_percent, f1_ratio
from gapstack.scoring.intervals import COUNTS, Interval
from gapstack.scoring.resampling import Pages, resamples
from gapstack.scoring.reweighting import balancing_weights
from gapstack.scoring.slices import SLICE_SCORES, slice_scores
from gapstack.types import Floats

_SCORES = (
    *(Measure("f1_masculine", "F1 M"), Measure("f1_feminine", "F1 F"), Measure("f1_overall", "F1 O")),
    *(Measure("bias", "bias", 3), Measure("accuracy", "accuracy", 3), Measure("logloss", "logloss", 4)),
)
_SLICE = (
    *(Measure("rows", "rows"), Measure("masculine", "masc."), Measure("feminine", "fem.")),
    *(Measure("f1_masculine", "F1 M"), Measure("f1_feminine", "F1 F"), Measure("f1_gap", "F1 F-M")),
    Measure("accuracy", "accuracy", 3),
)


class GapTest(Suite):
    """The 2,000 rows of GAP test with official labels."""

    name = "gap"
    title = "GAP test"
    paper = "Webster et al. 2018"
    dataset = "gap-test"
    contamination_ids = frozenset({"gap-test"})

    def load(self, data: Path | None = None, *, cap: int | None = None) -> Items:
        """Read the test split; facts are each row's strata, by dimension."""
        corpus = gap_split("test", data)
        return Items(corpus, f"{self.version()}, {corpus.label_set} labels", strata(corpus))

    def measure(self, items: Items, systems: Mapping[str, Floats]) -> Findings:
        """Scores, reweighted scores, and the slices of every system."""
        corpus = items.corpus
        tables = {name: contributions(corpus, p) for name, p in systems.items()}
        estimates = bootstrap(corpus.groups, tables, replicates=REPLICATES)
        scores: dict[str, dict[str, Value]] = {
            name: {measure.key: estimates.interval(name, measure.key) for measure in _SCORES}
            for name in systems
        }
        for name, probabilities in systems.items():
            if np.isin(probabilities, (0.0, 1.0)).all():
                scores[name]["logloss"] = None  # of hard decisions it depends on the clipping alone
        dimensions = {name: items.facts[name] for name in STRATA if name != "gender"}
        parts = slice_scores(
            corpus.groups,
            corpus.genders,
            tables,
            dimensions,
            order={name: STRATA[name].values for name in dimensions},
            replicates=REPLICATES,
        )
        panels = [
            Panel("gap.scores", "GAP test: F1 in percent by gender, and bias", _SCORES, scores),
            Panel(
                "gap.reweighted",
                "GAP test, weighted to balance number of names and rank of the right one between the genders",
                _SCORES[:4],
                _reweighted(items, tables),
                "Rows whose answer is neither name have weight 0 (Kocijan et al. 2020).",
            ),
        ]
        for number, name in enumerate(systems):
            rows: dict[str, dict[str, Value]] = {}
            for part in parts:
                values = {key: Interval(*part.scores[key][number].tolist()) for key in SLICE_SCORES}
                rows[f"{part.dimension}: {part.value}"] = {
                    **{"rows": part.rows, "masculine": part.masculine, "feminine": part.feminine},
                    **{measure.key: values[measure.key] for measure in _SLICE[3:]},
                }
            panels.append(
                Panel(
                    f"gap.slices.{name}",
                    f"GAP test by form of the pronoun and slice, {name}",
                    _SLICE,
                    rows,
                    detail=True,
                )
            )
        headlines = tuple(
            Headline(title, (panel.key, "f1_overall"), (panel.key, "bias"), even=1.0, score="F1")
            for title, panel in zip((self.title, "GAP test, genders balanced"), panels[:2], strict=True)
        )
        return Findings(tuple(panels), headlines=headlines)


def _reweighted(items: Items, tables: Mapping[str, Floats]) -> dict[str, dict[str, Value]]:
    """F1 by gender and bias of weighted decisions; intervals take the weights as fixed."""
    corpus = items.corpus
    counts, ranks = names_and_ranks(corpus)
    weights = balancing_weights(
        corpus.genders,
        {"names": counts, "rank": rank_of_answer(ranks, corpus.labels)},
        corpus.labels != Label.NEITHER,
    )
    pages = Pages.of(corpus.groups)
    scores: dict[str, dict[str, Value]] = {}
    for name, table in tables.items():
        by_page = pages.sums(table * weights[:, None])
        totals = np.concatenate([w @ by_page for w in resamples(pages.count, REPLICATES, 0)])
        points, samples = (_weighted_scores(sums) for sums in (by_page.sum(axis=0, keepdims=True), totals))
        scores[name] = {key: Interval(float(points[key][0]), *ends(samples[key])) for key in points}
    return scores


def _weighted_scores(sums: Floats) -> dict[str, Floats]:
    """F1 by gender and overall, and bias, (k,) each, from sums of contributions (k, columns)."""
    f1 = {
        f"f1_{part}": f1_percent(*np.moveaxis(sums[:, COUNTS[part]], -1, 0))
        for part in (Gender.MASCULINE.value, Gender.FEMININE.value, "overall")
    }
    return f1 | {"bias": f1_ratio(f1["f1_feminine"], f1["f1_masculine"])}
