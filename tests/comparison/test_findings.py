"""Findings are claims that the comparison supports, each with its test."""

from dataclasses import replace

import numpy as np

from gapstack.comparison.page import findings


def by_part(comparison):
    return {finding.part: finding.text for finding in findings(comparison)}


def test_the_first_names_the_best_and_the_members_that_it_beats(made):
    first, *_ = findings(made)
    interval = made.main.interval("good", "logloss")
    assert first.text.startswith(f"good is the best, logloss {interval.value:.4f}")
    assert "beats middling, poor" in first.text


def test_a_gap_between_the_genders_is_claimed_where_its_interval_excludes_1(made):
    bias = made.main.interval("good", "bias")
    assert ("excludes 1" in by_part(made)["plot-gaps"]) == (not bias.low <= 1 <= bias.high)
    intervals = {**made.main.intervals, "bias": np.full((4, 3), np.nan)}
    scores = {**made.scores, made.rows.label_set: replace(made.main, intervals=intervals)}
    assert "plot-gaps" not in by_part(replace(made, scores=scores))


def test_contributions_and_corrected_labels_are_findings_where_they_were_measured(made):
    assert f"logloss {made.contribution.full:.4f}. good contributes most" in by_part(made)["plot-added"]
    assert "label-errors" not in by_part(made), "nothing corrects the sample"
    errors = replace(made.label_errors, corrected=np.arange(88) < 8, precision=0.5, p=1e-9)
    assert "50% of the 100" in by_part(replace(made, label_errors=errors))["label-errors"]
    assert "plot-added" not in by_part(replace(made, contribution=None))
