"""The table that ends a run: members, stack and degenerate rows, out of fold and held out."""

from __future__ import annotations

from gapstack.corpus import Corpus
from gapstack.report.render import Cell, Table
from gapstack.report.scores import ScoreRow, scores_table
from gapstack.runs import Result, Run
from gapstack.scoring import degenerate_scores, score

OUT_OF_FOLD, HELD_OUT = "out of fold", "held out"


def comparison(run: Run, *, parameters: bool = False) -> Table:
    """Score everything that a run produced.

    Seconds are what a member cost on all rows of both parts when it was computed: its views, its fits on every
    fold and its predictions. With ``parameters`` the table, which then outgrows a terminal, also says how many
    numbers one fold's fit learned and keeps as arrays.
    """
    results = [*run.members, *([run.stack] if run.stack else [])]
    parts = {OUT_OF_FOLD: run.train, HELD_OUT: run.test}
    sections = {
        _heading(part, corpus): _rows(part, corpus, results, parameters) for part, corpus in parts.items()
    }
    degenerate = {
        _heading(part, corpus): degenerate_scores(corpus, run.train.labels) for part, corpus in parts.items()
    }
    return scores_table(sections, degenerate=degenerate, title=run.recipe.title, caption=run.stack_note)


def _heading(part: str, corpus: Corpus) -> str:
    return f"{part}: {corpus.name}, {len(corpus)} rows, {corpus.label_set} labels"


def _rows(part: str, corpus: Corpus, results: list[Result], parameters: bool) -> list[ScoreRow]:
    return [
        (
            result.label,
            score(corpus, result.out_of_fold if part == OUT_OF_FOLD else result.test),
            {
                "seconds": result.seconds,
                **({"parameters": result.parameters or None} if parameters else {}),
                **_not_for(result),
            },
        )
        for result in results
    ]


def _not_for(result: Result) -> dict[str, Cell]:
    """What a member that learned from other data must not be scored on; the column is there if any member has it."""
    return {"not for": ", ".join(result.contaminated_by)} if result.contaminated_by else {}
