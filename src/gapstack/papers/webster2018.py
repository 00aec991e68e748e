"""The tables of Webster et al. 2018 (Mind the GAP): ``gap reproduce webster2018``.

Members are fitted on GAP validation, as in the paper. ``paper`` is :func:`gapstack.data.sources.paper` of webster2018.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.audits.plots import precision_recall_svg
from gapstack.data import Corpus
from gapstack.data.folds import make_folds
from gapstack.data.gap_data import GapData
from gapstack.data.sources import find, paper
from gapstack.display.render import Cell, Column, Section, SectionRows, Table
from gapstack.display.report import Report
from gapstack.evaluation import Scores, gold_decisions
from gapstack.language.parses import heads_of
from gapstack.language.scenes import Candidates, Setting
from gapstack.members.transformer import TransformerSingle
from gapstack.papers.webster2018_agreement import (
    difficulty_of,
    difficulty_table,
    read_red,
    red_table,
    red_template,
    statistics_table,
)
from gapstack.papers.webster2018_corpus import (
    annotation_table,
    diversity_table,
    ontonotes_table,
    patterns_table,
)
from gapstack.papers.webster2018_systems import DETECTED, FittedCues, Systems, read_resolvers
from gapstack.types import Bools, Floats

TITLE = "Webster, Recasens, Axelrod and Baldridge 2018, Mind the GAP (TACL 6)"
_DRAWN = ("Syntactic Distance", "Parallelism", "Transformer-Single", "Transformer-Multi")
_OFF_THE_SHELF = "off the shelf"
_SCORES = {"masculine": "M", "feminine": "F", "bias": "B", "overall": "O"}
_SCORE_COLUMNS = [
    Column(prefix + name, title + letter, 2 if name == "bias" else 1, "high" if name == "overall" else None)
    for prefix, title in (("paper_", "paper "), ("", "ours "))
    for name, letter in _SCORES.items()
]


def reproduce(
    gap: GapData,
    encoder: str | None = None,
    parser: str | Path | None = None,
    *,
    red: Path | None = None,
    seed: int = 0,
) -> Report:
    """Compute the paper's tables, the statistics in its text and figure 1; table 12 from an annotated ``red.tsv``."""
    annotations = read_red(red) if red else None
    splits = dict(gap.splits)
    if not {"development", "validation", "test"} <= splits.keys():
        folds = make_folds(gap.train, 5, seed=seed).assignment
        parts = {"development": folds > 0, "validation": folds == 0}
        splits = {name: gap.train.take(np.flatnonzero(part)) for name, part in parts.items()}
        splits["test"] = gap.test
    folder = None if gap.is_sample else find("resolvers")
    fitted = [
        FittedCues(splits["validation"], candidates, encoder, parser, seed)
        for candidates in ("detected", "gold-two-mention")
    ]

    def decide(split: str) -> Systems:
        corpus = splits[split]
        cues = {setting: decisions for each in fitted for setting, decisions in each.decide(corpus).items()}
        resolvers = read_resolvers(corpus, split, folder, heads_of(corpus, parser)) if folder else {}
        return Systems(corpus, resolvers, cues)

    development, test = decide("development"), decide("test")
    theirs = paper("webster2018")
    agreement = [(systems, difficulty_of(systems)) for systems in (development, test)]
    tables = (
        patterns_table(splits, parser),
        diversity_table(splits, theirs),
        annotation_table(splits, theirs),
        off_the_shelf(development, theirs),
        ontonotes_table(theirs),
        cue_table(6, development, "detected", theirs),
        cue_table(7, development, "gold-two-mention", theirs),
        head_table(fitted[0].single, {s: splits[s] for s in ("validation", "development")}, theirs),
        against_parallelism(development, theirs),
        rates_table(development),
        test_table(test, theirs),
        rates_table(test),
        difficulty_table(agreement, theirs),
        red_table(theirs, annotations),
        statistics_table(agreement, theirs, parser),
    )
    drawn = {name: development.cues[DETECTED][name] for name in _DRAWN}
    scores = development.resolver_scores() | development.scores(drawn)
    title = f"Figure 1: precision and recall by gender, {DETECTED}, {development.corpus.name}"
    files = {
        "figure1.svg": precision_recall_svg({name: score.gap for name, score in scores.items()}, title),
        "red.tsv": red_template(development.corpus, agreement[0][1], seed),
    }
    notes = [
        f"{TITLE}.",
        f"Data: {gap.source}, {test.corpus.label_set} labels. The transformer cues are fitted on "
        f"{splits['validation'].name} ({len(splits['validation'])} rows).",
        "Figure 1 shows the available systems, cues in snippet-context.",
        "neuralcoref (spring 2019) was given only texts of up to 500 characters; on other rows it counts as FALSE "
        "for both names. e2e-coref has decisions for test only."
        if folder
        else "No off-the-shelf resolver's decisions were found, so their rows are missing.",
    ]
    return Report("webster2018", tables, notes, files=files, title=TITLE)


