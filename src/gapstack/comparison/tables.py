"""A comparison as tables for a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gapstack.comparison.analysis import BlendContribution, Comparison
from gapstack.comparison.findings import findings
from gapstack.comparison.flips import Flips
from gapstack.display.render import Cell, Column, Section, Table, metric_column, point
from gapstack.display.report import Report
from gapstack.errors import counted
from gapstack.evaluation import METRICS, Interval, metrics_in
from gapstack.types import Floats

Values = Floats | Sequence[Cell]
"""Column of a table: numbers (m,), intervals (m, 3) or cells; NaN without a value."""

_VERDICT_HELP = "By logloss, or by F1 without probabilities; permutation of pages, 5%, Holm's correction"

LISTED = 40  # members in each table on a terminal, except for the table of scores, which has all


def tables(comparison: Comparison, listed: int | None = None) -> list[Table]:
    """All tables in the order of the report; those after the scores list at most ``listed`` members."""
    found = [scores_table(comparison)]
    if len(comparison.scores) > 1:
        found.append(_shortened(_label_sets(comparison), listed))
    if len(comparison.entries) > 1:
        found.append(_shortened(_wins(comparison), listed))
        found.append(_shortened(_similarity(comparison), listed, "agreement"))
    if comparison.contribution:
        found.append(_shortened(_contribution(comparison, comparison.contribution), listed, "left out"))
    found += [_slices(comparison), _shortened(_balance(comparison), listed)]
    if comparison.flips:
        found.append(_flips(comparison, comparison.flips))
    return found


def report(comparison: Comparison, *, full: bool = False) -> Report:
    """The scores, counterfactual flips if measured, and the verdict; all tables if ``full``."""
    if full:
        found = tables(comparison, LISTED)
    else:
        found = [scores_table(comparison, intervals=False)]
        found += [_flips(comparison, comparison.flips)] if comparison.flips else []
    return Report("comparison", found, [finding.text for finding in findings(comparison)])


def warnings(comparison: Comparison) -> tuple[list[str], dict[str, str]]:
    """All warnings, each once, and the numbers of each member's warnings ("1, 3")."""
    texts = list(dict.fromkeys(warning for entry in comparison.entries for warning in entry.warnings))
    numbers = {
        entry.name: ", ".join(str(1 + texts.index(warning)) for warning in dict.fromkeys(entry.warnings))
        for entry in comparison.entries
    }
    return texts, numbers


def scores_table(comparison: Comparison, *, intervals: bool = True) -> Table:
    """Scores under the main label set, those of the tests first, the verdict, and the numbers of warnings."""
    texts, numbers = warnings(comparison)
    rows = comparison.rows
    columns: dict[Column, Values] = {}
    first = metrics_in("ranking")[0]
    for metric in dict.fromkeys([*metrics_in("pairs"), *metrics_in("compare")]):
        ends = comparison.main.intervals[metric]
        columns[metric_column(metric)] = ends if intervals or metric == first else ends[:, 0]
        if metric == first and len(comparison.entries) > 1:
            verdicts = [
                verdict.outcome + (f" by {METRICS[verdict.metric].title}" if verdict.metric != first else "")
                for verdict in comparison.against_best()
            ]
            best = f"best by {METRICS[comparison.ranking].title}"
            columns[Column("verdict", "against the best", help=_VERDICT_HELP)] = [best, *verdicts]
    if texts:
        columns[Column("warnings", "see", help="Numbers of warnings")] = [
            numbers[name] or None for name in comparison.names
        ]
    notes = [
        f"Brackets hold 95% intervals, by {comparison.replicates:,} resamples of whole pages. Better and worse are by "
        "permutation of pages at 5%, Holm's correction for all pairs.",
        *(f"[{number}] {text}." for number, text in enumerate(texts, 1)),
        *(f"{note[:1].upper()}{note[1:]}." for note in comparison.notes),
    ]
    pages = counted(len(set(rows.groups)), "page")
    title = f"{rows.name}: {counted(len(rows), 'row')} of {pages}, {rows.label_set} labels"
    return _by_member(comparison, title, columns, caption=" ".join(notes))


def _label_sets(comparison: Comparison) -> Table:
    columns: dict[Column, Values] = {}
    for metric in metrics_in("ranking"):
        for name, scores in comparison.scores.items():
            key, group = f"{metric} {name}", METRICS[metric].title
            columns[metric_column(metric, key=key, title=name, group=group)] = scores.points(metric)
    return _by_member(comparison, "Every label set", columns)


def _wins(comparison: Comparison) -> Table:
    """Number of significant wins and losses of each member by each metric."""
    columns: dict[Column, Values] = {}
    for metric, pairs in comparison.pairs.items():
        for key, title, outcome in (("beats", "wins", 1), ("beaten", "losses", -1)):
            wins = (pairs.wins() == outcome).sum(axis=1).tolist()
            columns[Column(f"{metric} {key}", title, group=METRICS[metric].title)] = wins
    count = len(comparison.names) * (len(comparison.names) - 1) // 2
    caption = (
        f"At 5% by permutation of pages, Holm's correction for {count} pairs of each metric; other differences are "
        "not significant."
    )
    if count / 0.05 > comparison.replicates + 1:
        caption += f" {comparison.replicates:,} permutations are too few for {count} pairs to be significant."
    return _by_member(comparison, "Pairwise wins", columns, caption=caption)


