"""The papers' figures by panel of the audit, in the panels' measures and units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gapstack.corpus.papers import paper

Figures = dict[str, dict[str, float]]

_BY_POLARITY = {"positive": 0, "negative": 3}  # first column in table 4


def published(panel: str) -> Figures:
    """Figures of papers by system and measure for a panel's key; empty where there are none, or none at hand."""
    return _published().get(panel, {})


def _published() -> Mapping[str, Figures]:
    rudinger, dawkins = paper("rudinger2018"), paper("dawkins2021")
    found: dict[str, Figures] = {}
    if rudinger:
        found |= _winogender(rudinger)
    if dawkins:
        found |= _sowinobias(dawkins)
    return found


def _winogender(figures: Mapping[str, Any]) -> dict[str, Figures]:
    """Section 4 of Rudinger et al. 2018 and its tables 1 and 2."""
    text, systems = figures["text"], tuple(figures["systems"])
    correlation = figures["table1_correlation"]
    by_gender = ("occupation_masculine", "occupation_feminine", "occupation_neutral")
    return {
        "winogender.resolved": {
            f"{system} (paper)": {
                "flips": text["minimal_pairs_resolved_differently_percent"][system],
                **dict(zip(by_gender, text["resolved_as_occupation_percent"][system], strict=True)),
            }
            for system in systems
        },
        "winogender.gotcha": {
            f"{system} (paper)": _gotcha(figures["table2_gotcha_accuracy_percent"][system])
            for system in systems
        },
        "winogender.correlation": {
            f"{system} (paper)": {
                "text": correlation["Bergsma and Lin"][system],
                "bls": correlation["BLS"][system],
            }
            for system in systems
        },
    }


def _gotcha(row: Mapping[str, list[float]]) -> dict[str, float]:
    genders = ("feminine", "masculine")
    accuracy = {f"{g}_{which}": row[which][k] for k, g in enumerate(genders) for which in ("no", "yes")}
    return accuracy | {f"{g}_fall": accuracy[f"{g}_yes"] - accuracy[f"{g}_no"] for g in genders}


def _sowinobias(figures: Mapping[str, Any]) -> dict[str, Figures]:
    """Tables 1 and 4 of Dawkins 2021, whose differences are absolute."""
    table1, table4 = figures["table1"], figures["table4_by_polarity"]
    return {
        "sowinobias.all": {
            f"{system} (paper)": _named(("pro", "anti", "average", "difference"), row[-4:])
            for system, row in table1.items()
            if system in table4 and system != "columns"
        },
        "sowinobias.polarity": {
            f"{system}, {polarity} (paper)": _named(("pro", "anti", "difference"), row[start : start + 3])
            for system, row in table4.items()
            if system in table1 and system != "columns"
            for polarity, start in _BY_POLARITY.items()
        },
    }


def _named(measures: Iterable[str], row: Iterable[float]) -> dict[str, float]:
    return {measure: float(figure) for measure, figure in zip(measures, row, strict=True)}
