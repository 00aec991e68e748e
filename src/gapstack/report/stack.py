"""What ``gap stack`` prints: the files, and what they are worth together."""

from __future__ import annotations

from gapstack.report.render import Table
from gapstack.report.scores import ScoreRow, scores_table
from gapstack.runs.choice import told
from gapstack.runs.file_stack import FileStack
from gapstack.scoring import score
from gapstack.scoring.intervals import bootstrap, contributions

METRICS = ("logloss", "f1_masculine", "f1_feminine", "f1_overall", "bias", "accuracy", "ece")


def stack_table(found: FileStack) -> Table:
    """Score each file and the nested stack, with the stack's interval and how it was chosen."""
    rows = found.rows
    answers = {**found.members, "stack": found.nested.out_of_fold}
    lines: list[ScoreRow] = [(name, score(rows, probabilities)) for name, probabilities in answers.items()]
    replicates = bootstrap(rows.groups, {"stack": contributions(rows, found.nested.out_of_fold)})
    loss, f1 = (replicates.interval("stack", metric) for metric in ("logloss", "f1_overall"))
    caption = (
        f"{told(found.nested)}. 95% intervals, pages resampled: logloss {loss.low:.4f} to {loss.high:.4f}, "
        f"F1 {f1.low:.1f} to {f1.high:.1f}. The stack's row is nested: no answer comes from a fit, a choice or a "
        "calibration that saw its fold. Files whose makers learned from these labels make it optimistic."
    )
    heading = f"{rows.name}, {len(rows)} rows, {rows.label_set} labels"
    return scores_table({heading: lines}, caption=caption, metrics=METRICS, name_title="file")