def published(
    figures: Mapping[str, Any], table: str, names: Iterable[str] | None = None
) -> dict[str, list[float]]:
    """Rows of one of the paper's tables of scores by system, all or those in ``names``."""
    rows = figures[table]
    chosen = rows.keys() - {"columns"} if names is None else names
    return {name: row for name, row in rows.items() if isinstance(row, list) and name in chosen}


def _scores(title: str, scores: Mapping[str, Scores], theirs: Mapping[str, list[float]]) -> Section:
    """The paper's scores and ours; systems that only the paper has come first."""
    rows: dict[str, dict[str, Cell]] = {name: {} for name in theirs if name not in scores}
    for name in (*rows, *scores):
        keys = (f"paper_{key}" for key in _SCORES)
        cells = rows[name] = dict(zip(keys, theirs.get(name, [None] * 4), strict=True))
        if ours := scores.get(name):
            cells |= zip(
                _SCORES, (ours.f1_masculine, ours.f1_feminine, ours.bias, ours.f1_overall), strict=True
            )
    return Section(title, list(rows.items()))


def off_the_shelf(systems: Systems, paper: Mapping[str, Any]) -> Table:
    """Table 4: off-the-shelf resolvers on the development split."""
    theirs = published(paper, "table4_off_the_shelf_development")
    return Table(
        _SCORE_COLUMNS,
        [_scores("", systems.resolver_scores(), theirs)],
        f"Table 4: off-the-shelf resolvers, {systems.corpus.name}",
        "The paper's four resolvers are not available. As in the paper, mentions of neuralcoref's clusters are "
        "aligned by their head words, here those of our parser.",
        "resolver",
    )


def cue_table(number: int, systems: Systems, candidates: Candidates, paper: Mapping[str, Any]) -> Table:
    """Tables 6 and 7: every cue over the same candidates, in the context that it reads."""
    which = "detected_candidates" if candidates == "detected" else "gold_two_mention"
    key = f"table{number}_development_{which}"
    return Table(
        _SCORE_COLUMNS,
        [
            _scores(str(setting.context), systems.scores(decided), published(paper, key, decided))
            for setting, decided in systems.cues.items()
            if setting.candidates == candidates
        ],
        f"Table {number}: cues, {Setting(candidates).names}, {systems.corpus.name}",
        "Random is one draw. The transformer cues and the trees are fitted on the validation split, as in the "
        "paper. All cues is ExtraTrees over the decisions of the others; the paper's footnote 20 says only that it "
        "performed like Parallelism, the rest is our reading.",
        "cue",
    )


def head_table(single: TransformerSingle, splits: Mapping[str, Corpus], paper: Mapping[str, Any]) -> Table:
    """Table 8: F1 of each attention head on each of the splits, detected candidates, snippet-context."""
    # (heads, layers)
    grids: dict[str, Floats] = {"paper, translation model": np.array(paper["table8_attention_heads"]["f1"])}
    grids |= {f"ours, {split}": single.head_table(corpus).T for split, corpus in splits.items()}
    sections, best = [], []
    for title, grid in grids.items():
        rows = [(f"H{h}", {f"L{i}": float(f1) for i, f1 in enumerate(row)}) for h, row in enumerate(grid)]
        sections.append(Section(title, rows))
        head, layer = np.unravel_index(grid.argmax(), grid.shape)
        best.append(f"{title}: L{layer}H{head} {grid.max():.1f}")
    return Table(
        [Column(f"L{i}", f"L{i}", 1) for i in range(max(grid.shape[1] for grid in grids.values()))],
        sections,
        "Table 8: overall F1 of each attention head, by layer, detected candidates, snippet-context",
        f"Best head: {'; '.join(best)}. Ours in table 6 is L{single.layer_}H{single.head_}, the best on the "
        "validation split. The paper's caption says validation; its text says development, as its best figure is "
        "that of table 6.",
        "head",
    )


