"""A comparison on a terminal: one table for each question."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gapstack.comparison.analysis import RANKED, Comparison
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.scoring import METRICS, Interval

SCORES = ("logloss", "f1_masculine", "f1_feminine", "f1_overall", "bias", "accuracy", "ece")

_SHORT = {"logloss": 3, "bias": 2, "accuracy": 3, "ece": 3}  # decimals of an interval's ends; F1s have 1


LISTED = 40
"""Members that a terminal's tables list, but for the scores, which are of all."""


def tables(made: Comparison, listed: int | None = None) -> list[Table]:
    """All tables, in the order in which they are printed; those after the scores list ``listed`` members at most."""
    found = [scores_table(made), _shortened(intervals_table(made), listed)]
    if len(made.scores) > 1:
        found.append(_shortened(label_sets_table(made), listed))
    if len(made.entries) > 1:
        found.append(_shortened(wins_table(made), listed))
        found.append(_shortened(likeness_table(made), listed, "agreement"))
    if made.added:
        found.append(_shortened(added_table(made), listed, "shapley"))
    found += [slices_table(made), _shortened(balance_table(made), listed)]
    if made.flips:
        found.append(flips_table(made))
    if made.suspects:
        found.append(suspects_table(made))
    return found


def warnings(made: Comparison) -> tuple[list[str], dict[str, str]]:
    """All warnings, each once, and by member the numbers of its own ("1, 3")."""
    texts = list(dict.fromkeys(warning for entry in made.entries for warning in entry.warnings))
    numbers = {
        entry.name: ", ".join(str(1 + texts.index(warning)) for warning in dict.fromkeys(entry.warnings))
        for entry in made.entries
    }
    return texts, numbers


def scores_table(made: Comparison) -> Table:
    """Scores under the main label set, with the numbers of warnings."""
    texts, numbers = warnings(made)
    columns = [_metric_column(metric) for metric in SCORES]
    if texts:
        columns.append(Column("warnings", "see"))
    rows: list[tuple[str, dict[str, Cell]]] = []
    for place, name in enumerate(made.names):
        cells: dict[str, Cell] = {metric: _cell(made.main.points[metric][place]) for metric in SCORES}
        rows.append((name, cells | {"warnings": numbers[name] or None}))
    notes = [f"[{number}] {text}." for number, text in enumerate(texts, 1)]
    notes += [f"{note[:1].upper()}{note[1:]}." for note in made.notes]
    return Table(
        columns,
        [Section(_heading(made), _numbered(made, rows))],
        caption=" ".join(notes),
        name_title="member",
    )


def intervals_table(made: Comparison) -> Table:
    """Their intervals."""
    columns = [Column(metric, METRICS[metric].title) for metric in SCORES]
    rows: list[tuple[str, dict[str, Cell]]] = [
        (name, {metric: _ends(made.main.interval(name, metric), metric) for metric in SCORES})
        for name in made.names
    ]
    title = f"95% intervals: {made.replicates:,} resamples of pages"
    return Table(columns, [Section(title, _numbered(made, rows))], name_title="member")


def label_sets_table(made: Comparison) -> Table:
    """Logloss and F1 under every label set, a column each."""
    columns = [
        Column(f"{metric} {name}", name, METRICS[metric].decimals, METRICS[metric].better)
        for metric in ("logloss", "f1_overall")
        for name in made.scores
    ]
    rows: list[tuple[str, dict[str, Cell]]] = [
        (
            name,
            {
                f"{metric} {labels}": _cell(scores.points[metric][place])
                for metric in ("logloss", "f1_overall")
                for labels, scores in made.scores.items()
            },
        )
        for place, name in enumerate(made.names)
    ]
    return Table(
        columns, [Section("logloss, then F1, on every label set", _numbered(made, rows))], name_title="member"
    )


