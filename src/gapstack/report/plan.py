"""What a run would train: the table of ``gap run --dry-run``."""

from __future__ import annotations

from gapstack.report.render import Cell, Column, Section, Table
from gapstack.runs.estimate import CHARACTERS_PER_PIECE, REACHED, MemberPlan, RunPlan

_COLUMNS = (
    Column("encoder", "encoder"),
    Column("parameters", "parameters"),
    Column("models", "models"),
    Column("learned", "learned"),
    Column("memory", "memory GB", 1),
    Column("hours", "hours", 2),
)


def plan_table(plan: RunPlan) -> Table:
    """A line for each member: its encoder, models of all folds, parameters, memory and hours, and their sum."""
    recipe = plan.recipe
    rows = [(member.label, _cells(member)) for member in plan.members]
    known = [member.seconds for member in plan.members if member.seconds is not None]
    total: dict[str, Cell] = {
        "models": sum(member.models for member in plan.members),
        "memory": max((member.work.memory / 1e9 for member in plan.members if member.work), default=None),
        "hours": sum(known) / 3600 if known else None,
    }
    (trained, count), (held, held_count) = plan.train, plan.test
    how = " or ".join(part.label for part in recipe.stackers) if recipe.stacked else "none"
    fitted = (
        f"{trained}: {count:,} rows, {recipe.labels} labels, {recipe.folds} folds by page, seed {recipe.seed}"
    )
    predicted = f"held out {held}: {held_count:,} rows; stack: {how}"
    return Table(
        _COLUMNS,
        [Section("", [*rows, ("all members", total)])],
        title=f"{recipe.name}: {recipe.title}",
        caption=(
            f"Trained on {fitted}; {predicted}. An estimate: 2 operations for each parameter of a layer and each word "
            f"piece forwards, 4 backwards, over all epochs (early stopping may take fewer), {plan.pieces:.0f} pieces "
            f"a row ({CHARACTERS_PER_PIECE} characters each), at {REACHED:.0%} of {plan.rate / 1e9:,.0f} billion "
            f"operations a second, which this machine's products of matrices have now ({plan.machine}). Not counted: "
            "members without an encoder, parses, a first stage on other corpora, and the stack. Memory: weights, "
            "gradients, Adam's moments and activations of 1,024 pieces. A frozen encoder runs once over all rows, "
            "however many members read it; each counts it."
        ),
        name_title="member",
    )


def _cells(member: MemberPlan) -> dict[str, Cell]:
    work = member.work
    return {
        "encoder": member.encoder,
        "parameters": _millions(member.parameters),
        "models": member.models,
        "learned": _millions(work.learned) if work and work.learned else None,
        "memory": work.memory / 1e9 if work else None,
        "hours": None if member.seconds is None else member.seconds / 3600,
    }


def _millions(count: int | None) -> str | None:
    return None if count is None else f"{count / 1e6:.1f} M"
