"""The comparison as one self-contained web page: findings first, then plots, slices, examples and tables.

A plot is a dict with ``id``, ``part`` of the page, ``title``, ``caption``, ``kind`` and ``views``, of which the reader
chooses one: in the form that ``follows`` names, or in a list of its own. Members are given by index.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gapstack.comparison.analysis import Comparison
from gapstack.comparison.entries import ComparedEntry
from gapstack.comparison.findings import findings
from gapstack.comparison.strata import STRATA
from gapstack.comparison.tables import scores_table, slice_columns, tables, warnings
from gapstack.display.render import p_value
from gapstack.display.web import render, utf16
from gapstack.errors import counted
from gapstack.evaluation import METRICS, answers
from gapstack.evaluation.diagnostics import reliability, risk_coverage
from gapstack.types import Floats, Ints

_SCALE = 1000  # probabilities are whole thousandths
_LEADERBOARD = (
    "Bold: the best value of a column. Better and worse than the best: significant at 5%, by permutation of pages, "
    "with Holm's correction for all pairs."
)
_SLICE_COLUMNS = slice_columns()


def page(comparison: Comparison) -> str:
    """The page of a comparison, as HTML."""
    parts = ["Overview", "Differences", "Plots", "Slices", "Examples", "Tables"]
    if len(comparison.entries) < 2:
        parts.remove("Differences")
    return render(
        "gapstack.comparison",
        page_data(comparison),
        ["page.js", "plots.js"],
        title=f"{comparison.rows.name}: {counted(len(comparison.entries), 'system')} compared",
        parts=[(part.lower(), part) for part in parts],
        comparison=comparison,
        rows=counted(len(comparison.rows), "row"),
        pages=counted(len(set(comparison.rows.groups)), "page"),
        warnings=warnings(comparison)[0],
        findings=findings(comparison),
        members={f"{place:2} {name}": name for place, name in enumerate(comparison.names, 1)},
        leaderboard=replace(
            scores_table(comparison, intervals=False), title="Leaderboard", caption=_LEADERBOARD
        ),
        slice_columns=_SLICE_COLUMNS,
        tables=[table for table in tables(comparison) if table.name_title == "system"],
    )


def page_data(comparison: Comparison) -> dict[str, Any]:
    """Data of the page's script: members, dimensions, slices, plots and every example.

    An example is ``[id, url, text, pronoun, a, b, labels, values, answers, trust]``: spans in UTF-16 units; a label for
    each label set; the index of its value in each dimension; for each member the probabilities of A and B in
    thousandths, or its two decisions, and its answer (-1 for none); and the quality of the label in thousandths.
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
    quality = comparison.quality
    trust = [None] * len(comparison.rows) if quality is None else _thousandths(quality).tolist()
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
        "sliceColumns": [
            {"key": c.key, "title": c.title, "decimals": c.decimals, "help": c.help} for c in _SLICE_COLUMNS
        ],
        "plots": plots(comparison),
        "examples": examples,
    }


def _thousandths(values: Floats) -> Ints:
    return np.round(_SCALE * values).astype(np.int64)


def _answers(entry: ComparedEntry) -> Ints:
    """Probabilities of A and B in thousandths, or the two decisions, and the answer, (n, 3)."""
    predicted = entry.answers
    if predicted.probabilities is not None:
        soft = predicted.probabilities
        return np.column_stack([_thousandths(soft[:, :2]), answers(soft)])
    given = predicted.decided & predicted.answered
    # TRUE for both names, or a missing decision, is not an answer
    valid = predicted.answered.all(axis=1) & ~given.all(axis=1)
    choice = np.where(valid, np.select([given[:, 0], given[:, 1]], [0, 1], default=2), -1)
    return np.column_stack([given.astype(np.int64), choice])


Plot = dict[str, Any]
View = dict[str, Any]

_DIGITS = 4  # significant digits, more than a plot shows


def plots(comparison: Comparison) -> list[Plot]:
    """All plots that have at least one view."""
    drawn = [*_member_plots(comparison), _slices(comparison), *_curve_plots(comparison)]
    if len(comparison.entries) > 1:
        drawn += [_forest(comparison), _wins(comparison), _similarity(comparison)]
    return [plot for plot in drawn if plot["views"]]


