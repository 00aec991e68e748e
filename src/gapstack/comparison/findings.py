"""Findings of a comparison, in sentences: the best system, bias, and contributions."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gapstack.comparison.analysis import BlendContribution, Comparison
from gapstack.display.render import Column, metric_column
from gapstack.evaluation import METRICS, Interval

_NAMED = 3  # most members that a sentence names; more are counted


class ComparisonFinding(NamedTuple):
    """A claim with its test as a sentence, and the id of the page's element that shows more."""

    text: str
    part: str


def findings(comparison: Comparison) -> list[ComparisonFinding]:
    """Findings about the best system, its bias, and contributions."""
    result = [finding for finding in (_best(comparison), _best_f1(comparison)) if finding]
    if not np.isnan(comparison.main.interval(comparison.names[0], "bias")).any():
        result.append(_genders(comparison))
    if comparison.contribution:
        result.append(_worth(comparison.contribution))
    return result


def _best(comparison: Comparison) -> ComparisonFinding:
    """The best system by logloss, those that it beats significantly, and those that it does not."""
    best, metric = comparison.names[0], comparison.ranking
    text = f"Best by {METRICS[metric].title}: {_quoted(best)}, {_score(comparison, best, metric)}."
    verdicts = dict(zip(comparison.names[1:], comparison.against_best(), strict=True))
    beaten = [name for name, verdict in verdicts.items() if verdict.outcome == "worse"]
    rest = [name for name in verdicts if name not in beaten]

    def nearest(names: Sequence[str]) -> str:
        name = min(names, key=lambda name: abs(verdicts[name].difference.value))
        verdict = verdicts[name]
        by = f" {METRICS[verdict.metric].title}" if verdict.metric != metric else ""
        closest = "" if len(names) == 1 else f"the closest is {_quoted(name)}, "
        return f"{closest}difference{by} {metric_column(verdict.metric).show(verdict.difference)}"

    if beaten:
        text += f" It is significantly better than {_count(beaten, len(verdicts))} ({nearest(beaten)})."
    if rest:
        text += f" It does not differ significantly from {_count(rest, len(verdicts))} ({nearest(rest)})."
    return ComparisonFinding(text, "plot-forest" if verdicts else "plot-scores")


def _best_f1(comparison: Comparison) -> ComparisonFinding | None:
    """The system with the highest F1; None if it is also the best by logloss."""
    place = int(np.argmax(comparison.main.points("f1_overall")))
    if place == 0:
        return None
    name = comparison.names[place]
    lead = comparison.pairs["f1_overall"].compared(place, 0)
    shown = metric_column("f1_overall").show(lead)
    text = (
        f"Best by F1: {_quoted(name)}, {_score(comparison, name, 'f1_overall')}, which is number {place + 1} of "
        f"{len(comparison.names)} by logloss. Its F1 minus that of {_quoted(comparison.names[0])} is {shown} "
        f"after Holm's correction: {'a' if lead.p <= 0.05 else 'no'} significant difference."
    )
    return ComparisonFinding(text, "plot-scores")


def _score(comparison: Comparison, name: str, metric: str) -> str:
    return metric_column(metric).show(comparison.main.interval(name, metric))


def _genders(comparison: Comparison) -> ComparisonFinding:
    best, names = comparison.names[0], comparison.names
    intervals = {name: comparison.main.interval(name, "bias") for name in names}
    low = [name for name, interval in intervals.items() if interval.high < 1]
    high = [name for name, interval in intervals.items() if interval.low > 1]
    clear = best in low + high
    verdict = "excludes 1: a significant difference" if clear else "includes 1: no significant difference"
    f1 = [f"{comparison.main.points(metric)[0]:.1f}" for metric in ("f1_masculine", "f1_feminine")]
    text = (
        f"Genders: {_quoted(best)} has F1 {f1[0]} on masculine and {f1[1]} on feminine pronouns. The second divided by "
        f"the first is {metric_column('bias').show(intervals[best])}, whose interval {verdict}."
    )
    if len(names) > 1:
        text += f" Significantly worse on feminine pronouns: {_count(low, len(names))}; on masculine ones: "
        text += f"{_count(high, len(names))}."
    return ComparisonFinding(text, "plot-gaps")


def _worth(found: BlendContribution) -> ComparisonFinding:
    most = int(np.argmax(found.left_out[:, 0]))
    needed = [name for name, (_, low, _) in zip(found.members, found.left_out, strict=True) if low > 0]
    rise = Column("", "", 4).show(Interval(*found.left_out[most]))
    text = (
        f"Together: a weighted average of all has logloss {found.full:.4f}. It loses most without "
        f"{_quoted(found.members[most])}: {rise}. Leaving one out makes it significantly worse for "
        f"{_count(needed, len(found.members))}."
    )
    return ComparisonFinding(text, "plot-added")


def _quoted(name: str) -> str:
    """A system's name in quotation marks."""
    return f"\u201c{name}\u201d"


def _count(names: Sequence[str], total: int) -> str:
    """Up to three members by name, others by number."""
    return (
        ", ".join(map(_quoted, names)) if 0 < len(names) <= _NAMED else f"{len(names) or 'none'} of {total}"
    )