def wins_table(made: Comparison) -> Table:
    """How many others each member beats and is beaten by, and whom, as a matrix in one column of signs."""
    columns: list[Column] = []
    for metric in made.pairs:
        columns += [Column(f"{metric} beats", f"{METRICS[metric].title} +"), Column(f"{metric} beaten", "-")]
    numbered = "".join(str(number % 10) for number in range(1, min(len(made.names), LISTED) + 1))
    columns.append(Column("matrix", numbered))
    wins = {metric: pairs.wins() for metric, pairs in made.pairs.items()}
    main = next(metric for metric in wins if not np.isnan(made.main.points[metric]).all())
    rows: list[tuple[str, dict[str, Cell]]] = []
    for place, name in enumerate(made.names):
        cells: dict[str, Cell] = {}
        for metric, won in wins.items():
            cells[f"{metric} beats"] = int((won[place] > 0).sum())
            cells[f"{metric} beaten"] = int((won[place] < 0).sum())
        signs = ["-", "=", "+"]
        cells["matrix"] = "".join(
            "\\" if other == place else signs[value + 1]
            for other, value in enumerate(wins[main][place, :LISTED])
        )
        rows.append((name, cells))
    pairs = len(made.names) * (len(made.names) - 1) // 2
    caption = (
        f"+ beats and - is beaten at 5% by permutation of pages, Holm's correction for {pairs} pairs of each metric; "
        f"= cannot be told apart. The matrix is by {METRICS[main].title}: the row's member against the column's"
        f"{f', the best {LISTED} of them' if len(made.names) > LISTED else ''}."
    )
    if pairs / 0.05 > made.replicates + 1:
        caption += f" {made.replicates:,} permutations are too few for {pairs} pairs: none can be told apart."
    return Table(
        columns, [Section("who beats whom", _numbered(made, rows))], caption=caption, name_title="member"
    )


def likeness_table(made: Comparison) -> Table:
    """Each member's likeness to the others, and whom it is most like."""
    columns = [
        Column("correlation", "corr. of losses", 2),
        Column("disagreement", "disagrees", 3),
        Column("double fault", "wrong together", 3),
        Column("nearest", "most like"),
    ]
    found, count = made.likeness, len(made.names)
    others = ~np.eye(count, dtype=bool)
    rows: list[tuple[str, dict[str, Cell]]] = []
    for place, name in enumerate(made.names):
        rest = others[place]
        near = int(np.argmin(np.where(rest, found.disagreement[place], np.inf)))
        known = found.correlation[place][rest]
        cells: dict[str, Cell] = {
            "correlation": None if np.isnan(known).all() else float(np.nanmean(known)),
            "disagreement": float(found.disagreement[place][rest].mean()),
            "double fault": float(found.double_fault[place][rest].mean()),
            "agreement": 1 - float(found.disagreement[place, near]),
            "nearest": f"{made.names[near]} ({100 * (1 - found.disagreement[place, near]):.1f}%)",
        }
        rows.append((name, cells))
    title = (
        "how alike members are: means over the others; share of rows on which the nearest answers the same"
    )
    return Table(columns, [Section(title, _numbered(made, rows))], name_title="member")


def added_table(made: Comparison) -> Table:
    """Leave-one-out and Shapley values."""
    found = made.added
    assert found is not None
    columns = [
        Column("left out", "lost without it", 4),
        Column("left out interval", "95%"),
        Column("shapley", "Shapley value", 4),
        Column("shapley interval", "95%"),
    ]
    rows: list[tuple[str, dict[str, Cell]]] = []
    for place, name in enumerate(found.members):
        out, share = (Interval(*each[place]) for each in (found.left_out, found.shapley))
        cells: dict[str, Cell] = {
            "left out": out.value,
            "left out interval": _range(out, 4),
            "shapley": share.value,
            "shapley interval": _range(share, 4),
        }
        rows.append((name, cells))
    how = (
        f"estimated by {found.draws} stratified draws, Monte-Carlo standard error {found.error:.5f}"
        if found.draws
        else "all coalitions"
    )
    caption = (
        f"In nats of logloss of the cross-fitted simplex blend: all members together score {found.full:.4f}, the "
        f"class prior {found.prior:.4f}; Shapley values ({how}) add up to the difference. Both depend on who else is "
        "compared."
    )
    return Table(
        columns,
        [Section("what each member adds to the others", _numbered(made, rows))],
        caption=caption,
        name_title="member",
    )


def slices_table(made: Comparison, member: str | None = None) -> Table:
    """Slices of one member, the first by default; every member's are in JSON, CSV and the page."""
    place = made.names.index(member) if member else 0
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
    for part in made.slices:
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
        title=f"slices: {made.names[place]}",
        caption=caption,
    )


