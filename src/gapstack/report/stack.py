"""The table of ``gap stack``: the files and their stack."""

from __future__ import annotations

from gapstack.comparison.results import StackScores
from gapstack.report.render import Table
from gapstack.report.scores import ScoreRow, scores_table
from gapstack.runs.choice import describe_choice

METRICS = ("logloss", "f1_masculine", "f1_feminine", "f1_overall", "bias", "accuracy", "ece")


def stack_table(scores: StackScores) -> Table:
    """Show each file and the nested stack, with the stack's intervals and how it was chosen."""
    rows = scores.stack.rows
    lines: list[ScoreRow] = list(scores.systems.items())
    loss, f1 = scores.intervals["logloss"], scores.intervals["f1_overall"]
    caption = (
        f"{describe_choice(scores.stack.nested)}. 95% intervals, pages resampled: logloss {loss.low:.4f} to "
        f"{loss.high:.4f}, F1 {f1.low:.1f} to {f1.high:.1f}. The stack's row is nested: no prediction comes from a "
        "fit, a choice or a calibration that saw its fold. Files whose makers trained on these labels make it "
        "optimistic."
    )
    heading = f"{rows.name}, {len(rows)} rows, {rows.label_set} labels"
    return scores_table({heading: lines}, caption=caption, metrics=METRICS, name_title="file")
