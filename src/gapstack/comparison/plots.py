"""Plots of the page, as data for its script: dots with intervals, matrices of pairs, and curves.

A plot is a dict with ``id``, ``part`` of the page, ``title``, ``caption``, ``kind`` and ``views``, of which the reader
chooses one. Members are given by their places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gapstack.comparison.measurements import Comparison
from gapstack.evaluation import METRICS
from gapstack.types import Floats

Plot = dict[str, Any]

_DIGITS = 4  # significant ones, more than a plot shows


def plots(comparison: Comparison) -> list[Plot]:
    """All plots that have a view."""
    found = [_scores(comparison), _slices(comparison), _reliability(comparison), _risk_coverage(comparison)]
    if len(comparison.entries) > 1:
        found += [_forest(comparison), _wins(comparison), _similarity(comparison)]
    if comparison.contribution:
        found.append(_contribution(comparison))
    if comparison.balanced:
        found.append(_balance(comparison))
    if comparison.flips:
        found.append(_flips(comparison))
    found.append(_learning_curves(comparison))
    return [plot for plot in found if plot["views"]]


def rounded(values: Floats) -> Any:
    """Nested lists of few digits, None where there is no value, for JSON."""
    if values.ndim:
        return [rounded(each) for each in values]
    return None if np.isnan(values) else float(f"{values:.{_DIGITS}g}")


def _plot(
    name: str,
    title: str,
    caption: str,
    kind: str,
    views: Iterable[Mapping[str, Any]],
    part: str = "plots",
    **more: Any,
) -> Plot:
    shown = {"id": name, "part": part, "title": title, "caption": caption, "kind": kind}
    return {**shown, "views": list(views), **more}


def _dots(
    title: str, rows: Sequence[str], series: Mapping[str, Floats], notes: Sequence[str] = ()
) -> dict[str, Any]:
    """A view with a line for each of ``rows``; a series is (rows, 3) values, lows and highs."""
    return {
        "title": title,
        "rows": list(rows),
        "notes": list(notes),
        "series": [{"name": name, "ends": rounded(ends)} for name, ends in series.items()],
    }


def _by_member(
    comparison: Comparison,
    title: str,
    names: Sequence[str],
    series: Mapping[str, Floats],
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Dots with a line for each of these members, numbered, since long names are cut."""
    places = [comparison.names.index(name) for name in names]
    rows = [f"{place + 1} {name}" for place, name in zip(places, names, strict=True)]
    return {**_dots(title, rows, series, notes), "members": places}


def _scores(comparison: Comparison) -> Plot:
    views = [
        _by_member(
            comparison,
            METRICS[metric].title,
            comparison.names,
            {labels: scores.intervals(metric) for labels, scores in comparison.scores.items()},
        )
        for metric in METRICS
        if not np.isnan(comparison.main.points[metric]).all()
    ]
    caption = "Scores with their intervals, by label set."
    return _plot("scores", "Scores", caption, "dots", views)


def _slices(comparison: Comparison) -> Plot:
    parts = [part for part in comparison.slices if not np.isnan(part.scores["f1_gap"][:, 0]).all()]
    names = [f"{part.dimension}: {part.value} ({part.rows:,})" for part in parts]
    views = [
        _dots(member, names, {"F1 F-M": np.array([part.scores["f1_gap"][place] for part in parts])})
        for place, member in enumerate(comparison.names)
        if parts
    ]
    caption = "F1 of feminine rows minus F1 of masculine rows on every slice that has both, by member."
    return _plot("gaps", "F1 gap between the genders", caption, "dots", views, "slices", line=0)


def _contribution(comparison: Comparison) -> Plot:
    found = comparison.contribution
    assert found is not None
    views = [
        _by_member(comparison, title, found.members, {title: values})
        for title, values in (("Shapley value", found.shapley), ("leave-one-out", found.left_out))
    ]
    caption = "Contribution of each member to a cross-fitted blend, in nats of logloss."
    return _plot("added", "Contributions", caption, "dots", views, line=0)


def _balance(comparison: Comparison) -> Plot:
    assert comparison.balanced is not None
    series = {
        "unweighted": comparison.main.intervals("bias"),
        "reweighted by difficulty": comparison.balanced.intervals("bias"),
    }
    caption = (
        "F1 feminine over F1 masculine; also reweighted to balance number of names and rank of the right one."
    )
    view = _by_member(comparison, "bias", comparison.names, series)
    return _plot("bias", "Bias", caption, "dots", [view], line=1)


