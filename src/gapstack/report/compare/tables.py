"""A comparison as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gapstack.comparison.analysis import RANKED
from gapstack.comparison.measurements import Comparison
from gapstack.comparison.verdicts import against_best
from gapstack.report.render import Cell, Column, Section, Table, point
from gapstack.scoring import METRICS, Bootstrap, Interval

SCORES = ("logloss", "f1_masculine", "f1_feminine", "f1_overall", "bias", "accuracy", "ece")

VERDICT = Column("verdict", "against the best")

LISTED = 40
"""Members in each table on a terminal, but for the scores, which are of all."""


def tables(comparison: Comparison, listed: int | None = None) -> list[Table]:
    """All tables in the order of the report; those after the scores list ``listed`` members at most."""
    found = [scores_table(comparison)]
    if len(comparison.scores) > 1:
        found.append(_shortened(label_sets_table(comparison), listed))
    if len(comparison.entries) > 1:
        found.append(_shortened(wins_table(comparison), listed))
        found.append(_shortened(similarity_table(comparison), listed, "agreement"))
    if comparison.contribution:
        found.append(_shortened(contribution_table(comparison), listed, "shapley"))
    found += [slices_table(comparison), _shortened(balance_table(comparison), listed)]
    if comparison.flips:
        found.append(flips_table(comparison))
    if comparison.label_errors:
        found.append(label_errors_table(comparison))
    return found


def warnings(comparison: Comparison) -> tuple[list[str], dict[str, str]]:
    """All warnings, each once, and by member the numbers of its own ("1, 3")."""
    texts = list(dict.fromkeys(warning for entry in comparison.entries for warning in entry.warnings))
    numbers = {
        entry.name: ", ".join(str(1 + texts.index(warning)) for warning in dict.fromkeys(entry.warnings))
        for entry in comparison.entries
    }
    return texts, numbers


def scores_table(comparison: Comparison) -> Table:
    """Scores under the main label set, the verdict against the best, and the numbers of warnings."""
    texts, numbers = warnings(comparison)
    loss, *others = (_metric_column(metric) for metric in SCORES)
    columns = [loss, *([VERDICT] if len(comparison.entries) > 1 else []), *others]
    if texts:
        columns.append(Column("warnings", "see"))
    rows = comparison.rows
    heading = f"{rows.name}: {len(rows):,} rows of {len(set(rows.groups)):,} pages, {rows.label_set} labels"
    cells: list[dict[str, Cell]] = [
        {
            **{metric: _interval(comparison.main, name, metric) for metric in SCORES},
            "verdict": "the best" if verdict is None else f"{verdict.outcome}{_by(verdict.metric)}",
            "warnings": numbers[name] or None,
        }
        for name, verdict in zip(comparison.names, against_best(comparison), strict=True)
    ]
    notes = [
        f"Brackets hold 95% intervals, by {comparison.replicates:,} resamples of whole pages. Better and worse are by "
        "permutation of pages at 5%, Holm's correction for all pairs."
    ]
    notes += [f"[{number}] {text}." for number, text in enumerate(texts, 1)]
    notes += [f"{note[:1].upper()}{note[1:]}." for note in comparison.notes]
    return _by_member(comparison, heading, columns, cells, caption=" ".join(notes))


def label_sets_table(comparison: Comparison) -> Table:
    """Logloss and F1 under every label set, a column each."""
    keys = {
        f"{metric} {name}": (metric, name)
        for metric in ("logloss", "f1_overall")
        for name in comparison.scores
    }
    return _by_member(
        comparison,
        "every label set",
        [
            Column(key, name, METRICS[metric].decimals, METRICS[metric].better, METRICS[metric].title)
            for key, (metric, name) in keys.items()
        ],
        [
            {
                key: _cell(comparison.scores[name].points[metric][place])
                for key, (metric, name) in keys.items()
            }
            for place in range(len(comparison.names))
        ],
    )


def wins_table(comparison: Comparison) -> Table:
    """Number of significant wins and losses of each member by each metric."""
    columns: list[Column] = []
    rows: list[dict[str, Cell]] = [{} for _ in comparison.names]
    for metric, pairs in comparison.pairs.items():
        wins = pairs.wins()
        for key, title, outcome in ((f"{metric} beats", "wins", 1), (f"{metric} beaten", "losses", -1)):
            columns.append(Column(key, title, group=METRICS[metric].title))
            for cells, counts in zip(rows, (wins == outcome).sum(axis=1).tolist(), strict=True):
                cells[key] = counts
    count = len(rows) * (len(rows) - 1) // 2
    caption = (
        f"At 5% by permutation of pages, Holm's correction for {count} pairs of each metric; other pairs cannot be "
        "told apart."
    )
    if count / 0.05 > comparison.replicates + 1:
        caption += f" {comparison.replicates:,} permutations are too few for {count} pairs to be significant."
    return _by_member(comparison, "pairwise wins", columns, rows, caption=caption)


def similarity_table(comparison: Comparison) -> Table:
    """Mean similarity of each member to the others, and the most similar one."""
    columns = [
        Column("correlation", "corr. of losses", 2),
        Column("disagreement", "disagreement", 3),
        Column("double fault", "both wrong", 3),
        Column("nearest", "most similar"),
    ]
    similarity, others = comparison.similarity, ~np.eye(len(comparison.names), dtype=bool)
    rows: list[dict[str, Cell]] = []
    for place, rest in enumerate(others):
        disagreement = similarity.disagreement[place]
        near = int(np.argmin(np.where(rest, disagreement, np.inf)))
        correlation = similarity.correlation[place][rest]
        agreement = 1 - float(disagreement[near])
        rows.append(
            {
                "correlation": None if np.isnan(correlation).all() else float(np.nanmean(correlation)),
                "disagreement": float(disagreement[rest].mean()),
                "double fault": float(similarity.double_fault[place][rest].mean()),
                "agreement": agreement,
                "nearest": f"{comparison.names[near]} ({100 * agreement:.1f}%)",
            }
        )
    title = (
        "similarity of members: means over the others; share of rows with the same answer as the most similar"
    )
    return _by_member(comparison, title, columns, rows)


def contribution_table(comparison: Comparison) -> Table:
    """Leave-one-out and Shapley values."""
    found = comparison.contribution
    assert found is not None
    columns = [
        Column("left out", "leave-one-out", 4, "high"),
        Column("shapley", "Shapley value", 4, "high"),
    ]
    rows: list[dict[str, Cell]] = [
        {"left out": Interval(*left_out), "shapley": Interval(*shapley)}
        for left_out, shapley in zip(found.left_out, found.shapley, strict=True)
    ]
    how = (
        f"estimated by {found.draws} stratified draws, Monte-Carlo standard error {found.error:.5f}"
        if found.draws
        else "all coalitions"
    )
    caption = (
        f"In nats of logloss of the cross-fitted simplex blend, whose logloss is {found.full:.4f} with all members "
        f"and {found.prior:.4f} with none (the class prior); Shapley values ({how}) add up to the difference. Both "
        "depend on the other members."
    )
    return _by_member(comparison, "contribution of each member", columns, rows, found.members, caption)


def slices_table(comparison: Comparison, member: str | None = None) -> Table:
    """Slices of one member, the first by default; every member's are in JSON, CSV and the page."""
    place = comparison.names.index(member) if member else 0
    columns = [
        Column("rows", "rows"),
        Column("logloss", "logloss", 3),
        Column("accuracy", "acc", 3),
        Column("f1_overall", "F1 O", 1),
        Column("f1_gap", "F1 F-M", 1),
        Column("clear", "clear"),
    ]
    sections: dict[str, list[tuple[str, dict[str, Cell]]]] = {}
    for part in comparison.slices:
        gap = Interval(*part.scores["f1_gap"][place])
        scores = {key: _cell(part.scores[key][place, 0]) for key in ("logloss", "accuracy", "f1_overall")}
        cells: dict[str, Cell] = {
            "rows": part.rows,
            **scores,
            "f1_gap": gap,
            "clear": "*" if gap.low > 0 or gap.high < 0 else None,
        }
        sections.setdefault(part.dimension, []).append((f"  {part.value}", cells))
    caption = (
        "F1 F-M is the F1 of feminine less that of masculine rows; * marks intervals without 0, of which one in "
        "twenty is expected where nothing differs."
    )
    return Table(
        columns,
        [Section(dimension, rows) for dimension, rows in sections.items()],
        title=f"slices: {comparison.names[place]}",
        caption=caption,
    )


