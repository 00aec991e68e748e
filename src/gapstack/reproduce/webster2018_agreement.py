"""Tables 11 and 12 of Webster et al. 2018, agreement with gold and its Red pairs, and the statistics in its text.

``paper`` is :func:`gapstack.corpus.papers.paper` of webster2018; where it is empty, the tables show ours alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapstack.corpus import Corpus
from gapstack.corpus.cells import Row, read_table
from gapstack.errors import DataError, Place
from gapstack.report.render import Cell, Column, Section, Table
from gapstack.reproduce.difficulty import Difficulty
from gapstack.reproduce.webster2018_systems import Systems
from gapstack.text.cues import PAPER, Cue, measure, passes, sieve
from gapstack.text.parses import parses
from gapstack.text.scenes import Candidates, Context, Setting, scene
from gapstack.types import Bools

CATEGORIES = {
    "roles": "roles in described events",
    "syntax": "syntactic cues in complex constructions",
    "topic": "topicality, parentheticals",
    "knowledge": "domain knowledge",
    "error": "annotation error, truly ambiguous",
}
"""What a Red pair would take to resolve, as table 12 sorts them: the word in a file of annotations, and the paper's."""
RED_COLUMNS = ("id", "name", "category", "pronoun", "A", "B", "gold", "text")
_SETTING = Setting(Candidates.DETECTED, Context.SNIPPET)
RED_ROWS = 75
"""Pairs that the authors sorted."""


Agreement = Sequence[tuple[Systems, Difficulty]]
"""Systems on some splits, and their agreement with gold."""


def difficulty_table(agreement: Agreement, paper: Mapping[str, Any]) -> Table:
    """Table 11: agreement with gold, from the easiest pairs to the hardest."""
    found = {systems.corpus.name: difficulty for systems, difficulty in agreement}
    theirs = paper.get("table11_agreement_with_gold", {})
    longest = max(found.values(), key=lambda difficulty: len(difficulty.systems))
    most = len(longest.systems)
    columns = [Column("paper", "paper %", 1), Column("paper_pairs", "pairs")]
    rows: list[tuple[str, dict[str, Cell]]] = [(f"{most - i} right", {}) for i in range(most + 1)]
    if most + 1 == len(theirs.get("count", ())):
        for row, share, count in zip(rows, theirs["percent"], theirs["count"], strict=True):
            row[1].update(paper=share, paper_pairs=count)
    for name, difficulty in found.items():
        columns += [Column(f"{name}_share", f"{name} %", 1), Column(f"{name}_pairs", "pairs")]
        # bins are matched from the hardest, which every number of systems has
        for row, share, count in zip(
            rows[-len(difficulty.counts) :], difficulty.shares, difficulty.counts, strict=True
        ):
            row[1][f"{name}_share"], row[1][f"{name}_pairs"] = float(share), int(count)
    coloured = [
        (f"{name} ({colour})", cells) for (name, cells), colour in zip(rows, longest.colours(), strict=True)
    ]
    used = "; ".join(f"{name}: {', '.join(difficulty.systems)}" for name, difficulty in found.items())
    return Table(
        columns,
        [Section("", coloured)],
        title="Table 11: agreement with gold, pairs by the number of systems that are right",
        caption=(
            "A row of A or B counts with the pair of that name, a row of Neither with both (footnote 21). Systems, "
            f"which are not the paper's: {used}."
        ),
        name_title="systems",
    )


def red_table(paper: Mapping[str, Any], annotations: Mapping[str, int] | None = None) -> Table:
    """Table 12: what Red pairs would take to resolve: the paper's counts, and those of a file of annotations."""
    theirs = paper.get("table12_75_red_examples", {})
    rows: list[tuple[str, dict[str, Cell]]] = [
        (
            f"{words} ({key})",
            {"paper": theirs.get(words), "ours": annotations.get(key, 0) if annotations else None},
        )
        for key, words in CATEGORIES.items()
    ]
    return Table(
        [Column("paper", "paper"), Column("ours", "yours")],
        [Section("", rows)],
        title=f"Table 12: {RED_ROWS} Red pairs",
        caption=(
            "Annotated by hand. With --output the reproduction writes red.tsv, Red pairs of our systems on "
            "development; put a category's word into its column and give the file with --red."
        ),
        name_title="category",
    )


def red_template(corpus: Corpus, difficulty: Difficulty, seed: int = 0) -> str:
    """A TSV for annotations: :data:`RED_ROWS` Red pairs at random, or all if there are fewer."""
    red = difficulty.red
    chosen = np.sort(np.random.default_rng(seed).permutation(len(red))[:RED_ROWS])
    lines = ["\t".join(RED_COLUMNS)]
    for row, name in red[chosen].tolist():
        example = corpus[row]
        gold = "" if example.label is None else example.label.name
        shown = (example.pronoun_text, example.a_text, example.b_text)
        lines.append("\t".join((example.id, "AB"[name], "", *shown, gold, example.text)))
    return "\n".join(lines) + "\n"


