"""The papers' figures by panel of the audit, in the panels' measures and units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gapstack.data.sources import paper

PAPERS = {"winogender": "rudinger2018", "sowinobias": "dawkins2021"}
"""Papers whose figures are shown for a suite."""

Figures = dict[str, dict[str, float]]


def published(panel: str, data: Path | None = None) -> Figures:
    """Papers' figures by system and measure for a panel's key; empty where there are none, or no file of theirs."""
    suite = panel.partition(".")[0]
    figures = paper(PAPERS[suite], data) if suite in PAPERS else {}
    return _PANELS[panel](figures) if figures and panel in _PANELS else {}


def _resolved(figures: Mapping[str, Any]) -> Figures:
    """Section 4 of Rudinger et al. 2018."""
    text = figures["text"]
    flips, resolved = (
        text["minimal_pairs_resolved_differently_percent"],
        text["resolved_as_occupation_percent"],
    )
    measures = ("occupation_masculine", "occupation_feminine", "occupation_neutral")
    return {
        f"{system} (paper)": {"flips": flips[system], **dict(zip(measures, resolved[system], strict=True))}
        for system in figures["systems"]
    }


def _gotcha(figures: Mapping[str, Any]) -> Figures:
    """Table 2 of Rudinger et al. 2018."""
    found: Figures = {}
    for system in figures["systems"]:
        row = figures["table2_gotcha_accuracy_percent"][system]
        cells = found[f"{system} (paper)"] = {}
        for column, gender in enumerate(("feminine", "masculine")):
            cells |= {f"{gender}_{kind}": row[kind][column] for kind in ("no", "yes")}
            cells[f"{gender}_fall"] = row["yes"][column] - row["no"][column]
    return found


def _correlation(figures: Mapping[str, Any]) -> Figures:
    """Table 1 of Rudinger et al. 2018."""
    table = figures["table1_correlation"]
    return {
        f"{system} (paper)": {"text": table["Bergsma and Lin"][system], "bls": table["BLS"][system]}
        for system in figures["systems"]
    }


def _sowinobias(figures: Mapping[str, Any]) -> Figures:
    """Table 1 of Dawkins 2021, whose differences are absolute."""
    table = figures["table1"]
    measures = ("pro", "anti", "average", "difference")
    return {f"{system} (paper)": _by_measure(measures, table[system][-4:]) for system in _spaces(figures)}


def _polarities(figures: Mapping[str, Any]) -> Figures:
    """Table 4 of Dawkins 2021."""
    table = figures["table4_by_polarity"]
    return {
        f"{system}, {polarity} (paper)": _by_measure(
            ("pro", "anti", "difference"), table[system][start : start + 3]
        )
        for system in _spaces(figures)
        for polarity, start in (("positive", 0), ("negative", 3))
    }


def _spaces(figures: Mapping[str, Any]) -> list[str]:
    """Systems in both tables of SoWinoBias."""
    return [name for name in figures["table1"] if name in figures["table4_by_polarity"] and name != "columns"]


def _by_measure(measures: Iterable[str], row: Iterable[float]) -> dict[str, float]:
    return {measure: float(figure) for measure, figure in zip(measures, row, strict=True)}


_PANELS = {
    "winogender.resolved": _resolved,
    "winogender.gotcha": _gotcha,
    "winogender.correlation": _correlation,
    "sowinobias.all": _sowinobias,
    "sowinobias.polarity": _polarities,
}
