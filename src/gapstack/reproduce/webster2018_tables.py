"""The tables of Webster et al. 2018, the paper's figures beside ours.

``paper`` is :func:`gapstack.corpus.papers.paper` of webster2018; where it is empty, the tables show ours alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gapstack.corpus import Corpus
from gapstack.members.transformer_single import TransformerSingle
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.reproduce.webster2018_systems import Systems
from gapstack.scoring import Scores, gold_decisions
from gapstack.text.scenes import Candidates, Context, Setting
from gapstack.types import Bools, Floats

_OFF_THE_SHELF = "off the shelf"
_SCORES = ("masculine", "feminine", "bias", "overall")
_TITLES = {"masculine": "M", "feminine": "F", "bias": "B", "overall": "O"}


def _score_columns(prefix: str = "", title: str = "") -> list[Column]:
    return [
        Column(
            prefix + name,
            f"{title}{_TITLES[name]}",
            2 if name == "bias" else 1,
            "high" if name == "overall" else None,
        )
        for name in _SCORES
    ]


def _ours(scores: Scores) -> dict[str, Cell]:
    return dict(
        zip(_SCORES, (scores.f1_masculine, scores.f1_feminine, scores.bias, scores.f1_overall), strict=True)
    )


def _theirs(figures: list[float] | None) -> dict[str, Cell]:
    return {f"paper_{name}": figures[i] if figures else None for i, name in enumerate(_SCORES)}


def _columns() -> list[Column]:
    return [*_score_columns("paper_", "paper "), *_score_columns("", "ours ")]


def _of(figures: Mapping[str, list[float]], names: Iterable[str]) -> dict[str, list[float]]:
    """The paper's rows that have one of the names."""
    return {name: figures[name] for name in names if name in figures}


def _beside(
    scores: Mapping[str, Scores], paper: Mapping[str, list[float]]
) -> list[tuple[str, dict[str, Cell]]]:
    """Rows with the paper's figures and ours; those of the paper alone come first."""
    names = [*(name for name in paper if name not in scores), *scores]
    return [
        (name, {**(_theirs(paper.get(name))), **(_ours(scores[name]) if name in scores else {})})
        for name in names
    ]


def published(figures: Mapping[str, Any], table: str) -> dict[str, list[float]]:
    """Rows of one of the paper's tables of scores, by system; none where the paper's figures are not at hand."""
    return {
        name: row
        for name, row in figures.get(table, {}).items()
        if name != "columns" and isinstance(row, list)
    }


def off_the_shelf(systems: Systems, paper: Mapping[str, Any]) -> Table:
    """Table 4: off-the-shelf resolvers on the development split."""
    rows = _beside(systems.resolver_scores(), published(paper, "table4_off_the_shelf_development"))
    return Table(
        _columns(),
        [Section("", rows)],
        title=f"Table 4: off-the-shelf resolvers, {systems.corpus.name}",
        caption="The paper's four resolvers are not available; where ours has a row, its decisions are.",
        name_title="resolver",
    )


def cue_table(number: int, systems: Systems, candidates: Candidates, paper: Mapping[str, Any]) -> Table:
    """Tables 6 and 7: every cue over the same candidates, in the context that it reads."""
    table = {
        Candidates.DETECTED: "table6_development_detected_candidates",
        Candidates.GOLD_TWO_MENTION: "table7_development_gold_two_mention",
    }[candidates]
    figures = published(paper, table)
    sections = [
        Section(str(setting.context), _beside(systems.scores(decided), _of(figures, decided)))
        for setting, decided in systems.cues.items()
        if setting.candidates is candidates
    ]
    return Table(
        _columns(),
        sections,
        title=f"Table {number}: cues, {Setting(candidates).names}, {systems.corpus.name}",
        caption=(
            "Random is one draw. The transformer cues and the trees are fitted on the validation split, as in the "
            "paper. All cues is ExtraTrees over the "
            "decisions of the others; the paper's footnote 20 says only that it performed like Parallelism, the rest "
            "is our reading."
        ),
        name_title="cue",
    )


def head_table(single: TransformerSingle, splits: Mapping[str, Corpus], paper: Mapping[str, Any]) -> Table:
    """Table 8: F1 of each attention head on each of the splits, detected candidates, snippet-context."""
    grids = {}
    theirs = np.array(paper.get("table8_attention_heads", {}).get("f1", []))
    if len(theirs):
        grids["paper, translation model"] = theirs
    grids |= {f"ours, {split}": single.head_table(corpus).T for split, corpus in splits.items()}
    sections = [
        Section(
            title, [(f"H{h}", {f"L{i}": float(f1) for i, f1 in enumerate(row)}) for h, row in enumerate(grid)]
        )
        for title, grid in grids.items()
    ]
    best = "; ".join(f"{title}: {_best_head(grid)}" for title, grid in grids.items())
    return Table(
        [Column(f"L{i}", f"L{i}", 1) for i in range(max(grid.shape[1] for grid in grids.values()))],
        sections,
        title="Table 8: overall F1 of each attention head, by layer, detected candidates, snippet-context",
        caption=(
            f"Best head: {best}. Ours in table 6 is L{single.layer_}H{single.head_}, the best on the validation split. "
            "The paper's caption says validation; its text says development, as its best figure is that of table 6."
        ),
        name_title="head",
    )


def _best_head(grid: Floats) -> str:
    """Best cell of (heads, layers)."""
    head, layer = np.unravel_index(grid.argmax(), grid.shape)
    return f"L{layer}H{head} {grid.max():.1f}"