def read_red(path: Path) -> Counter[str]:
    """Count the categories of a filled template; rows without one do not count.

    Raises
    ------
    DataError
        With line and column: other columns than the template's, a word that is no category, or no row with one.
    """

    def category(row: Row) -> str:
        word = row["category"].strip().lower()
        if word and word not in CATEGORIES:
            raise row.error(
                "category", f"{row['category']!r} is no category", expected=f"one of {', '.join(CATEGORIES)}"
            )
        return str(word)

    counts = Counter(filter(None, read_table(Path(path), (RED_COLUMNS,), category)))
    if not counts:
        raise DataError("has no category", place=Place(path), expected="a word in the column category")
    return counts


def opposed(first: Bools, second: Bools) -> Bools:
    """Rows, (n,), on which each of two systems names one of A and B alone, and not the same."""
    one = (first.sum(axis=1) == 1) & (second.sum(axis=1) == 1)
    rows: Bools = one & (first != second).all(axis=1)
    return rows


def parallelism_choices(corpus: Corpus, parser: str | Path | None = None) -> NDArray[np.bool_]:
    """Of Parallelism over detected candidates, (n, 3): whether it chooses, is scored as A or B, is one of the two.

    A detected candidate counts as A or B where its words are a part of the name's, or the other way round; it *is* one
    of the two where their characters overlap.
    """
    found = np.zeros((len(corpus), 3), dtype=bool)
    for row, (example, tree) in enumerate(zip(corpus, parses(corpus, parser), strict=True)):
        names = scene(example, tree, Candidates.DETECTED)
        winner = sieve(passes(Cue.PARALLELISM, measure(names), PAPER))[0]
        if winner >= 0:
            span = names.spans[winner]
            is_name = span.overlaps(example.a) or span.overlaps(example.b)
            found[row] = True, names.hits[winner].any(), is_name
    return found


def statistics_table(
    agreement: Agreement, paper: Mapping[str, Any], parser: str | Path | None = None
) -> Table:
    """The statistics in the paper's text, for each split."""
    text = paper.get("text", {})
    bins = paper.get("table11_agreement_with_gold", {})
    rows: list[tuple[str, dict[str, Cell]]] = [
        ("inter-annotator kappa", {"paper": text.get("kappa")}),
        (
            "rows: Parallelism and Lee et al. (2017) opposed",
            {"paper": text.get("lee2017_against_parallelism_opposed_rows")},
        ),
    ]
    parts = [systems for systems, _ in agreement]
    for name in dict.fromkeys(name for systems in parts for name in systems.resolvers):
        cells: dict[str, Cell] = {}
        for systems in parts:
            if name in systems.resolvers:
                parallelism = systems.cues[_SETTING]["Parallelism"]
                cells[systems.corpus.name] = int(opposed(parallelism, systems.resolvers[name].decided).sum())
        rows.append((f"rows: Parallelism and {name} opposed", cells))
    shares: dict[str, Cell] = {}
    of_hits: dict[str, Cell] = {}
    for systems in parts:
        any_choice, hits, own = parallelism_choices(systems.corpus, parser).T
        shares[systems.corpus.name] = float((any_choice & ~own).sum() / max(1, any_choice.sum()))
        of_hits[systems.corpus.name] = float((hits & ~own).sum() / max(1, hits.sum()))
    key = "parallelism_predictions_scored_through_a_candidate_that_is_not_one_of_the_two_names"
    rows += [
        ("share: Parallelism's choice is neither name", {"paper": text.get(key), **shares}),
        ("share: the same, among choices scored as A or B", dict(of_hits)),
        (
            "systems right about a pair, mean",
            {
                "paper": text.get("agreement_with_gold_average_in_the_text"),
                **{systems.corpus.name: difficulty.average for systems, difficulty in agreement},
            },
        ),
    ]
    if bins:
        mean = float(np.dot(bins["systems_right"], bins["count"]) / sum(bins["count"]))
        rows.append(("the same, by the counts of table 11", {"paper": mean}))
    return Table(
        [
            Column("paper", "paper", 2),
            *(Column(systems.corpus.name, systems.corpus.name, 2) for systems in parts),
        ],
        [Section("", rows)],
        title="Statistics in the text",
        caption=(
            "Opposed: each of the two names one of A and B alone, and not the same; the paper's is of 2,000 rows of "
            "development. Parallelism chooses among detected candidates in snippet-context; its choice is "
            "one of the two names where it shares a character with one. The paper's text gives a mean of 2.1 systems, "
            "the counts of its table 11 another."
        ),
        name_title="statistic",
    )