def _similarity(comparison: Comparison) -> Table:
    """Mean similarity of each member to the others, and the most similar one."""
    names, similarity = comparison.names, comparison.similarity
    itself = np.eye(len(names), dtype=bool)
    nearest = np.where(itself, np.inf, similarity["disagreement"]).argmin(axis=1)
    agreement = 1 - similarity["disagreement"][np.arange(len(names)), nearest]
    means = {}
    for key, values in similarity.items():
        known = ~(itself | np.isnan(values))
        count = np.where(known.any(axis=1), known.sum(axis=1), np.nan)
        means[key] = np.where(known, values, 0).sum(axis=1) / count
    columns: dict[Column, Values] = {
        Column("correlation", "corr. of losses", 2): means["correlation"],
        Column("disagreement", "disagreement"): means["disagreement"],
        Column("double fault", "both wrong"): means["double_fault"],
        Column("nearest", "most similar"): [
            f"{names[near]} ({100 * share:.1f}%)" for near, share in zip(nearest, agreement, strict=True)
        ],
    }
    title = (
        "Similarity of systems: means over the others; share of rows with the same answer as the most similar"
    )
    # a shortened table is sorted by the hidden column of agreement
    table = _by_member(comparison, title, {**columns, Column("agreement", ""): agreement})
    return replace(table, columns=list(columns))


def _contribution(comparison: Comparison, blend: BlendContribution) -> Table:
    columns: dict[Column, Values] = {Column("left out", "leave-one-out", 4, "high"): blend.left_out}
    caption = (
        f"Rise of the logloss of the cross-fitted simplex blend without the system; the blend has {blend.full:.4f} "
        f"with all systems and {blend.prior:.4f} with none (the class prior). It depends on the other systems."
    )
    return _by_member(comparison, "Contribution of each system", columns, blend.members, caption)


def _slices(comparison: Comparison) -> Table:
    """Slices of the best member; JSON, CSV and the page have those of all members."""
    columns = [Column("rows", "rows"), *slice_columns()]
    sections: dict[str, list[tuple[str, dict[str, Cell]]]] = {}
    for part in comparison.slices:
        cells: dict[str, Cell] = {"rows": part.rows}
        for key, values in part.scores.items():
            cells[key] = Interval(*values[0]) if key.endswith("_gap") else float(values[0, 0])
        sections.setdefault(part.dimension, []).append((f"  {part.value}", cells))
    caption = "F-M: feminine minus masculine rows. Where nothing differs, one interval in twenty excludes 0."
    return Table(
        columns,
        [Section(dimension, rows) for dimension, rows in sections.items()],
        title=f"Slices: {comparison.names[0]}",
        caption=caption,
    )


def slice_columns() -> list[Column]:
    """The columns of :data:`~gapstack.evaluation.scores.SLICE_SCORES`."""
    gaps = [
        Column(
            f"{name}_gap",
            f"{METRICS[name].title.removesuffix(' O')} F-M",
            METRICS[name].decimals,
            help=f"{METRICS[name].title} on feminine minus that on masculine pronouns; 0 is even",
        )
        for name in metrics_in("gaps")
    ]
    return [*(metric_column(name) for name in metrics_in("slices")), *gaps]


def _balance(comparison: Comparison) -> Table:
    """F1 and bias, unweighted and reweighted by difficulty."""
    columns: dict[Column, Values] = {metric_column("bias"): comparison.main.intervals["bias"]}
    caption = "No weights balance the difficulty of both genders; the first table says why."
    if comparison.balanced and comparison.weights is not None:
        for key in ("bias", "f1_masculine", "f1_feminine"):
            column = metric_column(key, key=f"weighted {key}", group="weighted")
            columns[column] = comparison.balanced.intervals[key]
        used = comparison.weights[comparison.weights > 0]
        effective = used.sum() ** 2 / (used**2).sum()
        caption = (
            "Weighted: rows reweighted by difficulty, so that both genders have the same distribution of number of "
            "names and rank of the right one (Kocijan et al. 2020); effective sample size "
            f"{effective:,.0f} of {len(used):,} rows with an answer. Intervals take the weights as fixed."
        )
    return _by_member(comparison, "Bias, unweighted and reweighted by difficulty", columns, caption=caption)


def _flips(comparison: Comparison, flips: Flips) -> Table:
    columns: dict[Column, Values] = {
        Column(kind, f"{kind} ({count:,})", 3, "low"): flips.shares[kind]
        for kind, count in flips.rows.items()
    }
    caption = (
        "Share of predictions that flip, of the rows in brackets: gender exchanges masculine and feminine words and "
        "first names, order the roles of A and B, names puts common names in their place. Titles of pages stay "
        "unchanged."
    )
    return _by_member(comparison, "Counterfactual flips", columns, flips.members, caption)


def _by_member(
    comparison: Comparison,
    title: str,
    columns: Mapping[Column, Values],
    members: Sequence[str] = (),
    caption: str = "",
) -> Table:
    """A table with a row for each of ``members`` (by default all), numbered, since long names are truncated."""
    names = [f"{comparison.names.index(name) + 1:2} {name}" for name in members or comparison.names]
    rows = [
        (name, {column.key: _cell(values[place]) for column, values in columns.items()})
        for place, name in enumerate(names)
    ]
    return Table(list(columns), [Section("", rows)], title, caption, "system")


def _shortened(table: Table, most: int | None, by: str = "") -> Table:
    """The first rows of a table, or those with the largest cells of the column ``by``."""
    (section,) = table.sections
    if most is None or len(section.rows) <= most:
        return table
    rows = list(section.rows)
    if by:
        rows.sort(key=lambda row: -float(point(row[1].get(by)) or 0))
    which = f"those with the largest {by}" if by else "the best"
    note = f"{most} of {len(rows)} systems: {which}; --csv, --json and --html have all."
    caption = f"{table.caption} {note}".strip()
    return replace(table, sections=[replace(section, rows=rows[:most])], caption=caption)


def _cell(value: Cell | Floats) -> Cell:
    """An entry of :data:`Values` as a cell."""
    return Interval(*value.tolist()) if isinstance(value, np.ndarray) else value