def balance_table(comparison: Comparison) -> Table:
    """F1 and bias, unweighted and reweighted by difficulty."""
    keys = ("bias", "f1_masculine", "f1_feminine")
    columns = [Column("bias", "bias", 3)]
    if comparison.balanced:
        columns += [replace(_metric_column(key), key=f"weighted {key}", group="weighted") for key in keys]
    rows: list[dict[str, Cell]] = []
    for name in comparison.names:
        rows.append({"bias": _interval(comparison.main, name, "bias")})
        if comparison.balanced:
            rows[-1] |= {f"weighted {key}": _interval(comparison.balanced, name, key) for key in keys}
    if comparison.weights is not None:
        used = comparison.weights[comparison.weights > 0]
        effective = used.sum() ** 2 / (used**2).sum()
        caption = (
            "Weighted: rows reweighted by difficulty, so that both genders have the same distribution of number of "
            "names and rank of the right one (Kocijan et al. 2020); effective sample size "
            f"{effective:,.0f} of {len(used):,} rows with an answer. Intervals take the weights as fixed."
        )
    else:
        caption = "No weights balance the difficulty of both genders; the first table says why."
    return _by_member(comparison, "bias", columns, rows, caption=caption)


def flips_table(comparison: Comparison) -> Table:
    """Share of predictions that counterfactuals flip."""
    flips = comparison.flips
    assert flips is not None
    columns = [Column(kind, f"{kind} ({count:,})", 3, "low") for kind, count in flips.rows.items()]
    rows: list[dict[str, Cell]] = [
        {kind: Interval(*values[place]) for kind, values in flips.shares.items()}
        for place in range(len(flips.members))
    ]
    swapped = "words and first names" if flips.names_swapped else "words (there is no list of first names)"
    caption = (
        f"Share of predictions that flip, of the rows in brackets: gender exchanges masculine and feminine {swapped}, "
        "order the roles of A and B, names puts common names in their place. Titles of pages stay as they were."
    )
    return _by_member(comparison, "counterfactual flips", columns, rows, flips.members, caption)


