"""The tables of Webster et al. 2018, the paper's figures beside ours.

Published figures come from ``webster2018_paper.json``; unverified ones are null there and "-" in the tables.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from gapstack.corpus import Corpus
from gapstack.members.transformer_single import TransformerSingle
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.reproduce.difficulty import cross_table
from gapstack.reproduce.webster2018_systems import Systems
from gapstack.scoring import Scores, gold_decisions
from gapstack.text.scenes import Setting

PAPER: dict[str, Any] = json.loads(
    files("gapstack.reproduce").joinpath("webster2018_paper.json").read_text(encoding="utf-8")
)
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


def _beside(
    scores: Mapping[str, Scores], paper: Mapping[str, list[float]]
) -> list[tuple[str, dict[str, Cell]]]:
    """Rows with the paper's figures and ours; those of the paper alone come first."""
    names = [*(name for name in paper if name not in scores), *scores]
    return [
        (name, {**(_theirs(paper.get(name))), **(_ours(scores[name]) if name in scores else {})})
        for name in names
    ]


def off_the_shelf(systems: Systems) -> Table:
    """Table 4: off-the-shelf resolvers on the development split."""
    rows = _beside(systems.resolver_scores(), PAPER["off_the_shelf_development"])
    return Table(
        _columns(),
        [Section("", rows)],
        title=f"Table 4: off-the-shelf resolvers, {systems.corpus.name}",
        caption="The paper's four resolvers are not available; where ours has a row, its decisions are.",
        name_title="resolver",
    )


def cue_table(number: str, systems: Systems, setting: Setting) -> Table:
    """Tables 6 and 7: every cue in one setting."""
    rows = _beside(systems.scores(systems.cues[setting]), PAPER[setting.value])
    return Table(
        _columns(),
        [Section("", rows)],
        title=f"{number}: cues in {setting.value}, {systems.corpus.name}",
        caption="The transformer cues are fitted on the validation split.",
        name_title="cue",
    )


def head_table(single: TransformerSingle, validation: Corpus) -> Table:
    """Table 8: F1 of each attention head."""
    table = single.head_table(validation)
    rows = [
        (f"L{layer}", {f"H{head}": float(f1) for head, f1 in enumerate(row)})
        for layer, row in enumerate(table)
    ]
    paper = PAPER["heads"]
    return Table(
        [Column(f"H{head}", f"H{head}", 1) for head in range(table.shape[1])],
        [Section("", rows)],
        title=f"Table 8: overall F1 of each attention head, gold-two-mention, {validation.name}",
        caption=(
            f"Best head: L{single.layer_}H{single.head_}. The paper's is {paper['best']}, of {paper['layers']} layers "
            f"of {paper['heads']} heads of a translation model; its other figures are not known to us."
        ),
        name_title="layer",
    )


def against_parallelism(systems: Systems) -> Table:
    """Table 9: where the transformer cues and Parallelism are right."""
    gold, decided = gold_decisions(systems.corpus), systems.cues[Setting.GOLD_TWO_MENTION]
    sections = []
    for name in ("Transformer-Single", "Transformer-Multi"):
        shares = cross_table(gold, decided["Parallelism"], decided[name])
        sections.append(
            Section(
                name,
                [
                    (f"Parallelism {verdict}", {"right": float(row[0]), "wrong": float(row[1])})
                    for verdict, row in zip(("right", "wrong"), shares, strict=True)
                ],
            )
        )
    return Table(
        [Column("right", "transformer right", 1), Column("wrong", "transformer wrong", 1)],
        sections,
        title=f"Table 9: Transformer against Parallelism, percent of rows, gold-two-mention, {systems.corpus.name}",
        caption="A row is right when both decisions are. The paper's figures are not known to us.",
    )


def test_table(systems: Systems) -> Table:
    """Table 10: the test split."""
    paper: dict[str, list[float]] = dict(PAPER["test"])
    lee = {"Lee et al. (2017)": paper.pop("Lee et al. (2017)")}
    known = {"off the shelf": lee, "snippet-context": paper}
    return Table(
        _columns(),
        [Section(title, _beside(scores, known.get(title, {}))) for title, scores in _parts(systems)],
        title=f"Table 10: {systems.corpus.name}",
        caption="The setting of the paper's cues on test is taken to be snippet-context, by their height.",
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
        caption="Ours alone; the paper's figures are not known to us.",
        name_title="system",
    )


def _parts(systems: Systems) -> list[tuple[str, dict[str, Scores]]]:
    """Scores of all available systems, in sections."""
    settings = (Setting.SNIPPET_CONTEXT, Setting.GOLD_TWO_MENTION)
    cues = [(setting.value, systems.scores(systems.cues[setting])) for setting in settings]
    return [("off the shelf", systems.resolver_scores()), *cues]


def difficulty_table(*splits: Systems) -> Table:
    """Table 11: agreement with gold, from the easiest rows to the hardest."""
    found = {systems.corpus.name: systems.difficulty() for systems in splits}
    most = max(len(difficulty.systems) for difficulty in found.values())
    columns = [Column("paper", "paper %", 1)]
    rows: list[tuple[str, dict[str, Cell]]] = [(f"{most - i} right", {}) for i in range(most + 1)]
    paper = PAPER["agreement_with_gold"]
    for i, share in enumerate(paper["shares"] if most == paper["systems"] else []):
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