def against_parallelism(systems: Systems, paper: Mapping[str, Any]) -> Table:
    """Table 9: where the transformer cues and Parallelism are right."""
    gold = gold_decisions(systems.corpus)
    decided = systems.cues[Setting(Candidates.DETECTED, Context.SNIPPET)]
    theirs = paper.get("table9_parallelism_against_transformer_single", {})
    known = {
        "Parallelism right": (
            theirs.get("transformer correct, parallelism correct"),
            theirs.get("transformer incorrect, parallelism correct"),
        ),
        "Parallelism wrong": (
            theirs.get("transformer correct, parallelism incorrect"),
            theirs.get("both incorrect"),
        ),
    }
    sections = []
    for name in ("Transformer-Single", "Transformer-Multi"):
        shares = pair_shares(gold, decided["Parallelism"], decided[name])
        rows: list[tuple[str, dict[str, Cell]]] = []
        for (row, figures), own in zip(known.items(), shares, strict=True):
            cells: dict[str, Cell] = {"right": float(own[0]), "wrong": float(own[1])}
            if name == "Transformer-Single":
                cells |= {"paper_right": figures[0], "paper_wrong": figures[1]}
            rows.append((row, cells))
        sections.append(Section(name, rows))
    return Table(
        [
            Column(f"{prefix}{verdict}", f"{title} {verdict}", 1)
            for prefix, title in (("paper_", "paper"), ("", "ours"))
            for verdict in ("right", "wrong")
        ],
        sections,
        title=f"Table 9: Transformer against Parallelism, percent of pairs, {systems.corpus.name}",
        caption=(
            "Columns say whether the transformer cue is right. Detected candidates, snippet-context; a pair is a "
            "pronoun and one of its two names. The paper states no unit; its margins fit pairs in this setting."
        ),
        name_title="",
    )


def pair_shares(gold: Bools, first: Bools, second: Bools) -> Floats:
    """Percent of the 2n pairs of pronoun and name by who decides them rightly.

    (2, 2): rows are the first system, right and wrong, columns the second.
    """
    one, two = gold == first, gold == second
    return np.array([[100.0 * (a & b).mean() for b in (two, ~two)] for a in (one, ~one)])


def test_table(systems: Systems, paper: Mapping[str, Any]) -> Table:
    """Table 10: the test split."""
    figures = published(paper, "table10_test")
    ours = {name for decided in systems.cues.values() for name in decided}
    others = {name: row for name, row in figures.items() if name not in ours}
    sections = [Section(_OFF_THE_SHELF, _beside(systems.resolver_scores(), others))]
    for setting, decided in systems.cues.items():
        known = _of(figures, decided) if setting.candidates is Candidates.DETECTED else {}
        sections.append(Section(str(setting), _beside(systems.scores(decided), known)))
    return Table(
        _columns(),
        sections,
        title=f"Table 10: {systems.corpus.name}",
        caption=(
            "The paper names no setting for its cues on test; by the height of their scores it is that of table 6, "
            "detected candidates."
        ),
        name_title="system",
    )


def rates_table(systems: Systems) -> Table:
    """Precision and recall by gender of every system on one split."""
    genders = ("masculine", "feminine")

    def rates(scores: Scores) -> dict[str, Cell]:
        counts = {gender: getattr(scores.gap, gender) for gender in genders}
        return {f"{g}_{rate}": getattr(counts[g], rate) for g in genders for rate in ("precision", "recall")}

    return Table(
        [
            Column(f"{gender}_{rate}", f"{_TITLES[gender]} {rate}", 1)
            for gender in genders
            for rate in ("precision", "recall")
        ],
        [
            Section(title, [(name, rates(found)) for name, found in scores.items()])
            for title, scores in _parts(systems)
            if scores
        ],
        title=f"Precision and recall by gender, {systems.corpus.name}",
        caption="Ours alone; the paper shows precision and recall as points of its figure 1.",
        name_title="system",
    )


def _parts(systems: Systems) -> list[tuple[str, dict[str, Scores]]]:
    """Scores of all available systems, in sections."""
    cues = [(str(setting), systems.scores(decided)) for setting, decided in systems.cues.items()]
    return [(_OFF_THE_SHELF, systems.resolver_scores()), *cues]


def difficulty_table(splits: Sequence[Systems], paper: Mapping[str, Any]) -> Table:
    """Table 11: agreement with gold, from the easiest rows to the hardest."""
    found = {systems.corpus.name: systems.difficulty() for systems in splits}
    most = max(len(difficulty.systems) for difficulty in found.values())
    columns = [Column("paper", "paper %", 1)]
    rows: list[tuple[str, dict[str, Cell]]] = [(f"{most - i} right", {}) for i in range(most + 1)]
    theirs = paper.get("table11_agreement_with_gold", {}).get("percent", [])
    for i, share in enumerate(theirs if most + 1 == len(theirs) else []):
        rows[i][1]["paper"] = share
    for name, difficulty in found.items():
        columns += [Column(f"{name}_share", f"{name} %", 1), Column(f"{name}_rows", "rows")]
        # bins are matched from the hardest, which every number of systems has
        for row, share, count in zip(
            rows[-len(difficulty.counts) :], difficulty.shares, difficulty.counts, strict=True
        ):
            row[1][f"{name}_share"], row[1][f"{name}_rows"] = float(share), int(count)
    colours = ["Green", *["Yellow"] * (most - 1), "Red"]
    coloured = [(f"{name} ({colour})", cells) for (name, cells), colour in zip(rows, colours, strict=True)]
    used = "; ".join(f"{name}: {', '.join(difficulty.systems)}" for name, difficulty in found.items())
    return Table(
        columns,
        [Section("", coloured)],
        title="Table 11: agreement with gold, rows by the number of systems that are right",
        caption=f"Systems, which are not the paper's: {used}.",
        name_title="systems",
    )
