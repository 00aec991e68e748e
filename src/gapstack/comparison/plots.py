"""Plots of the page, as data for its script: dots with intervals, matrices of pairs, and curves.

A plot is a dict with ``id``, ``part`` of the page, ``title``, ``caption``, ``kind`` and ``views``, of which the reader
chooses one. Members are given by their places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gapstack.comparison.analysis import Comparison
from gapstack.evaluation import METRICS
from gapstack.evaluation.diagnostics import reliability, risk_coverage
from gapstack.types import Floats

Plot = dict[str, Any]
View = dict[str, Any]

_DIGITS = 4  # significant ones, more than a plot shows


def plots(comparison: Comparison) -> list[Plot]:
    """All plots that have a view."""
    found = [*_member_plots(comparison), _slices(comparison), *_curve_plots(comparison)]
    if len(comparison.entries) > 1:
        found += [_forest(comparison), _wins(comparison), _similarity(comparison)]
    return [plot for plot in found if plot["views"]]


def rounded(values: Floats) -> Any:
    """Nested lists of few digits, None where there is no value, for JSON."""
    if values.ndim:
        return [rounded(each) for each in values]
    return None if np.isnan(values) else float(f"{values:.{_DIGITS}g}")


def _plot(name: str, title: str, caption: str, views: list[View], part: str = "plots", **more: Any) -> Plot:
    kind = {"kind": "dots", **more}
    return {"id": name, "part": part, "title": title, "caption": caption, "views": views, **kind}


def _dots(title: str, rows: Sequence[str], series: Mapping[str, Floats], **more: Any) -> View:
    """A view with a line for each of ``rows``; a series is (rows, 3) values, lows and highs."""
    shown = [{"name": name, "ends": rounded(ends)} for name, ends in series.items()]
    return {"title": title, "rows": list(rows), "series": shown, **more}


def _by_member(
    comparison: Comparison, title: str, names: Sequence[str], series: Mapping[str, Floats], **more: Any
) -> View:
    """Dots with a line for each of these members, numbered, since long names are cut."""
    places = [comparison.names.index(name) for name in names]
    rows = [f"{place + 1} {name}" for place, name in zip(places, names, strict=True)]
    return _dots(title, rows, series, members=places, **more)


def _member_plots(comparison: Comparison) -> Iterator[Plot]:
    """Scores, contributions, bias and flips."""
    names, added, flips = comparison.names, comparison.contribution, comparison.flips
    views = []
    for metric in METRICS:
        if not np.isnan(comparison.main.points(metric)).all():
            series = {labels: scores.intervals[metric] for labels, scores in comparison.scores.items()}
            views.append(_by_member(comparison, METRICS[metric].title, names, series))
    yield _plot("scores", "Scores", "Scores with their intervals, by label set.", views)
    if added:
        measures = {"Shapley value": added.shapley, "leave-one-out": added.left_out}
        views = [_by_member(comparison, name, added.members, {name: ends}) for name, ends in measures.items()]
        caption = "Contribution of each member to a cross-fitted blend, in nats of logloss."
        yield _plot("added", "Contributions", caption, views, line=0)
    if comparison.balanced:
        series = {
            "unweighted": comparison.main.intervals["bias"],
            "reweighted by difficulty": comparison.balanced.intervals["bias"],
        }
        caption = "F1 feminine over F1 masculine; also reweighted to balance number of names and rank of the right one."
        yield _plot("bias", "Bias", caption, [_by_member(comparison, "bias", names, series)], line=1)
    if flips:
        views = [
            _by_member(comparison, kind, flips.members, {kind: ends}) for kind, ends in flips.shares.items()
        ]
        caption = "Share of predictions that flip under the counterfactual."
        yield _plot("flips", "Counterfactual flips", caption, views, line=0)


def _slices(comparison: Comparison) -> Plot:
    parts = [part for part in comparison.slices if not np.isnan(part.scores["f1_gap"][:, 0]).all()]
    names = [f"{part.dimension}: {part.value} ({part.rows:,})" for part in parts]
    views = [
        _dots(member, names, {"F1 F-M": np.array([part.scores["f1_gap"][place] for part in parts])})
        for place, member in enumerate(comparison.names)
        if parts
    ]
    caption = "F1 of feminine rows minus F1 of masculine rows on every slice that has both, by member."
    return _plot("gaps", "F1 gap between the genders", caption, views, "slices", line=0)


def _forest(comparison: Comparison) -> Plot:
    best, *others = comparison.names
    views = []
    for metric, pairs in comparison.pairs.items():
        ends = pairs.difference[1:, 0]
        if not np.isnan(ends).all():
            notes = [f"p={p:.3g} (Holm)" for p in pairs.p_holm[1:, 0].tolist()]
            series = {"difference": ends}
            views.append(_by_member(comparison, METRICS[metric].title, others, series, notes=notes))
    caption = f"Each member's score minus that of {best}, with its 95% interval; p by permutation of pages."
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
        views.append(view | {"signs": signs.tolist(), "tests": tests})
    caption = (
        "The row's member against the column's: + win, - loss, = no significant difference (Holm, 5%). "
        "Blue is better."
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
    return _plot(
        "likeness", "Similarity of members", "", views, "differences", kind="matrix", diverging=False
    )


def _curve_plots(comparison: Comparison) -> Iterator[Plot]:
    """Reliability, risk and coverage, and for each fine-tuned member and loss a line for each of its trainings."""
    accuracy, risk, learning = [], [], []
    for place, entry in enumerate(comparison.entries):
        if (probabilities := entry.answers.probabilities) is not None:
            bins = reliability(comparison.rows.labels, probabilities)
            points = np.column_stack([bins.confidence, bins.accuracy, bins.rows])[bins.rows > 0]
            accuracy.append(_line(place, entry.name, points))
            curve = risk_coverage(comparison.rows.labels, probabilities)
            title = f"{entry.name} (area {curve.area:.4f})"
            risk.append(_line(place, title, np.column_stack([curve.coverage, curve.risk])))
        for loss in ("validation", "training"):
            lines = [
                _line(place, one.name, np.column_stack([one.updates, losses]))
                for one in entry.curves
                if not np.isnan(losses := getattr(one, loss)).any()
            ]
            learning += _curves(f"{entry.name}, {loss} loss", "updates", f"{loss} loss", lines)
    caption = "On the diagonal a member is right as often as it says. Larger dots are more rows."
    views = _curves("accuracy by confidence", "confidence", "accuracy", accuracy, diagonal=True)
    yield _plot("reliability", "Reliability", caption, views, kind="curves")
    caption = (
        "Share of wrong answers where only the most confident rows are answered (Geifman and El-Yaniv 2017). A lower "
        "curve knows better when it is wrong."
    )
    views = _curves("risk by coverage", "share of rows answered", "share wrong", risk)
    yield _plot("risk", "Risk and coverage", caption, views, kind="curves")
    caption = "Loss at each evaluation of a training, over its updates; a line for each fold."
    yield _plot("learning", "Learning curves", caption, learning, kind="curves")


def _line(member: int, title: str, points: Floats) -> dict[str, Any]:
    """A curve of (k, 2) points, or (k, 3) with their rows."""
    return {"name": title, "member": member, "points": rounded(points)}


def _curves(title: str, x: str, y: str, lines: list[dict[str, Any]], *, diagonal: bool = False) -> list[View]:
    return [{"title": title, "x": x, "y": y, "lines": lines, "diagonal": diagonal}] if lines else []