def _flips(comparison: Comparison) -> Plot:
    found = comparison.flips
    assert found is not None
    views = [
        _by_member(comparison, kind, found.members, {kind: values}) for kind, values in found.shares.items()
    ]
    caption = "Share of predictions that flip under the counterfactual."
    return _plot("flips", "Counterfactual flips", caption, "dots", views, line=0)


def _forest(comparison: Comparison) -> Plot:
    best, *others = comparison.names
    views = []
    for metric, pairs in comparison.pairs.items():
        ends = np.stack([pairs.value, pairs.low, pairs.high], axis=-1)[1:, 0]
        if not np.isnan(ends).all():
            notes = [f"p={p:.3g} (Holm)" for p in pairs.p_holm[1:, 0].tolist()]
            views.append(_by_member(comparison, METRICS[metric].title, others, {"difference": ends}, notes))
    caption = f"Each member's score minus that of {best}, with its 95% interval; p by permutation of pages."
    return _plot("forest", "Differences to the best", caption, "dots", views, "differences", line=0)


def _wins(comparison: Comparison) -> Plot:
    views = []
    for metric, pairs in comparison.pairs.items():
        if np.isnan(pairs.p_holm).all():
            continue
        better = -1 if METRICS[metric].better == "low" else 1
        signs = np.array(["-", "=", "+"])[pairs.wins() + 1]
        np.fill_diagonal(signs, "")
        views.append(
            {
                "title": METRICS[metric].title,
                "names": comparison.names,
                "values": rounded(better * pairs.value),
                "signs": signs.tolist(),
                "tests": {
                    "better": better,
                    "low": rounded(pairs.low),
                    "high": rounded(pairs.high),
                    "p": rounded(pairs.p_holm),
                },
            }
        )
    caption = (
        "The row's member against the column's: + win, - loss, = no significant difference (Holm, 5%). "
        "Blue is better."
    )
    return _plot("wins", "Pairwise wins", caption, "matrix", views, "differences", diverging=True)


def _similarity(comparison: Comparison) -> Plot:
    found = comparison.similarity
    kinds = {
        "correlation of losses": found.correlation,
        "share of rows on which they disagree": found.disagreement,
        "share of rows on which both are wrong": found.double_fault,
    }
    views = [
        {"title": title, "names": comparison.names, "values": rounded(values)}
        for title, values in kinds.items()
        if not np.isnan(values).all()
    ]
    return _plot("likeness", "Similarity of members", "", "matrix", views, "differences", diverging=False)


def _reliability(comparison: Comparison) -> Plot:
    lines = [
        _line(comparison, name, np.column_stack([bins.confidence, bins.accuracy, bins.rows])[bins.rows > 0])
        for name, bins in comparison.reliability.items()
    ]
    caption = "On the diagonal a member is right as often as it says. Larger dots are more rows."
    view = _curves("accuracy by confidence", "confidence", "accuracy", lines, diagonal=True)
    return _plot("reliability", "Reliability", caption, "curves", [view] if lines else [])


def _risk_coverage(comparison: Comparison) -> Plot:
    lines = [
        _line(
            comparison, f"{name} (area {curve.area:.4f})", np.column_stack([curve.coverage, curve.risk]), name
        )
        for name, curve in comparison.risk_coverage.items()
    ]
    caption = (
        "Share of wrong answers where only the most confident rows are answered (Geifman and El-Yaniv 2017). A lower "
        "curve knows better when it is wrong."
    )
    view = _curves("risk by coverage", "share of rows answered", "share wrong", lines)
    return _plot("risk", "Risk and coverage", caption, "curves", [view] if lines else [])


def _learning_curves(comparison: Comparison) -> Plot:
    """A view for each fine-tuned member and loss, a line for each of its trainings."""
    views = []
    for entry in comparison.entries:
        for loss in ("validation", "training"):
            lines = [
                _line(comparison, curve.name, np.column_stack([curve.updates, losses]), entry.name)
                for curve in entry.curves
                if not np.isnan(losses := getattr(curve, loss)).any()
            ]
            if lines:
                views.append(_curves(f"{entry.name}, {loss} loss", "updates", f"{loss} loss", lines))
    caption = "Loss at each evaluation of a training, over its updates; a line for each fold."
    return _plot("learning", "Learning curves", caption, "curves", views)


def _line(comparison: Comparison, title: str, points: Floats, name: str = "") -> dict[str, Any]:
    """A curve of (k, 2) points, or (k, 3) with their rows."""
    return {"name": title, "member": comparison.names.index(name or title), "points": rounded(points)}


def _curves(
    title: str, x: str, y: str, lines: Sequence[Mapping[str, Any]], *, diagonal: bool = False
) -> dict[str, Any]:
    return {"title": title, "x": x, "y": y, "lines": list(lines), "diagonal": diagonal}
