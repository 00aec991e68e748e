"""GAP test: F1 and bias by gender, by form of the pronoun and by slice, and reweighted to balance the genders.

Feminine and masculine rows of GAP differ in the number of nearby names and in the rank of the right one, which explains
part of a system's bias (Kocijan, Camburu and Lukasiewicz 2020). Weights that balance both remove that part.
"""

from collections.abc import Mapping

import numpy as np

from gapstack.audits.statistics import REPLICATES
from gapstack.audits.suite import Findings, Headline, Items, Suite, percents, suite_table
from gapstack.comparison.strata import STRATA, difficulty_weights, strata
from gapstack.data.gap_data import gap_split
from gapstack.display.render import Cell, Column, Table
from gapstack.errors import DataError
from gapstack.evaluation import Interval, bootstrap, contributions, metrics_in
from gapstack.evaluation.scores import slice_scores
from gapstack.types import Floats

_ACCURACY = Column("accuracy", "accuracy", 3)
_SCORES = (
    *percents(f1_masculine="F1 M", f1_feminine="F1 F", f1_overall="F1 O"),
    Column("bias", "bias", 3),
    _ACCURACY,
    Column("logloss", "logloss", 4),
)
_COUNTS = percents(rows="rows", masculine="masc.", feminine="fem.")
_SLICE = (*percents(f1_masculine="F1 M", f1_feminine="F1 F", f1_overall_gap="F1 F-M"), _ACCURACY)


class GapTest(Suite):
    """The 2,000 rows of GAP test with official labels."""

    name = "gap"
    title = "GAP test"
    paper = "Webster et al. 2018"
    dataset = "gap-test"
    contamination_ids = frozenset({"gap-test"})

    def load(self, *, cap: int | None = None) -> Items:
        """Read the test split; facts are the strata of the rows, (n,) by dimension."""
        corpus = gap_split("test")
        return Items(corpus, f"{self.version()}, {corpus.label_set} labels", strata(corpus))

    def measure(self, items: Items, systems: Mapping[str, Floats]) -> Findings:
        """Scores, reweighted scores, and the slices of every system."""
        corpus = items.corpus
        sums = {name: contributions(corpus, p) for name, p in systems.items()}
        estimates = bootstrap(corpus.groups, sums, replicates=REPLICATES)
        scores: dict[str, dict[str, Cell]] = {}
        for name, p in systems.items():
            scores[name] = {measure.key: estimates.interval(name, measure.key) for measure in _SCORES}
            if np.isin(p, (0.0, 1.0)).all():
                scores[name]["logloss"] = None  # for hard decisions it depends only on the clipping
        unbalanced, reweighted = "", list[Table]()
        try:
            weights = difficulty_weights(corpus)[:, None]  # intervals take them as fixed
        except DataError as problem:  # too few rows
            unbalanced = f"Not weighted: {problem}."
        else:
            weighted = {name: rows * weights for name, rows in sums.items()}
            balanced = bootstrap(corpus.groups, weighted, replicates=REPLICATES)
            reweighted.append(
                suite_table(
                    "gap.reweighted",
                    "GAP test, weighted to balance number of names and rank of the right one between the genders",
                    _SCORES[:4],
                    {n: {key: balanced.interval(n, key) for key in metrics_in("balance")} for n in sums},
                    "Rows whose answer is neither name have weight 0 (Kocijan et al. 2020).",
                )
            )
        title = "GAP test: F1 in percent by gender, and bias"
        tables = [suite_table("gap.scores", title, _SCORES, scores, unbalanced), *reweighted]
        dimensions = {name: items.facts[name] for name in STRATA if name != "gender"}
        order = {name: STRATA[name].values for name in dimensions}
        parts = slice_scores(
            corpus.groups, corpus.genders, sums, dimensions, order=order, replicates=REPLICATES
        )
        for number, name in enumerate(systems):
            rows: dict[str, dict[str, Cell]] = {}
            for part in parts:
                counts = {count.key: getattr(part, count.key) for count in _COUNTS}
                values = {m.key: Interval(*part.scores[m.key][number].tolist()) for m in _SLICE}
                rows[f"{part.dimension}: {part.value}"] = counts | values
            title = f"GAP test by form of the pronoun and slice, {name}"
            tables.append(suite_table(f"gap.slices.{name}", title, (*_COUNTS, *_SLICE), rows, detail=True))
        titles = (self.title, "GAP test, genders balanced")[: 1 + len(reweighted)]
        headlines = tuple(
            Headline(title, (table.key, "f1_overall"), (table.key, "bias"), neutral=1.0, score_name="F1")
            for title, table in zip(titles, tables, strict=False)
        )
        return Findings(tuple(tables), headlines=headlines)