def against_parallelism(systems: Systems, paper: Mapping[str, Any]) -> Table:
    """Table 9: where the transformer cues and Parallelism are right."""
    gold, decided = gold_decisions(systems.corpus), systems.cues[DETECTED]
    theirs = paper["table9_parallelism_against_transformer_single"]
    correct = ("transformer correct, parallelism correct", "transformer incorrect, parallelism correct")
    keys = (correct, ("transformer correct, parallelism incorrect", "both incorrect"))
    sections = []
    for name in ("Transformer-Single", "Transformer-Multi"):
        shares = pair_shares(gold, decided["Parallelism"], decided[name]).tolist()
        rows: list[tuple[str, dict[str, Cell]]] = []
        for verdict, ours, published_keys in zip(("right", "wrong"), shares, keys, strict=True):
            cells: dict[str, Cell] = dict(zip(("right", "wrong"), ours, strict=True))
            if name == "Transformer-Single":
                cells |= zip(("paper_right", "paper_wrong"), map(theirs.get, published_keys), strict=True)
            rows.append((f"Parallelism {verdict}", cells))
        sections.append(Section(name, rows))
    return Table(
        [
            Column(f"{prefix}{verdict}", f"{title} {verdict}", 1)
            for prefix, title in (("paper_", "paper"), ("", "ours"))
            for verdict in ("right", "wrong")
        ],
        sections,
        f"Table 9: Transformer against Parallelism, percent of pairs, {systems.corpus.name}",
        "Columns say whether the transformer cue is right. Detected candidates, snippet-context; a pair is a "
        "pronoun and one of its two names. The paper states no unit; its margins fit pairs in this setting.",
    )


def pair_shares(gold: Bools, first: Bools, second: Bools) -> Floats:
    """Percent of pairs of pronoun and name, (2, 2): rows are the first system right and wrong, columns the second."""
    right, also = gold == first, gold == second
    return np.array([[100.0 * (a & b).mean() for b in (also, ~also)] for a in (right, ~right)])


def test_table(systems: Systems, paper: Mapping[str, Any]) -> Table:
    """Table 10: the test split."""
    key = "table10_test"
    ours = {name for decided in systems.cues.values() for name in decided}
    others = {name: row for name, row in published(paper, key).items() if name not in ours}
    sections = [_scores(_OFF_THE_SHELF, systems.resolver_scores(), others)]
    for setting, decided in systems.cues.items():
        known = published(paper, key, decided if setting.candidates == "detected" else ())
        sections.append(_scores(str(setting), systems.scores(decided), known))
    return Table(
        _SCORE_COLUMNS,
        sections,
        f"Table 10: {systems.corpus.name}",
        "The paper names no setting for its cues on test; their scores fit that of table 6, detected candidates.",
        "system",
    )


def rates_table(systems: Systems) -> Table:
    """Precision and recall by gender of every system on one split."""
    keys = [(gender, rate) for gender in ("masculine", "feminine") for rate in ("precision", "recall")]
    parts = {_OFF_THE_SHELF: systems.resolver_scores()}
    parts |= {str(setting): systems.scores(decided) for setting, decided in systems.cues.items()}

    def rows(scores: Mapping[str, Scores]) -> SectionRows:
        return [
            (name, {f"{gender}_{rate}": getattr(getattr(s.gap, gender), rate) for gender, rate in keys})
            for name, s in scores.items()
        ]

    return Table(
        [Column(f"{gender}_{rate}", f"{_SCORES[gender]} {rate}", 1) for gender, rate in keys],
        [Section(title, rows(scores)) for title, scores in parts.items() if scores],
        f"Precision and recall by gender, {systems.corpus.name}",
        "Ours alone; the paper shows precision and recall as points of its figure 1.",
        "system",
    )