def rounded(values: Floats) -> Any:
    """Array as nested lists for JSON, rounded to four significant digits; None for missing values."""
    if values.ndim:
        return [rounded(each) for each in values]
    return None if np.isnan(values) else float(f"{values:.{_DIGITS}g}")


def _plot(name: str, title: str, caption: str, views: list[View], part: str = "plots", **more: Any) -> Plot:
    kind = {"kind": "dots", **more}
    return {"id": name, "part": part, "title": title, "caption": caption, "views": views, **kind}


def _dots(title: str, axis: str, rows: Sequence[str], series: Mapping[str, Floats], **more: Any) -> View:
    """A view with a line for each of ``rows``; a series is (rows, 3) values, lows and highs; ``axis`` titles them."""
    shown = [{"name": name, "ends": rounded(ends)} for name, ends in series.items()]
    return {"title": title, "axis": axis, "rows": list(rows), "series": shown, **more}


def _by_member(
    comparison: Comparison,
    title: str,
    axis: str,
    names: Sequence[str],
    series: Mapping[str, Floats],
    **more: Any,
) -> View:
    """Dots with a line for each of these members, numbered, since long names are truncated."""
    places = [comparison.names.index(name) for name in names]
    rows = [f"{place + 1} {name}" for place, name in zip(places, names, strict=True)]
    return _dots(title, axis, rows, series, members=places, **more)


def _direction(metric: str) -> str:
    better = METRICS[metric].better
    return f" ({'lower' if better == 'low' else 'higher'} is better)" if better else ""


def _member_plots(comparison: Comparison) -> Iterator[Plot]:
    """Scores, contributions, bias and flips."""
    names, added, flips = comparison.names, comparison.contribution, comparison.flips
    views = []
    for metric in METRICS:
        if not np.isnan(comparison.main.points(metric)).all():
            series = {labels: scores.intervals[metric] for labels, scores in comparison.scores.items()}
            title = METRICS[metric].title
            views.append(_by_member(comparison, title, title + _direction(metric), names, series))
    yield _plot("scores", "Scores", "Scores with their 95% intervals, by label set.", views)
    if added:
        view = _by_member(
            comparison, "leave-one-out", "nats of logloss", added.members, {"leave-one-out": added.left_out}
        )
        caption = "Rise of the logloss of a weighted average of all systems without this one."
        yield _plot("added", "Contributions", caption, [view], line=0)
    if comparison.balanced:
        series = {
            "unweighted": comparison.main.intervals["bias"],
            "reweighted by difficulty": comparison.balanced.intervals["bias"],
        }
        axis = "F1 feminine divided by F1 masculine (1 is even)"
        caption = "Reweighted: both genders have the same mix of number of names and rank of the right one."
        yield _plot("bias", "Bias", caption, [_by_member(comparison, "bias", axis, names, series)], line=1)
    if flips:
        views = [
            _by_member(comparison, kind, "share of answers that change", flips.members, {kind: ends})
            for kind, ends in flips.shares.items()
        ]
        caption = (
            "How often an answer changes when a change of the text should not matter: masculine and feminine words "
            "exchanged (gender), A and B exchanged (order), other names (names)."
        )
        yield _plot("flips", "Counterfactual flips", caption, views, line=0)


def _slices(comparison: Comparison) -> Plot:
    parts = [part for part in comparison.slices if not np.isnan(part.scores["f1_overall_gap"][:, 0]).all()]
    names = [f"{part.dimension}: {part.value} ({part.rows:,})" for part in parts]
    axis = "F1 on feminine minus F1 on masculine pronouns"
    views = [
        _dots(
            member,
            axis,
            names,
            {"F1 F-M": np.array([part.scores["f1_overall_gap"][place] for part in parts])},
        )
        for place, member in enumerate(comparison.names)
        if parts
    ]
    caption = "On every slice that has both genders, with the number of its rows."
    return _plot("gaps", "F1 gap between the genders", caption, views, "slices", line=0, follows="slice-form")


def _forest(comparison: Comparison) -> Plot:
    best, *others = comparison.names
    views = []
    for metric, pairs in comparison.pairs.items():
        ends = pairs.difference[1:, 0]
        if not np.isnan(ends).all():
            notes = [f"{p_value(p)} (Holm)" for p in pairs.p_holm[1:, 0].tolist()]
            series = {"difference": ends}
            title = METRICS[metric].title
            axis = f"{title} minus that of 1{_direction(metric)}"
            views.append(_by_member(comparison, title, axis, others, series, notes=notes))
    caption = (
        f"Each system's score minus that of 1, {best}, with its 95% interval; p by permutation of pages."
    )
    return _plot("forest", "Differences to the best", caption, views, "differences", line=0)


