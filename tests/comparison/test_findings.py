"""Findings are claims that the comparison supports, each with its test."""

from dataclasses import replace

import numpy as np

from gapstack.comparison import report
from gapstack.comparison.findings import findings
from gapstack.display.render import text_of


def by_part(comparison):
    return {finding.part: finding.text for finding in findings(comparison)}


def test_the_first_names_the_best_and_the_members_that_it_beats(made):
    first, *_ = findings(made)
    interval = made.main.interval("good", "logloss")
    assert first.text.startswith(f"Best by logloss: “good”, {interval.value:.4f}")
    assert "significantly better than “middling”, “poor” (the closest is “middling”" in first.text
    assert "does not differ significantly from “decided”" in first.text


def test_a_gap_between_the_genders_is_claimed_where_its_interval_excludes_1(made):
    bias = made.main.interval("good", "bias")
    assert ("excludes 1" in by_part(made)["plot-gaps"]) == (not bias.low <= 1 <= bias.high)
    intervals = {**made.main.intervals, "bias": np.full((4, 3), np.nan)}
    scores = {**made.scores, made.rows.label_set: replace(made.main, intervals=intervals)}
    assert "plot-gaps" not in by_part(replace(made, scores=scores))


def test_contributions_are_a_finding_where_they_were_measured(made):
    most = made.contribution.members[int(np.argmax(made.contribution.left_out[:, 0]))]
    assert f"logloss {made.contribution.full:.4f}" in by_part(made)["plot-added"]
    assert f"without “{most}”" in by_part(made)["plot-added"]
    assert "plot-added" not in by_part(replace(made, contribution=None))


def test_a_terminal_shows_the_scores_and_ends_with_the_verdict(made):
    *lines, verdict = report(made).parts
    assert len(lines) == 1
    assert verdict.startswith("Best by logloss: “good”")
    assert len(text_of(report(made).parts).splitlines()) < 40
    assert len(report(made, full=True).tables) > 5


def test_the_best_by_f1_is_named_where_it_is_another(made):
    f1 = made.main.intervals["f1_overall"].copy()
    f1[:, 0] = (90, 99, 80, 70)
    scores = replace(made.main, intervals={**made.main.intervals, "f1_overall": f1})
    (other,) = (
        one.text
        for one in findings(replace(made, scores={**made.scores, made.rows.label_set: scores}))
        if one.text.startswith("Best by F1")
    )
    assert "“middling”, 99.0" in other
    assert "number 2 of 4 by logloss" in other


def test_the_repr_is_short(made):
    lines = repr(made).splitlines()
    assert len(lines) <= 10
    assert lines[1].startswith("good, logloss")
