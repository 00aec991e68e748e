"""Precision against recall by gender and overall, as one small SVG: no library, no script, readable in any browser."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from gapstack.scoring import GapScores

_COLOURS = {"masculine": "#1f6fb4", "feminine": "#c8553d", "overall": "#444"}
_SIZE, _LEFT, _TOP, _LEGEND = 420, 60, 50, 260


def precision_recall_svg(systems: Mapping[str, GapScores], title: str) -> str:
    """Draw each system as three numbered points, masculine, feminine and overall, the first two joined by a line.

    Grey curves join points of equal F1. Axes reach from the lowest to the highest ten that holds all points.
    """
    points = {
        name: {group: (getattr(scores, group).recall, getattr(scores, group).precision) for group in _COLOURS}
        for name, scores in systems.items()
    }
    values = [value for groups in points.values() for point in groups.values() for value in point] or [
        0.0,
        100.0,
    ]
    low, high = 10 * (min(values) // 10), min(100.0, 10 * (max(values) // 10 + 1))

    def at(recall: float, precision: float) -> tuple[float, float]:
        """Place on the sheet, in pixels."""
        scale = _SIZE / (high - low)
        return _LEFT + scale * (recall - low), _TOP + _SIZE - scale * (precision - low)

    width, height = _LEFT + _SIZE + _LEGEND, _TOP + _SIZE + 60
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{_LEFT}" y="28" font-size="15">{escape(title)}</text>',
        f'<rect x="{_LEFT}" y="{_TOP}" width="{_SIZE}" height="{_SIZE}" fill="none" stroke="#888"/>',
        *_axes(low, high, at(low, low)),
    ]
    for f1 in range(int(low), int(high) + 1, 10):
        curve = [
            at(recall, f1 * recall / (2 * recall - f1))
            for recall in (low + (high - low) * step / 100 for step in range(101))
            if 2 * recall > f1 and low <= f1 * recall / (2 * recall - f1) <= high
        ]
        if len(curve) > 1:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in curve)
            parts.append(f'<polyline points="{path}" fill="none" stroke="#ddd"/>')
            x, y = curve[-1]
            parts.append(
                f'<text x="{x - 4:.1f}" y="{y - 4:.1f}" fill="#aaa" text-anchor="end">F1 {f1}</text>'
            )
    for number, (name, groups) in enumerate(points.items(), start=1):
        (x1, y1), (x2, y2) = (at(*groups[gender]) for gender in ("masculine", "feminine"))
        parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#999"/>')
        for group, colour in _COLOURS.items():
            x, y = at(*groups[group])
            recall, precision = groups[group]
            parts.append(
                f"<g><title>{escape(name)}, {group}: precision {precision:.1f}, recall {recall:.1f}</title>"
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" fill="{colour}"/>'
                f'<text x="{x:.1f}" y="{y + 4:.1f}" fill="white" font-size="10" '
                f'text-anchor="middle">{number}</text></g>'
            )
        line = _TOP + 92 + 20 * number
        parts.append(f'<text x="{_LEFT + _SIZE + 20}" y="{line}">{number}  {escape(name)}</text>')
    for row, (group, colour) in enumerate(_COLOURS.items()):
        x, y = _LEFT + _SIZE + 28, _TOP + 16 + 22 * row
        parts.append(f'<circle cx="{x}" cy="{y - 4}" r="8" fill="{colour}"/>')
        parts.append(
            f'<text x="{x + 16}" y="{y}">{group if group == "overall" else f"{group} pronouns"}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _axes(low: float, high: float, origin: tuple[float, float]) -> list[str]:
    x0, y0 = origin
    parts = []
    for value in range(int(low), int(high) + 1, 10):
        shift = _SIZE * (value - low) / (high - low)
        parts.append(f'<text x="{x0 + shift:.1f}" y="{y0 + 18:.1f}" text-anchor="middle">{value}</text>')
        parts.append(f'<text x="{x0 - 8:.1f}" y="{y0 - shift + 4:.1f}" text-anchor="end">{value}</text>')
    middle = _SIZE / 2
    parts.append(f'<text x="{x0 + middle}" y="{y0 + 40:.1f}" text-anchor="middle">recall, percent</text>')
    x, y = x0 - 38, y0 - middle
    parts.append(
        f'<text x="{x}" y="{y}" text-anchor="middle" transform="rotate(-90 {x} {y})">precision, percent</text>'
    )
    return parts
