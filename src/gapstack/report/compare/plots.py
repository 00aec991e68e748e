"""Plots of the page, as data for its script: dots with intervals, matrices of pairs, and curves.

A plot is a dict with ``id``, ``title``, ``caption``, ``kind`` and ``views``, of which the reader chooses one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gapstack.comparison.measurements import Comparison
from gapstack.scoring import METRICS
from gapstack.types import Floats

Plot = dict[str, Any]

_SHOWN = ("logloss", "f1_overall", "f1_masculine", "f1_feminine", "bias", "accuracy", "brier", "ece")
_DIGITS = 4  # significant ones, more than a plot shows


def plots(comparison: Comparison) -> list[Plot]:
    """All plots that have a view."""
    found = [_scores(comparison), _slices(comparison), _reliability(comparison)]
    if len(comparison.entries) > 1:
        found += [_wins(comparison), _similarity(comparison)]
    if comparison.contribution:
        found.append(_contribution(comparison))
    if comparison.balanced:
        found.append(_balance(comparison))
    if comparison.flips:
        found.append(_flips(comparison))
    return [plot for plot in found if plot["views"]]


def rounded(values: Floats) -> Any:
    """Nested lists of few digits, None where there is no value, for JSON."""
    if values.ndim:
        return [rounded(each) for each in values]
    return None if np.isnan(values) else float(f"{values:.{_DIGITS}g}")


def _plot(
    name: str, title: str, caption: str, kind: str, views: Iterable[Mapping[str, Any]], **more: Any
) -> Plot:
    return {"id": name, "title": title, "caption": caption, "kind": kind, "views": list(views), **more}


def _dots(title: str, rows: Sequence[str], series: Mapping[str, Floats]) -> dict[str, Any]:
    """A view with a line for each of ``rows``; a series is (rows, 3) values, lows and highs."""
    return {
        "title": title,
        "rows": list(rows),
        "series": [{"name": name, "ends": rounded(ends)} for name, ends in series.items()],
    }


def _numbered(comparison: Comparison, names: Sequence[str]) -> list[str]:
    """Names with their places, which tell them apart where they are cut."""
    return [f"{comparison.names.index(name) + 1} {name}" for name in names]


def _scores(comparison: Comparison) -> Plot:
    views = [
        _dots(
            METRICS[metric].title,
            _numbered(comparison, comparison.names),
            {
                labels: np.array([scores.interval(name, metric) for name in comparison.names])
                for labels, scores in comparison.scores.items()
            },
        )
        for metric in _SHOWN
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
    return _plot("gaps", "F1 gap between the genders", caption, "dots", views, line=0)


def _contribution(comparison: Comparison) -> Plot:
    found = comparison.contribution
    assert found is not None
    views = [
        _dots(title, _numbered(comparison, found.members), {title: values})
        for title, values in (("Shapley value", found.shapley), ("leave-one-out", found.left_out))
    ]
    caption = "Contribution of each member to a cross-fitted blend, in nats of logloss."
    return _plot("added", "Contributions", caption, "dots", views, line=0)


def _balance(comparison: Comparison) -> Plot:
    assert comparison.balanced is not None
    series = {
        title: np.array([scores.interval(name, "bias") for name in comparison.names])
        for title, scores in (
            ("unweighted", comparison.main),
            ("reweighted by difficulty", comparison.balanced),
        )
    }
    caption = (
        "F1 feminine over F1 masculine; also reweighted to balance number of names and rank of the right one."
    )
    return _plot(
        "bias",
        "Bias",
        caption,
        "dots",
        [_dots("bias", _numbered(comparison, comparison.names), series)],
        line=1,
    )


def _flips(comparison: Comparison) -> Plot:
    found = comparison.flips
    assert found is not None
    views = [
        _dots(kind, _numbered(comparison, found.members), {kind: values})
        for kind, values in found.shares.items()
    ]
    caption = "Share of predictions that flip under the counterfactual."
    return _plot("flips", "Counterfactual flips", caption, "dots", views, line=0)


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
                "notes": [
                    ["95% interval", rounded(pairs.low), rounded(pairs.high)],
                    ["p (bootstrap, permutation, Holm)"]
                    + [rounded(each) for each in (pairs.p_bootstrap, pairs.p_permutation, pairs.p_holm)],
                ],
            }
        )
    caption = (
        "The row's member against the column's: + win, - loss, = no significant difference (Holm, 5%). "
        "Blue is better."
    )
    return _plot("wins", "Pairwise wins", caption, "matrix", views, diverging=True)


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
    return _plot("likeness", "Similarity of members", "", "matrix", views, diverging=False)


def _reliability(comparison: Comparison) -> Plot:
    views = []
    for name, bins in comparison.reliability.items():
        points = np.column_stack([bins.confidence, bins.accuracy, bins.rows])[bins.rows > 0]
        views.append({"title": name, "points": rounded(points)})
    caption = "Accuracy by confidence. Larger dots are more rows."
    return _plot("reliability", "Reliability", caption, "curve", views)
