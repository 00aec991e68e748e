"""Findings of a comparison as sentences: each a claim with its test, and the part of the page that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gapstack.comparison.analysis import RANKED, BlendContribution, Comparison, LabelErrors
from gapstack.display.render import Column, metric_column
from gapstack.evaluation import METRICS, Interval

_NAMED = 3  # members named in a sentence; of more their number is given


class ComparisonFinding(NamedTuple):
    """A sentence, and the id of the element that shows more."""

    text: str
    part: str


def findings(comparison: Comparison) -> list[ComparisonFinding]:
    """The findings, the main one first: who is best, the genders, what is worth keeping, the labels."""
    result = [_best(comparison)]
    if not np.isnan(comparison.main.interval(comparison.names[0], "bias")).any():
        result.append(_genders(comparison))
    if comparison.contribution:
        result.append(_worth(comparison.contribution))
    if comparison.label_errors and comparison.label_errors.corrected is not None:
        result.append(_labels(comparison.label_errors))
    return result


def _best(comparison: Comparison) -> ComparisonFinding:
    best = comparison.names[0]
    metric = "f1_overall" if np.isnan(comparison.main.points("logloss")[0]) else "logloss"
    score = metric_column(metric).show(comparison.main.interval(best, metric))
    verdicts = dict(zip(comparison.names[1:], comparison.against_best(), strict=True))
    if not verdicts:
        return ComparisonFinding(f"{best} has {METRICS[metric].title} {score}, 95% interval.", "plot-scores")
    beaten = [name for name, verdict in verdicts.items() if verdict.outcome == "worse"]
    level = {name: verdict for name, verdict in verdicts.items() if name not in beaten}
    text = (
        f"{best} is the best, {METRICS[metric].title} {score}: it beats {_count(beaten, len(verdicts))} "
        "by permutation of pages (5%, Holm's correction for all pairs)."
    )
    if level:
        name, nearest = min(level.items(), key=lambda item: abs(item[1].difference.value))
        difference = metric_column(nearest.metric).show(nearest.difference)
        text += (
            f" Its lead over {_count(list(level), len(verdicts))} is not significant; {name} is nearest, at a "
            f"difference of {difference}."
        )
    return ComparisonFinding(text, "plot-forest")


def _genders(comparison: Comparison) -> ComparisonFinding:
    best, names = comparison.names[0], comparison.names
    intervals = {name: comparison.main.interval(name, "bias") for name in names}
    low = [name for name, interval in intervals.items() if interval.high < 1]
    high = [name for name, interval in intervals.items() if interval.low > 1]
    verdict = (
        "excludes 1, a significant difference"
        if best in low + high
        else "includes 1: no significant difference"
    )
    f1 = [f"{comparison.main.points(metric)[0]:.1f}" for metric in ("f1_masculine", "f1_feminine")]
    text = (
        f"{best} has F1 {f1[0]} on masculine and {f1[1]} on feminine pronouns, bias "
        f"{metric_column('bias').show(intervals[best])}: its 95% interval {verdict}."
    )
    if len(names) > 1:
        text += f" The interval lies below 1, against feminine pronouns, for {_count(low, len(names))}"
        text += f", above 1 for {_count(high, len(names))}." if high else "."
    return ComparisonFinding(text, "plot-gaps")


def _worth(found: BlendContribution) -> ComparisonFinding:
    most = int(np.argmax(found.shapley[:, 0]))
    needed = [name for name, (_, low, _) in zip(found.members, found.left_out, strict=True) if low > 0]
    shapley = Column("", "", 4).show(Interval(*found.shapley[most]))
    text = (
        f"A blend of all has logloss {found.full:.4f}. {found.members[most]} contributes most to it, {shapley} nats by "
        f"Shapley value. Leaving one out raises its logloss, by the 95% interval, in the case of "
        f"{_count(needed, len(found.members))}."
    )
    return ComparisonFinding(text, "plot-added")


def _labels(found: LabelErrors) -> ComparisonFinding:
    assert found.corrected is not None
    assert found.p is not None
    chance = "p<0.001" if found.p < 0.001 else f"p={found.p:.3f}"
    text = (
        f"Confident learning flags {len(found.rows):,} labels. Published corrections change {found.precision:.0%} of "
        f"the {RANKED} labels of lowest quality, where {found.corrected.mean():.1%} would be chance "
        f"({chance}, hypergeometric)."
    )
    return ComparisonFinding(text, "label-errors")


def _count(names: Sequence[str], total: int) -> str:
    """Few members by name, more by number."""
    return ", ".join(names) if 0 < len(names) <= _NAMED else f"{len(names) or 'none'} of {total}"
