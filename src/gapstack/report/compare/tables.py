"""A comparison as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gapstack.comparison.analysis import RANKED
from gapstack.comparison.measurements import Comparison
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.scoring import METRICS, Interval

SCORES = ("logloss", "f1_masculine", "f1_feminine", "f1_overall", "bias", "accuracy", "ece")

_SHORT = {"logloss": 3, "bias": 2, "accuracy": 3, "ece": 3}  # decimals of an interval's ends; F1s have 1


LISTED = 40
"""Members in each table on a terminal, but for the scores, which are of all."""


def tables(comparison: Comparison, listed: int | None = None) -> list[Table]:
    """All tables in the order of the report; those after the scores list ``listed`` members at most."""
    found = [scores_table(comparison), _shortened(intervals_table(comparison), listed)]
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
    """Scores under the main label set, with the numbers of warnings."""
    texts, numbers = warnings(comparison)
    columns = [_metric_column(metric) for metric in SCORES]
    if texts:
        columns.append(Column("warnings", "see"))
    rows = comparison.rows
    heading = f"{rows.name}: {len(rows):,} rows of {len(set(rows.groups)):,} pages, {rows.label_set} labels"
    cells: list[dict[str, Cell]] = [
        {
            **{metric: _cell(comparison.main.points[metric][place]) for metric in SCORES},
            "warnings": numbers[name] or None,
        }
        for place, name in enumerate(comparison.names)
    ]
    notes = [f"[{number}] {text}." for number, text in enumerate(texts, 1)]
    notes += [f"{note[:1].upper()}{note[1:]}." for note in comparison.notes]
    return _by_member(comparison, heading, columns, cells, caption=" ".join(notes))


def intervals_table(comparison: Comparison) -> Table:
    """Intervals of the scores."""
    return _by_member(
        comparison,
        f"95% intervals: {comparison.replicates:,} resamples of pages",
        [Column(metric, METRICS[metric].title) for metric in SCORES],
        [
            {
                metric: _range(comparison.main.interval(name, metric), _SHORT.get(metric, 1))
                for metric in SCORES
            }
            for name in comparison.names
        ],
    )


def label_sets_table(comparison: Comparison) -> Table:
    """Logloss and F1 under every label set, a column each."""
    keys = {
        f"{metric} {name}": (metric, name)
        for metric in ("logloss", "f1_overall")
        for name in comparison.scores
    }
    return _by_member(
        comparison,
        "logloss, then F1, on every label set",
        [
            Column(key, name, METRICS[metric].decimals, METRICS[metric].better)
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
    """Number of significant wins and losses of each member, and all of them as a matrix in one column of signs."""
    count = len(comparison.names)
    columns: list[Column] = []
    for metric in comparison.pairs:
        columns += [Column(f"{metric} beats", f"{METRICS[metric].title} +"), Column(f"{metric} beaten", "-")]
    columns.append(Column("matrix", "".join(str(n % 10) for n in range(1, min(count, LISTED) + 1))))
    wins = {metric: pairs.wins() for metric, pairs in comparison.pairs.items()}
    main = next(metric for metric in wins if not np.isnan(comparison.main.points[metric]).all())
    rows: list[dict[str, Cell]] = []
    for place in range(count):
        cells: dict[str, Cell] = {}
        for metric, won in wins.items():
            cells[f"{metric} beats"] = int((won[place] > 0).sum())
            cells[f"{metric} beaten"] = int((won[place] < 0).sum())
        cells["matrix"] = "".join(
            "\\" if other == place else "-=+"[value + 1]
            for other, value in enumerate(wins[main][place, :LISTED])
        )
        rows.append(cells)
    pairs = count * (count - 1) // 2
    caption = (
        f"+ wins and - losses at 5% by permutation of pages, Holm's correction for {pairs} pairs of each metric; = no "
        f"significant difference. The matrix is by {METRICS[main].title}: the row's member against the column's"
        f"{f', the best {LISTED} of them' if count > LISTED else ''}."
    )
    if pairs / 0.05 > comparison.replicates + 1:
        caption += f" {comparison.replicates:,} permutations are too few for {pairs} pairs to be significant."
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
        Column("left out", "leave-one-out", 4),
        Column("left out interval", "95%"),
        Column("shapley", "Shapley value", 4),
        Column("shapley interval", "95%"),
    ]
    rows: list[dict[str, Cell]] = []
    for values in zip(found.left_out, found.shapley, strict=True):
        left_out, shapley = (Interval(*each) for each in values)
        rows.append(
            {
                "left out": left_out.value,
                "left out interval": _range(left_out, 4),
                "shapley": shapley.value,
                "shapley interval": _range(shapley, 4),
            }
        )
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
        Column("f1_gap interval", "95%"),
        Column("clear", "clear"),
    ]
    sections: dict[str, list[tuple[str, dict[str, Cell]]]] = {}
    for part in comparison.slices:
        gap = Interval(*part.scores["f1_gap"][place])
        scores = {key: _cell(part.scores[key][place, 0]) for key in ("logloss", "accuracy", "f1_overall")}
        cells: dict[str, Cell] = {
            "rows": part.rows,
            **scores,
            "f1_gap": _cell(gap.value),
            "f1_gap interval": _range(gap, 1),
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
    columns = [
        Column("bias", "bias", 3),
        Column("bias interval", "95%"),
        Column("weighted bias", "weighted", 3),
        Column("weighted bias interval", "95%"),
        Column("weighted f1_masculine", "F1 M", 1),
        Column("weighted f1_feminine", "F1 F", 1),
    ]
    rows: list[dict[str, Cell]] = []
    for place, name in enumerate(comparison.names):
        plain = comparison.main.interval(name, "bias")
        cells: dict[str, Cell] = {"bias": _cell(plain.value), "bias interval": _range(plain, 2)}
        if comparison.balanced:
            weighted = comparison.balanced.interval(name, "bias")
            cells |= {"weighted bias": _cell(weighted.value), "weighted bias interval": _range(weighted, 2)}
            for metric in ("f1_masculine", "f1_feminine"):
                cells[f"weighted {metric}"] = _cell(comparison.balanced.points[metric][place])
        rows.append(cells)
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
    columns: list[Column] = []
    for kind, count in flips.rows.items():
        columns += [Column(kind, f"{kind} ({count:,})", 3, "low"), Column(f"{kind} interval", "95%")]
    rows: list[dict[str, Cell]] = []
    for place in range(len(flips.members)):
        cells: dict[str, Cell] = {}
        for kind, values in flips.shares.items():
            share = Interval(*values[place])
            cells |= {kind: share.value, f"{kind} interval": _range(share, 3)}
        rows.append(cells)
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
            sorted(rows, key=lambda row: -float(row[1].get(by) or 0)),
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


def _range(interval: Interval, decimals: int) -> str | None:
    """The ends alone, short: ".30-.38"; a negative end needs "to"."""
    if np.isnan(interval.low):
        return None
    low, high = (_short(end, decimals) for end in interval[1:])
    return f"{low} to {high}" if interval.low < 0 else f"{low}-{high}"


def _short(value: float, decimals: int) -> str:
    """A number without the zero before its point, where that leaves two digits or more."""
    shown = f"{value:.{decimals}f}"
    return shown.replace("0.", ".", 1) if decimals > 1 and shown.lstrip("-").startswith("0.") else shown
