"""The comparison as one self-contained web page: the answer first, then plots, slices, examples and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np

from gapstack.comparison.analysis import RANKED, BlendContribution, Comparison, LabelErrors
from gapstack.comparison.entries import ComparedEntry
from gapstack.comparison.plots import plots, rounded
from gapstack.comparison.strata import STRATA
from gapstack.comparison.tables import tables, warnings
from gapstack.display.render import Column, Section, Table, metric_column, point
from gapstack.display.web import render, utf16
from gapstack.evaluation import METRICS, Interval, answers, metrics_in
from gapstack.files import write_text
from gapstack.types import Floats, Ints

_SCALE = 1000  # probabilities are whole thousandths
_NAMED = 3  # members named in a sentence; of more their number is given


def write_page(comparison: Comparison, path: Path) -> None:
    """Write the page to ``path``."""
    write_text(path, page(comparison))


def page(comparison: Comparison) -> str:
    """The page as HTML."""
    scores, *others = tables(comparison)
    label_errors = [table for table in others if table.name_title == "row"]
    linked = [name for table in label_errors for section in table.sections for name, _ in section.rows]
    parts = ["Overview", "Differences", "Plots", "Slices", "Examples", "Tables"]
    if len(comparison.entries) < 2:
        parts.remove("Differences")
    return render(
        "gapstack.comparison",
        page_data(comparison),
        ["page.js", "plots.js"],
        title=f"{comparison.rows.name}: {len(comparison.entries)} members compared",
        parts=[(part.lower(), part) for part in parts],
        comparison=comparison,
        pages=len(set(comparison.rows.groups)),
        warnings=warnings(comparison)[0],
        findings=findings(comparison),
        members={f"{place:2} {name}": name for place, name in enumerate(comparison.names, 1)},
        leaderboard=_leaderboard(scores),
        tables=[replace(scores, caption=""), *(table for table in others if table.name_title == "member")],
        label_errors=label_errors,
        links={name: f"#examples?{urlencode({'text': name})}" for name in linked},
    )


def _leaderboard(scores: Table) -> Table:
    """The scores that decide, their intervals in the table of all scores; the best cells are not emphasised."""
    keys = ("verdict", "warnings", *metrics_in("leaderboard"))
    columns = [replace(column, better=None) for column in scores.columns if column.key in keys]
    (section,) = scores.sections
    plain = [
        (name, {key: cell if key == "logloss" else point(cell) for key, cell in cells.items()})
        for name, cells in section.rows
    ]
    return replace(scores, columns=columns, sections=[Section("", plain)], title="Leaderboard", caption="")


def page_data(comparison: Comparison) -> dict[str, Any]:
    """Data of the page's script: members, dimensions, slices, plots and every example.

    An example is ``[id, url, text, pronoun, a, b, labels, values, answers, trust]``: spans in UTF-16 units; one label
    for each label set; the place of its value in each dimension; for each member thousandths of A and of B, or its two
    decisions, and its answer (-1 for none); and the quality of the label in thousandths.
    """
    dimensions = {name: values for name, values in comparison.dimensions.items() if name != "rows"}
    listed = {
        name: [part.value for part in comparison.slices if part.dimension == name] for name in dimensions
    }
    places = [
        [listed[name].index(value) if value else -1 for value in values.tolist()]
        for name, values in dimensions.items()
    ]
    labels = np.array(list(comparison.labels.values())).T.tolist()
    choices = np.stack([_answers(entry) for entry in comparison.entries], axis=1).tolist()
    errors = comparison.label_errors
    trust = _thousandths(errors.quality).tolist() if errors else [None] * len(comparison.rows)
    examples = []
    for example, *rest in zip(
        comparison.rows, labels, zip(*places, strict=True), choices, trust, strict=True
    ):
        spans = (utf16(example.text, span) for span in (example.pronoun, example.a, example.b))
        examples.append([example.id, example.url or "", example.text, *spans, *rest])
    return {
        "members": [
            {"name": e.name, "soft": e.answers.probabilities is not None} for e in comparison.entries
        ],
        "labelSets": list(comparison.scores),
        "dimensions": [
            {"name": name, "title": STRATA[name].title if name in STRATA else name, "values": listed[name]}
            for name in dimensions
        ],
        "slices": [
            {
                "dimension": part.dimension,
                "value": part.value,
                "rows": part.rows,
                "scores": {key: rounded(values) for key, values in part.scores.items()},
            }
            for part in comparison.slices
        ],
        "plots": plots(comparison),
        "examples": examples,
    }


def _thousandths(values: Floats) -> Ints:
    return np.round(_SCALE * values).astype(np.int64)


def _answers(entry: ComparedEntry) -> Ints:
    """Thousandths of A and of B, or the two decisions, and the answer, (n, 3)."""
    found = entry.answers
    if found.probabilities is not None:
        return np.column_stack([_thousandths(found.probabilities[:, :2]), answers(found.probabilities)])
    given = found.decided & found.answered
    # neither both names nor silence is an answer
    valid = found.answered.all(axis=1) & ~given.all(axis=1)
    choice = np.where(valid, np.select([given[:, 0], given[:, 1]], [0, 1], default=2), -1)
    return np.column_stack([given.astype(np.int64), choice])


class ComparisonFinding(NamedTuple):
    """A claim with its test as a sentence, and the id of the page's element that shows more."""

    text: str
    part: str