def label_errors_table(comparison: Comparison, count: int = 10) -> Table:
    """Rows with the lowest label quality."""
    found = comparison.label_errors
    assert found is not None
    columns = [Column("label", "label"), Column("quality", "quality", 4), Column("corrected", "corrected")]
    rows: list[tuple[str, dict[str, Cell]]] = []
    for row in np.argsort(found.quality, kind="stable")[:count]:
        example = comparison.rows[int(row)]
        changed = None if found.corrected is None else "yes" if found.corrected[row] else "no"
        label = None if example.label is None else example.label.name
        rows.append(
            (example.id, {"label": label, "quality": float(found.quality[row]), "corrected": changed})
        )
    caption = f"By the mean of all members' probabilities; confident learning flags {len(found.rows)} labels."
    if found.precision is not None and found.corrected is not None:
        caption += (
            f" Of the {RANKED} of lowest quality, published corrections change {100 * found.precision:.0f}%; of all "
            f"rows {100 * found.corrected.mean():.1f}%."
        )
    return Table(columns, [Section("likely label errors", rows)], caption=caption, name_title="row")


def _by_member(
    comparison: Comparison,
    title: str,
    columns: Sequence[Column],
    rows: Iterable[Mapping[str, Cell]],
    members: Sequence[str] = (),
    caption: str = "",
) -> Table:
    """A table with a row for each of ``members`` (all by default), numbered, since long names are cut."""
    numbered = [f"{comparison.names.index(name) + 1:2} {name}" for name in members or comparison.names]
    return Table(
        columns,
        [Section(title, list(zip(numbered, rows, strict=True)))],
        caption=caption,
        name_title="member",
    )


def _shortened(table: Table, most: int | None, by: str = "") -> Table:
    """The first rows of a table, or those with the largest cells of the column ``by``."""
    (section,) = table.sections
    if most is None or len(section.rows) <= most:
        return table
    rows, which = list(section.rows), "the best"
    if by:
        rows, which = (
            sorted(rows, key=lambda row: -float(point(row[1].get(by)) or 0)),
            f"those with the largest {by}",
        )
    note = f"{most} of {len(section.rows)} members: {which}; --csv, --json and --html have all."
    return replace(
        table,
        sections=[replace(section, rows=rows[:most])],
        caption=" ".join(part for part in (table.caption, note) if part),
    )


def _metric_column(name: str) -> Column:
    metric = METRICS[name]
    return Column(name, metric.title, metric.decimals, metric.better if metric.better != "one" else None)


def _cell(value: float | np.floating) -> float | None:
    return None if np.isnan(value) else float(value)


def _interval(scores: Bootstrap, name: str, metric: str) -> Interval | None:
    interval = scores.interval(name, metric)
    return None if np.isnan(interval.value) else interval


def _by(metric: str) -> str:
    """What a verdict adds where logloss does not decide it."""
    return "" if metric == "logloss" else f" by {METRICS[metric].title}"