def _wins(comparison: Comparison) -> Plot:
    views = []
    for metric, pairs in comparison.pairs.items():
        if np.isnan(pairs.p_holm).all():
            continue
        better = -1 if METRICS[metric].better == "low" else 1
        signs = np.array(["-", "=", "+"])[pairs.wins() + 1]
        np.fill_diagonal(signs, "")
        value, low, high = np.moveaxis(pairs.difference, -1, 0)
        view = {"title": METRICS[metric].title, "names": comparison.names, "values": rounded(better * value)}
        tests = {"better": better, "low": rounded(low), "high": rounded(high), "p": rounded(pairs.p_holm)}
        decimals = METRICS[metric].decimals
        views.append(view | {"signs": signs.tolist(), "tests": tests, "decimals": decimals})
    caption = (
        "The system of the row against that of the column: + significantly better, - worse, = no significant "
        "difference (Holm, 5%)."
    )
    return _plot("wins", "Pairwise wins", caption, views, "differences", kind="matrix", diverging=True)


def _similarity(comparison: Comparison) -> Plot:
    titles = {
        "correlation": "correlation of losses",
        "disagreement": "share of rows on which they disagree",
        "double_fault": "share of rows on which both are wrong",
    }
    views = [
        {"title": titles[name], "names": comparison.names, "values": rounded(values)}
        for name, values in comparison.similarity.items()
        if not np.isnan(values).all()
    ]
    caption = (
        "Systems that err on different rows (low correlation, high disagreement) gain most from a blend."
    )
    return _plot(
        "likeness", "Similarity of systems", caption, views, "differences", kind="matrix", diverging=False
    )


def _curve_plots(comparison: Comparison) -> Iterator[Plot]:
    """Reliability, risk by coverage, and learning curves of the fine-tuned members, a line for each training."""
    accuracy, risk, learning = [], [], []
    for place, entry in enumerate(comparison.entries):
        if (probabilities := entry.answers.probabilities) is not None:
            bins = reliability(comparison.rows.labels, probabilities)
            points = np.column_stack([bins.confidence, bins.accuracy, bins.rows])[bins.rows > 0]
            accuracy.append(_line(place, entry.name, points))
            curve = risk_coverage(comparison.rows.labels, probabilities)
            title = f"{entry.name} ({curve.area:.4f})"
            risk.append(_line(place, title, np.column_stack([curve.coverage, curve.risk])))
        for loss in ("validation", "training"):
            lines = [
                _line(place, training.name, np.column_stack([training.updates, losses]))
                for training in entry.curves
                if not np.isnan(losses := getattr(training, loss)).any()
            ]
            learning += _curves(f"{entry.name}, {loss} loss", "updates", f"{loss} loss", lines)
    caption = "On the diagonal a system is right as often as it says. Larger dots are more rows."
    views = _curves("accuracy by confidence", "confidence", "accuracy", accuracy, diagonal=True)
    yield _plot("reliability", "Reliability", caption, views, kind="curves")
    caption = (
        "Share of wrong answers where only the most confident rows are answered (Geifman and El-Yaniv 2017). A system "
        "with a lower curve knows better when it is wrong. In brackets: the area under the curve."
    )
    views = _curves("risk by coverage", "share of rows answered", "share wrong", risk)
    yield _plot("risk", "Risk and coverage", caption, views, kind="curves")
    caption = "Loss at each evaluation of a training, over its updates; a line for each fold."
    yield _plot("learning", "Learning curves", caption, learning, kind="curves")


def _line(member: int, title: str, points: Floats) -> dict[str, Any]:
    """A curve of (k, 2) points, or (k, 3) with the number of rows of each."""
    return {"name": title, "member": member, "points": rounded(points)}


def _curves(title: str, x: str, y: str, lines: list[dict[str, Any]], *, diagonal: bool = False) -> list[View]:
    return [{"title": title, "x": x, "y": y, "lines": lines, "diagonal": diagonal}] if lines else []
