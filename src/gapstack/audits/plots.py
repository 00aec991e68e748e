"""Plots as self-contained SVG: points with their regression line, and precision against recall.

They are written as files too, so Python draws them. The browser draws those of a comparison (``comparison/plots.js``):
their size and content depend on its width and on the systems, metric and label sets that the reader chooses.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape

import numpy as np

from gapstack.audits.statistics import regression
from gapstack.audits.suite import Scatter
from gapstack.evaluation import GapScores
from gapstack.types import Floats

Range = tuple[float, float]

_TOP, _LEFT = 64, 64
_POINT, _LINE, _BAND = "#1f6fb4", "#c8553d", "#c8553d33"
_GROUPS = {"masculine": "#1f6fb4", "feminine": "#c8553d", "overall": "#444"}
_MIDDLE, _END = 'text-anchor="middle"', 'text-anchor="end"'
_DOTTED = 'stroke="#999" stroke-dasharray="3 3"'


@dataclass(frozen=True)
class _Frame:
    """A square of ``size`` pixels whose left edge is at ``left``, on the scales of two ranges."""

    left: float
    size: float
    x_range: Range
    y_range: Range

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Position in the SVG, in pixels; heights are clipped to the frame."""
        (x0, x1), (y0, y1) = self.x_range, self.y_range
        height = self.size * (min(max(y, y0), y1) - y0) / (y1 - y0)
        return self.left + self.size * (x - x0) / (x1 - x0), _TOP + self.size - height

    def points(self, points: Iterable[tuple[float, float]]) -> str:
        """Value of ``points`` attributes."""
        return " ".join("{:.1f},{:.1f}".format(*self.at(x, y)) for x, y in points)

    def line(self, points: Iterable[tuple[float, float]], style: str) -> str:
        return f'<polyline points="{self.points(points)}" fill="none" {style}/>'

    def axes(self, x_title: str, y_title: str) -> list[str]:
        """The frame, with round numbers on each axis."""
        left, size, bottom, middle = self.left, self.size, _TOP + self.size, _TOP + self.size / 2
        parts = [f'<rect x="{left}" y="{_TOP}" width="{size}" height="{size}" fill="none" stroke="#888"/>']
        parts += [_text(self.at(x, 0)[0], bottom + 20, f"{x}", _MIDDLE) for x in _ticks(self.x_range)]
        parts += [_text(left - 6, self.at(0, y)[1] + 5, f"{y}", _END) for y in _ticks(self.y_range)]
        turn = f'{_MIDDLE} transform="rotate(-90 {left - 46} {middle})"'
        parts.append(_text(left + size / 2, bottom + 44, x_title, _MIDDLE))
        return [*parts, _text(left - 46, middle, y_title, turn)]


def regression_svg(plot: Scatter, only: str | None = None) -> str:
    """Draw each series, or ``only`` one, in its own frame with common axes; hovering over a point shows its name."""
    size, gap = 300, 84
    shown = plot.series if only is None else {only: plot.series[only]}
    points = np.concatenate(list(plot.series.values()))
    (x0, x1), (y0, y1) = x_range, y_range = _tens(points[:, 0]), _tens(points[:, 1])
    low, high, across = max(x0, y0), min(x1, y1), np.linspace(x0, x1, 41)
    parts: list[str] = []
    for number, (name, series) in enumerate(shown.items()):
        frame = _Frame(_LEFT + number * (size + gap), size, x_range, y_range)
        parts += [_text(frame.left, _TOP - 10, name), *frame.axes(plot.x_title, plot.y_title)]
        if plot.diagonal and low < high:
            parts.append(frame.line(((low, low), (high, high)), _DOTTED))
        if plot.horizon is not None and y0 <= plot.horizon <= y1:
            parts.append(frame.line(((x0, plot.horizon), (x1, plot.horizon)), _DOTTED))
        if len(np.unique(series[:, 0])) > 2:  # fewer points have no band
            fitted = regression(series, across)
            band = [*zip(across, fitted[:, 1], strict=True), *zip(across[::-1], fitted[::-1, 2], strict=True)]
            parts.append(f'<polygon points="{frame.points(band)}" fill="{_BAND}"/>')
            line = zip(across[[0, -1]], fitted[[0, -1], 0], strict=True)
            parts.append(frame.line(line, f'stroke="{_LINE}" stroke-width="2"'))
        for label, (x, y) in zip(plot.names, series, strict=True):
            cx, cy = frame.at(x, y)
            parts.append(
                f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="4" fill="{_POINT}" fill-opacity="0.7">'
                f"<title>{escape(label)}: {x:.1f}, {y:.1f}</title></circle>"
            )
    return _sheet(plot.title, parts, _LEFT + (size + gap) * len(shown), _TOP + size + 60)


