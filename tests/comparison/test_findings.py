"""Findings are claims that the comparison bears out, each with its test."""

from dataclasses import replace

import numpy as np

from gapstack.comparison.findings import findings


def test_the_first_says_who_is_best_whom_it_beats_and_what_cannot_be_told(made):
    first, *_ = findings(made)
    interval = made.main.interval("good", "logloss")
    assert first.text.startswith(
        f"good is the best, logloss {interval.value:.4f} [{interval.low:.4f}, {interval.high:.4f}]: it beats middling, "
        "poor by permutation of pages (5%, Holm's correction for all pairs)."
    )
    assert "Its lead over decided is not significant" in first.text


def test_a_gap_between_the_genders_is_claimed_where_its_interval_leaves_1_out(made):
    (text,) = (finding.text for finding in findings(made) if finding.part == "plot-gaps")
    assert ("excludes 1" in text) == (
        not made.main.interval("good", "bias").low <= 1 <= made.main.interval("good", "bias").high
    )
    intervals = {**made.main.intervals, "bias": np.full((4, 3), np.nan)}
    scores = {**made.scores, made.rows.label_set: replace(made.main, intervals=intervals)}
    assert "plot-gaps" not in {finding.part for finding in findings(replace(made, scores=scores))}


def test_contributions_and_corrected_labels_are_findings_where_they_were_measured(made):
    (worth,) = (finding.text for finding in findings(made) if finding.part == "plot-added")
    assert f"logloss {made.contribution.full:.4f}. good contributes most" in worth
    assert "label-errors" not in {finding.part for finding in findings(made)}, "nothing corrects the sample"
    errors = replace(made.label_errors, corrected=np.arange(88) < 8, precision=0.5, p=1e-9)
    (labels,) = (
        finding.text
        for finding in findings(replace(made, label_errors=errors))
        if finding.part == "label-errors"
    )
    assert "change 50% of the 100" in labels
    assert "9.1% would be chance (p<0.001, hypergeometric)" in labels
    assert len(findings(replace(made, contribution=None))) == 2
