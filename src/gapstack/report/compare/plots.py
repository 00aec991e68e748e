"""What the page plots, as data for its script: dots with intervals, matrices of pairs, and curves.

A plot is a dict with ``id``, ``title``, ``caption``, ``kind`` and ``views``, of which the reader chooses one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gapstack.comparison.analysis import Comparison
from gapstack.scoring import METRICS
from gapstack.scoring.metrics import Floats
from gapstack.scoring.reliability import reliability

Plot = dict[str, Any]

_SHOWN = ("logloss", "f1_overall", "f1_masculine", "f1_feminine", "bias", "accuracy", "brier", "ece")
_DIGITS = 4  # significant ones, more than a plot shows


def plots(made: Comparison) -> list[Plot]:
    """All plots that there is something to show in."""
    found = [_scores(made), _slices(made), _reliability(made)]
    if len(made.entries) > 1:
        found += [_wins(made), _likeness(made)]
    if made.added:
        found.append(_added(made))
    if made.balanced:
        found.append(_balance(made))
    if made.flips:
        found.append(_flips(made))
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


def _numbered(made: Comparison, names: Sequence[str]) -> list[str]:
    """Names with their places, which tell them apart where they are cut."""
    return [f"{made.names.index(name) + 1} {name}" for name in names]


def _scores(made: Comparison) -> Plot:
    views = [
        _dots(
            METRICS[metric].title,
            _numbered(made, made.names),
            {
                labels: np.array([scores.interval(name, metric) for name in made.names])
                for labels, scores in made.scores.items()
            },
        )
        for metric in _SHOWN
        if not np.isnan(made.main.points[metric]).all()
    ]
    caption = "Scores with their intervals, by label set."
    return _plot("scores", "Scores", caption, "dots", views)


def _slices(made: Comparison) -> Plot:
    parts = [part for part in made.slices if not np.isnan(part.scores["f1_gap"][:, 0]).all()]
    names = [f"{part.dimension}: {part.value} ({part.rows:,})" for part in parts]
    views = [
        _dots(member, names, {"F1 F-M": np.array([part.scores["f1_gap"][place] for part in parts])})
        for place, member in enumerate(made.names)
        if parts
    ]
    caption = "F1 of feminine rows less that of masculine rows on every slice that has both, by member."
    return _plot("gaps", "Distance between the genders", caption, "dots", views, line=0)


def _added(made: Comparison) -> Plot:
    found = made.added
    assert found is not None
    views = [
        _dots(title, _numbered(made, found.members), {title: values})
        for title, values in (("Shapley value", found.shapley), ("lost without it", found.left_out))
    ]
    caption = "What each member adds to the others in a cross-fitted blend, in nats of logloss."
    return _plot("added", "Contributions", caption, "dots", views, line=0)


def _balance(made: Comparison) -> Plot:
    assert made.balanced is not None
    series = {
        title: np.array([scores.interval(name, "bias") for name in made.names])
        for title, scores in (("as it is", made.main), ("genders made alike", made.balanced))
    }
    caption = (
        "F1 feminine over F1 masculine; and with the genders made alike in number of names and nearness."
    )
    return _plot(
        "bias", "Bias", caption, "dots", [_dots("bias", _numbered(made, made.names), series)], line=1
    )


def _flips(made: Comparison) -> Plot:
    found = made.flips
    assert found is not None
    views = [
        _dots(kind, _numbered(made, found.members), {kind: values}) for kind, values in found.shares.items()
    ]
    caption = "Share of answers that change with the counterfactual."
    return _plot("flips", "Counterfactual flips", caption, "dots", views, line=0)


def _wins(made: Comparison) -> Plot:
    views = []
    for metric, pairs in made.pairs.items():
        if np.isnan(pairs.p_holm).all():
            continue
        better = -1 if METRICS[metric].better == "low" else 1
        signs = np.array(["-", "=", "+"])[pairs.wins() + 1]
        np.fill_diagonal(signs, "")
        views.append(
            {
                "title": METRICS[metric].title,
                "names": made.names,
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
        "The row's member against the column's: + beats, - is beaten, = cannot be told apart (Holm, 5%). "
        "Blue is better."
    )
    return _plot("wins", "Who beats whom", caption, "matrix", views, diverging=True)


def _likeness(made: Comparison) -> Plot:
    found = made.likeness
    kinds = {
        "correlation of losses": found.correlation,
        "share of rows on which they disagree": found.disagreement,
        "share of rows on which both are wrong": found.double_fault,
    }
    views = [
        {"title": title, "names": made.names, "values": rounded(values)}
        for title, values in kinds.items()
        if not np.isnan(values).all()
    ]
    return _plot("likeness", "How alike members are", "", "matrix", views, diverging=False)


def _reliability(made: Comparison) -> Plot:
    views = []
    for entry in made.entries:
        if entry.answers.probabilities is not None:
            found = reliability(made.rows.labels, entry.answers.probabilities)
            some = found.rows > 0
            points = np.column_stack([found.confidence, found.accuracy, found.rows])[some]
            views.append({"title": entry.name, "points": rounded(points)})
    caption = "Is a member right as often as it says? Larger dots are more rows."
    return _plot("reliability", "Reliability", caption, "curve", views)