def findings(comparison: Comparison) -> list[ComparisonFinding]:
    """Who is best, the genders, what is worth keeping, the labels."""
    result = [_best(comparison)]
    if not np.isnan(comparison.main.interval(comparison.names[0], "bias")).any():
        result.append(_genders(comparison))
    if comparison.contribution:
        result.append(_worth(comparison.contribution))
    if comparison.label_errors and comparison.label_errors.corrected is not None:
        result.append(_labels(comparison.label_errors))
    return result


def _best(comparison: Comparison) -> ComparisonFinding:
    best = comparison.names[0]
    metric = "f1_overall" if np.isnan(comparison.main.points("logloss")[0]) else "logloss"
    score = metric_column(metric).show(comparison.main.interval(best, metric))
    verdicts = dict(zip(comparison.names[1:], comparison.against_best(), strict=True))
    if not verdicts:
        return ComparisonFinding(f"{best} has {METRICS[metric].title} {score}, 95% interval.", "plot-scores")
    beaten = [name for name, verdict in verdicts.items() if verdict.outcome == "worse"]
    level = {name: verdict for name, verdict in verdicts.items() if name not in beaten}
    text = (
        f"{best} is the best, {METRICS[metric].title} {score}: it beats {_count(beaten, len(verdicts))} "
        "by permutation of pages (5%, Holm's correction for all pairs)."
    )
    if level:
        name, nearest = min(level.items(), key=lambda item: abs(item[1].difference.value))
        difference = metric_column(nearest.metric).show(nearest.difference)
        text += (
            f" Its lead over {_count(list(level), len(verdicts))} is not significant; {name} is nearest, at a "
            f"difference of {difference}."
        )
    return ComparisonFinding(text, "plot-forest")


def _genders(comparison: Comparison) -> ComparisonFinding:
    best, names = comparison.names[0], comparison.names
    intervals = {name: comparison.main.interval(name, "bias") for name in names}
    low = [name for name, interval in intervals.items() if interval.high < 1]
    high = [name for name, interval in intervals.items() if interval.low > 1]
    clear = best in low + high
    verdict = "excludes 1, a significant difference" if clear else "includes 1: no significant difference"
    f1 = [f"{comparison.main.points(metric)[0]:.1f}" for metric in ("f1_masculine", "f1_feminine")]
    text = (
        f"{best} has F1 {f1[0]} on masculine and {f1[1]} on feminine pronouns, bias "
        f"{metric_column('bias').show(intervals[best])}: its 95% interval {verdict}."
    )
    if len(names) > 1:
        text += f" The interval lies below 1, against feminine pronouns, for {_count(low, len(names))}"
        text += f", above 1 for {_count(high, len(names))}." if high else "."
    return ComparisonFinding(text, "plot-gaps")


def _worth(found: BlendContribution) -> ComparisonFinding:
    most = int(np.argmax(found.shapley[:, 0]))
    needed = [name for name, (_, low, _) in zip(found.members, found.left_out, strict=True) if low > 0]
    shapley = Column("", "", 4).show(Interval(*found.shapley[most]))
    text = (
        f"A blend of all has logloss {found.full:.4f}. {found.members[most]} contributes most to it, {shapley} nats by "
        f"Shapley value. Leaving one out raises its logloss, by the 95% interval, in the case of "
        f"{_count(needed, len(found.members))}."
    )
    return ComparisonFinding(text, "plot-added")


def _labels(found: LabelErrors) -> ComparisonFinding:
    assert found.corrected is not None
    assert found.p is not None
    chance = "p<0.001" if found.p < 0.001 else f"p={found.p:.3f}"
    text = (
        f"Confident learning flags {len(found.rows):,} labels. Published corrections change {found.precision:.0%} of "
        f"the {RANKED} labels of lowest quality, where {found.corrected.mean():.1%} would be chance "
        f"({chance}, hypergeometric)."
    )
    return ComparisonFinding(text, "label-errors")


def _count(names: Sequence[str], total: int) -> str:
    """Few members by name, more by number."""
    return ", ".join(names) if 0 < len(names) <= _NAMED else f"{len(names) or 'none'} of {total}"