def balance_table(made: Comparison) -> Table:
    """F1 and bias as they are, and with the genders made alike."""
    columns = [
        Column("bias", "bias", 3),
        Column("bias interval", "95%"),
        Column("weighted bias", "weighted", 3),
        Column("weighted bias interval", "95%"),
        Column("weighted f1_masculine", "F1 M", 1),
        Column("weighted f1_feminine", "F1 F", 1),
    ]
    rows: list[tuple[str, dict[str, Cell]]] = []
    for place, name in enumerate(made.names):
        plain = made.main.interval(name, "bias")
        cells: dict[str, Cell] = {"bias": _cell(plain.value), "bias interval": _range(plain, 2)}
        if made.balanced:
            weighted = made.balanced.interval(name, "bias")
            cells |= {"weighted bias": _cell(weighted.value), "weighted bias interval": _range(weighted, 2)}
            for metric in ("f1_masculine", "f1_feminine"):
                cells[f"weighted {metric}"] = _cell(made.balanced.points[metric][place])
        rows.append((name, cells))
    if made.weights is not None:
        used = made.weights[made.weights > 0]
        worth = used.sum() ** 2 / (used**2).sum()
        caption = (
            "Weighted: rows of both genders alike in number of names and in how near the right one is (Kocijan et "
            f"al. 2020), worth {worth:,.0f} of {len(used):,} rows with an answer; the intervals take the weights as "
            "given."
        )
    else:
        caption = "The genders could not be made alike; the first table says why."
    return Table(columns, [Section("bias", _numbered(made, rows))], caption=caption, name_title="member")


def flips_table(made: Comparison) -> Table:
    """How often counterfactuals change answers."""
    flips = made.flips
    assert flips is not None
    columns: list[Column] = []
    for kind, rows in flips.rows.items():
        columns += [Column(kind, f"{kind} ({rows:,})", 3, "low"), Column(f"{kind} interval", "95%")]
    lines: list[tuple[str, dict[str, Cell]]] = []
    for place, name in enumerate(flips.members):
        cells: dict[str, Cell] = {}
        for kind, values in flips.shares.items():
            share = Interval(*values[place])
            cells |= {kind: share.value, f"{kind} interval": _range(share, 3)}
        lines.append((name, cells))
    swapped = "words and first names" if flips.names_swapped else "words (no list of first names is at hand)"
    caption = (
        f"Share of answers that change, of the rows in brackets: gender exchanges masculine and feminine {swapped}, "
        "order the roles of A and B, names puts common names in their place. Titles of pages stay as they were."
    )
    return Table(
        columns,
        [Section("counterfactual flips", _numbered(made, lines))],
        caption=caption,
        name_title="member",
    )


def suspects_table(made: Comparison, count: int = 10) -> Table:
    """Rows whose labels are trusted least."""
    found = made.suspects
    assert found is not None
    columns = [Column("label", "label"), Column("quality", "trust", 4), Column("corrected", "corrected")]
    rows: list[tuple[str, dict[str, Cell]]] = []
    for row in np.argsort(found.quality, kind="stable")[:count]:
        example = made.rows[int(row)]
        changed = None if found.corrected is None else "yes" if found.corrected[row] else "no"
        label = None if example.label is None else example.label.name
        rows.append(
            (example.id, {"label": label, "quality": float(found.quality[row]), "corrected": changed})
        )
    caption = f"By the mean of all members' probabilities; confident learning finds {len(found.found)} labels suspect."
    if found.precision is not None and found.corrected is not None:
        caption += (
            f" Of the {RANKED} trusted least, published corrections change {100 * found.precision:.0f}%; of all rows "
            f"{100 * found.corrected.mean():.1f}%."
        )
    return Table(columns, [Section("likely label errors", rows)], caption=caption, name_title="row")


def _shortened(table: Table, most: int | None, by: str = "") -> Table:
    """The first rows of a table, or those with the largest cells of the column ``by``, and how many more there are."""
    (section,) = table.sections
    if most is None or len(section.rows) <= most:
        return table
    rows, which = list(section.rows), "the best"
    if by:
        largest = sorted(rows, key=lambda row: -float(row[1].get(by) or 0))[:most]
        rows, which = largest, f"those with the largest {by}"
    note = f"{most} of {len(section.rows)} members: {which}; --csv, --json and --html have all."
    return replace(
        table,
        sections=[replace(section, rows=rows[:most])],
        caption=" ".join(part for part in (table.caption, note) if part),
    )


def _numbered(made: Comparison, rows: list[tuple[str, dict[str, Cell]]]) -> list[tuple[str, dict[str, Cell]]]:
    """Names with their places, which tell long names apart where they are cut."""
    return [(f"{made.names.index(name) + 1:2} {name}", cells) for name, cells in rows]


def _heading(made: Comparison) -> str:
    rows = made.rows
    return f"{rows.name}: {len(rows):,} rows of {len(set(rows.groups)):,} pages, {rows.label_set} labels"


def _metric_column(name: str) -> Column:
    metric = METRICS[name]
    return Column(name, metric.title, metric.decimals, metric.better if metric.better != "one" else None)


def _cell(value: float | np.floating) -> float | None:
    return None if np.isnan(value) else float(value)


def _ends(interval: Interval, metric: str) -> str | None:
    return _range(interval, _SHORT.get(metric, 1))


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