def precision_recall_svg(systems: Mapping[str, GapScores], title: str) -> str:
    """Draw precision against recall: points for masculine, feminine and overall, over curves of equal F1."""
    size, legend = 420, 260
    points = {
        name: {group: (getattr(scores, group).recall, getattr(scores, group).precision) for group in _GROUPS}
        for name, scores in systems.items()
    }
    low, high = _tens(np.array([list(groups.values()) for groups in points.values()]))
    frame = _Frame(_LEFT, size, (low, high), (low, high))
    parts = frame.axes("recall, percent", "precision, percent")
    for f1 in range(int(low), int(high) + 1, 10):
        recall = np.linspace(low, high, 101)
        recall = recall[2 * recall > f1]
        precision = f1 * recall / (2 * recall - f1)
        inside = (low <= precision) & (precision <= high)
        curve = list(zip(recall[inside], precision[inside], strict=True))
        if len(curve) > 1:
            x, y = frame.at(*curve[-1])
            parts.append(frame.line(curve, 'stroke="#ddd"'))
            parts.append(_text(x - 4, y - 4, f"F1 {f1}", f'fill="#aaa" {_END}'))
    for number, (name, groups) in enumerate(points.items(), start=1):
        parts.append(frame.line((groups["masculine"], groups["feminine"]), 'stroke="#999"'))
        for group, (recall, precision) in groups.items():
            x, y = frame.at(recall, precision)
            parts.append(
                f"<g><title>{escape(name)}, {group}: precision {precision:.1f}, recall {recall:.1f}</title>"
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" fill="{_GROUPS[group]}"/>'
                + _text(x, y + 4, str(number), f'fill="white" font-size="11" {_MIDDLE}')
                + "</g>"
            )
        parts.append(_text(_LEFT + size + 20, _TOP + 92 + 20 * number, f"{number}  {name}"))
    for row, (group, colour) in enumerate(_GROUPS.items()):
        x, y = _LEFT + size + 28, _TOP + 16 + 22 * row
        parts.append(f'<circle cx="{x}" cy="{y - 4}" r="8" fill="{colour}"/>')
        parts.append(_text(x + 16, y, group if group == "overall" else f"{group} pronouns"))
    return _sheet(title, parts, _LEFT + size + legend, _TOP + size + 60)


def _ticks(ends: Range) -> range:
    """Multiples of a round step within the ends, six at most."""
    low, high = ends
    step = next(step for step in (5, 10, 20, 25, 50, 100, 200) if high - low <= 5 * step or step == 200)
    return range(int(-(-low // step)) * step, int(high) + 1, step)


def _tens(values: Floats) -> Range:
    """Multiples of ten that enclose all values."""
    low, high = 10 * np.floor(values.min() / 10), 10 * np.ceil(values.max() / 10)
    return float(low), float(high if high > low else low + 10)


def _text(x: float, y: float, text: str, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'


def _sheet(title: str, parts: Iterable[str], width: float, height: float) -> str:
    """A whole SVG document."""
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="15" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        _text(_LEFT, 28, title, 'font-size="17"'),
    ]
    return "\n".join([*head, *parts, "</svg>\n"])
