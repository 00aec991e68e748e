"""Points and their regression line with its band, a frame for each system, as one SVG: no library, no script."""

from __future__ import annotations

from html import escape

import numpy as np

from gapstack.audit.statistics import regression
from gapstack.audit.suite import Scatter
from gapstack.types import Floats

_SIZE, _LEFT, _TOP, _GAP = 300, 64, 64, 84
_POINT, _LINE, _BAND = "#1f6fb4", "#c8553d", "#c8553d33"


def regression_svg(plot: Scatter, only: str | None = None) -> str:
    """Draw every series, or one, in a frame of its own on axes common to all; hovering over a point names it."""
    shown = plot.series if only is None else {only: plot.series[only]}
    points = np.concatenate(list(plot.series.values()))
    x_range, y_range = _limits(points[:, 0]), _limits(points[:, 1])
    width = _LEFT + (_SIZE + _GAP) * len(shown)
    height = _TOP + _SIZE + 60
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" role="img">',
        f"<title>{escape(plot.title)}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{_LEFT}" y="24" font-size="15">{escape(plot.title)}</text>',
    ]
    for number, (name, series) in enumerate(shown.items()):
        left = _LEFT + number * (_SIZE + _GAP)
        parts += _frame(plot, name, series, left, x_range, y_range)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _limits(values: Floats) -> tuple[float, float]:
    """Tens that hold all values."""
    low, high = 10 * np.floor(values.min() / 10), 10 * np.ceil(values.max() / 10)
    return float(low), float(high if high > low else low + 10)


def _frame(
    plot: Scatter,
    name: str,
    series: Floats,
    left: float,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
) -> list[str]:
    (x0, x1), (y0, y1) = x_range, y_range

    def at(x: float, y: float) -> str:
        """Place on the sheet, in pixels; heights beyond the frame end at its edge."""
        inside = min(max(y, y0), y1)
        return f"{left + _SIZE * (x - x0) / (x1 - x0):.1f},{_TOP + _SIZE - _SIZE * (inside - y0) / (y1 - y0):.1f}"

    def line(ends: tuple[tuple[float, float], tuple[float, float]], style: str) -> str:
        return f'<polyline points="{at(*ends[0])} {at(*ends[1])}" fill="none" {style}/>'

    parts = [
        f'<text x="{left}" y="{_TOP - 10}">{escape(name)}</text>',
        f'<rect x="{left}" y="{_TOP}" width="{_SIZE}" height="{_SIZE}" fill="none" stroke="#888"/>',
    ]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = left + share * _SIZE, _TOP + _SIZE - share * _SIZE
        parts.append(
            f'<text x="{x:.0f}" y="{_TOP + _SIZE + 18}" text-anchor="middle">{x0 + share * (x1 - x0):g}</text>'
            f'<text x="{left - 6}" y="{y + 4:.0f}" text-anchor="end">{y0 + share * (y1 - y0):g}</text>'
        )
    middle = _TOP + _SIZE / 2
    parts.append(
        f'<text x="{left + _SIZE / 2}" y="{_TOP + _SIZE + 40}" text-anchor="middle">{escape(plot.x_title)}</text>'
        f'<text x="{left - 44}" y="{middle}" text-anchor="middle" '
        f'transform="rotate(-90 {left - 44} {middle})">{escape(plot.y_title)}</text>'
    )
    dotted = 'stroke="#999" stroke-dasharray="3 3"'
    low, high = max(x0, y0), min(x1, y1)
    if plot.diagonal and low < high:
        parts.append(line(((low, low), (high, high)), dotted))
    if plot.horizon is not None and y0 <= plot.horizon <= y1:
        parts.append(line(((x0, plot.horizon), (x1, plot.horizon)), dotted))
    across = np.linspace(x0, x1, 41)
    fitted = regression(series, across)
    if fitted is not None:
        outline = [*zip(across, fitted[:, 1], strict=True), *zip(across[::-1], fitted[::-1, 2], strict=True)]
        parts.append(f'<polygon points="{" ".join(at(*p) for p in outline)}" fill="{_BAND}"/>')
        parts.append(
            line(
                ((across[0], fitted[0, 0]), (across[-1], fitted[-1, 0])), f'stroke="{_LINE}" stroke-width="2"'
            )
        )
    for label, (x, y) in zip(plot.names, series, strict=True):
        cx, cy = at(x, y).split(",")
        parts.append(
            f'<circle cx="{cx}" cy="{cy}" r="4" fill="{_POINT}" fill-opacity="0.7">'
            f"<title>{escape(label)}: {x:.1f}, {y:.1f}</title></circle>"
        )
    return parts
