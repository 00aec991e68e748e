"""GAP's own test: F1 and bias by gender, by form of the pronoun and by slice, and with the genders made alike.

Feminine and masculine rows of GAP differ in how many names are near and how near the right one is, so that a part
of a bias is the rows' (Kocijan, Camburu and Lukasiewicz 2020); weights under which both are alike take that part
away.
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
from gapstack.scoring.metrics import Floats
from gapstack.scoring.resampling import Pages, resamples
from gapstack.scoring.reweighting import balancing_weights
from gapstack.scoring.slices import SLICE_SCORES, slice_scores

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
    heard_of_as = frozenset({"gap-test"})

    def load(self, data: Path | None = None, *, cap: int | None = None) -> Items:
        """Read the test split; facts are each row's value in every dimension that slices are made by."""
        corpus = gap_split("test", data)
        return Items(corpus, f"{self.version()}, {corpus.label_set} labels", strata(corpus))

    def measure(self, items: Items, systems: Mapping[str, Floats]) -> Findings:
        """Scores, reweighted scores, and the slices of every system."""
        corpus = items.corpus
        tables = {name: contributions(corpus, p) for name, p in systems.items()}
        made = bootstrap(corpus.groups, tables, replicates=REPLICATES)
        scores: dict[str, dict[str, Value]] = {
            name: {measure.key: made.interval(name, measure.key) for measure in _SCORES} for name in systems
        }
        for name, probabilities in systems.items():
            if np.isin(probabilities, (0.0, 1.0)).all():
                scores[name]["logloss"] = None  # of certainties it says only where they are clipped
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
                "GAP test with the genders made alike in number of names and rank of the right one",
                _SCORES[:4],
                _reweighted(items, tables),
                "Rows whose answer is neither name weigh nothing (Kocijan et al. 2020).",
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
            for title, panel in zip((self.title, "GAP test, genders made alike"), panels[:2], strict=True)
        )
        return Findings(tuple(panels), headlines=headlines)


def _reweighted(items: Items, tables: Mapping[str, Floats]) -> dict[str, dict[str, Value]]:
    """F1 by gender and bias of weighted decisions; intervals hold for the weights as they are."""
    corpus = items.corpus
    counts, ranks = names_and_ranks(corpus)
    weights = balancing_weights(
        corpus.genders,
        {"names": counts, "rank": rank_of_answer(ranks, corpus.labels)},
        corpus.labels != Label.NEITHER,
    )
    pages = Pages.of(corpus.groups)
    found: dict[str, dict[str, Value]] = {}
    for name, table in tables.items():
        by_page = pages.sums(table * weights[:, None])
        drawn = np.concatenate([w @ by_page for w in resamples(pages.count, REPLICATES, 0)])
        points, samples = (_weighted_scores(sums) for sums in (by_page.sum(axis=0, keepdims=True), drawn))
        found[name] = {key: Interval(float(points[key][0]), *ends(samples[key])) for key in points}
    return found


def _weighted_scores(sums: Floats) -> dict[str, Floats]:
    """F1 by gender, overall, and their ratio, (k,) each, of (k, columns) sums of contributions."""
    f1 = {
        f"f1_{part}": f1_percent(*np.moveaxis(sums[:, COUNTS[part]], -1, 0))
        for part in (Gender.MASCULINE.value, Gender.FEMININE.value, "overall")
    }
    return f1 | {"bias": f1_ratio(f1["f1_feminine"], f1["f1_masculine"])}
