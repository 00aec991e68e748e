"""The papers' figures by panel of the audit, in the panels' measures and units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    if not figures or panel not in _PANELS:
        return {}
    return {f"{system} (paper)": row for system, row in _PANELS[panel](figures).items()}


def _resolved(figures: Mapping[str, Any]) -> Figures:
    """Section 4 of Rudinger et al. 2018."""
    text = figures["text"]
    flips, shares = (
        text[f"{key}_percent"] for key in ("minimal_pairs_resolved_differently", "resolved_as_occupation")
    )
    measures = ("occupation_masculine", "occupation_feminine", "occupation_neutral")
    return {
        system: {"flips": flips[system], **dict(zip(measures, shares[system], strict=True))}
        for system in figures["systems"]
    }


def _gotcha(figures: Mapping[str, Any]) -> Figures:
    """Table 2 of Rudinger et al. 2018."""
    found: Figures = {}
    for system in figures["systems"]:
        row = figures["table2_gotcha_accuracy_percent"][system]
        cells = found[system] = {}
        for column, gender in enumerate(("feminine", "masculine")):
            cells |= {f"{gender}_{kind}": row[kind][column] for kind in ("no", "yes")}
            cells[f"{gender}_fall"] = row["yes"][column] - row["no"][column]
    return found


def _correlation(figures: Mapping[str, Any]) -> Figures:
    """Table 1 of Rudinger et al. 2018."""
    text, bls = (figures["table1_correlation"][key] for key in ("Bergsma and Lin", "BLS"))
    return {system: {"text": text[system], "bls": bls[system]} for system in figures["systems"]}


def _sowinobias(figures: Mapping[str, Any]) -> Figures:
    """Tables 1 and 4 of Dawkins 2021, whose differences are absolute: both polarities, and each."""
    found: Figures = {}
    for system, parts in figures["table4_by_polarity"].items():
        if system in figures["table1"] and system != "columns":
            rows = {
                system: (("pro", "anti", "average", "difference"), figures["table1"][system][-4:]),
                f"{system}, positive": (("pro", "anti", "difference"), parts[:3]),
                f"{system}, negative": (("pro", "anti", "difference"), parts[3:]),
            }
            found |= {
                name: dict(zip(keys, map(float, row), strict=True)) for name, (keys, row) in rows.items()
            }
    return found


_PANELS: Mapping[str, Callable[[Mapping[str, Any]], Figures]] = {
    "winogender.resolved": _resolved,
    "winogender.gotcha": _gotcha,
    "winogender.correlation": _correlation,
    "sowinobias.all": lambda figures: {k: v for k, v in _sowinobias(figures).items() if "average" in v},
    "sowinobias.polarity": lambda figures: {
        k: v for k, v in _sowinobias(figures).items() if "average" not in v
    },
}
