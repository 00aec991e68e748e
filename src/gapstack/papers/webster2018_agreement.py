"""Tables 11 and 12 of Webster et al. 2018, agreement with gold and its Red pairs, and the statistics in its text."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapstack.data import Corpus
from gapstack.data.cells import Row, read_table
from gapstack.display.render import Cell, Column, Section, Table
from gapstack.errors import DataError, Place
from gapstack.evaluation import gold_decisions
from gapstack.language.cues import PAPER, Cue, measure, passes, sieve
from gapstack.language.parses import parses
from gapstack.language.scenes import scene
from gapstack.papers.webster2018_systems import DETECTED, E2E, GOLD_TWO_MENTION, NEURALCOREF, Systems
from gapstack.types import Bools

CATEGORIES = {
    "roles": "roles in described events",
    "syntax": "syntactic cues in complex constructions",
    "topic": "topicality, parentheticals",
    "knowledge": "domain knowledge",
    "error": "annotation error, truly ambiguous",
}
"""What is needed to resolve a Red pair (table 12): the word in a file of annotations to the paper's words."""
RED_COLUMNS = ("id", "name", "category", "pronoun", "A", "B", "gold", "text")
RED_ROWS = 75  # pairs that the authors sorted
# the first four available ones are used, since the paper uses four
_BY_PRIORITY = (NEURALCOREF, E2E, "Transformer-Multi", "Parallelism", "Syntactic Distance", "Token Distance")
_COUNT = 4


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Agreement of systems with gold on m pairs (row, name), (m, 2); ``right`` (m,) counts the systems that are right.

    Pairs that all systems get right are Green, some Yellow, none Red.
    """

    systems: tuple[str, ...]
    pairs: NDArray[np.int64]
    right: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Pairs in each bin, from all systems right down to none: (systems + 1,)."""
        return np.bincount(self.right, minlength=len(self.systems) + 1)[::-1]

    @property
    def red(self) -> NDArray[np.int64]:
        """Pairs that no system gets right, (k, 2) as :attr:`pairs`."""
        return np.asarray(self.pairs[self.right == 0])


def agreement_with_gold(corpus: Corpus, decided: Mapping[str, Bools]) -> Difficulty:
    """Count the systems that are right about each pair, from their (n, 2) decisions (footnote 21)."""
    gold = gold_decisions(corpus)
    pairs = np.argwhere(gold | ~gold.any(axis=1, keepdims=True))
    right = np.sum([gold == decisions for decisions in decided.values()], axis=0)
    return Difficulty(tuple(decided), pairs, right[pairs[:, 0], pairs[:, 1]])


def difficulty_of(systems: Systems) -> Difficulty:
    """Agreement with gold of four systems: off-the-shelf resolvers first, then our cues in gold-two-mention."""
    decided = {name: resolver.decided for name, resolver in systems.resolvers.items()}
    decided |= systems.cues[GOLD_TWO_MENTION]
    chosen = [name for name in _BY_PRIORITY if name in decided][:_COUNT]
    return agreement_with_gold(systems.corpus, {name: decided[name] for name in chosen})


Agreement = Sequence[tuple[Systems, Difficulty]]
"""Systems on some splits, and their agreement with gold."""


def difficulty_table(agreement: Agreement, paper: Mapping[str, Any]) -> Table:
    """Table 11: agreement with gold, from the easiest pairs to the hardest."""
    found = {systems.corpus.name: difficulty for systems, difficulty in agreement}
    theirs = paper["table11_agreement_with_gold"]
    most = max(len(difficulty.systems) for difficulty in found.values())
    columns = [Column("paper", "paper %", 1), Column("paper_pairs", "pairs")]
    # by the number of systems that are right
    rows: dict[int, dict[str, Cell]] = {right: {} for right in range(most, -1, -1)}
    if most + 1 == len(theirs["count"]):
        for row, share, count in zip(rows.values(), theirs["percent"], theirs["count"], strict=True):
            row |= {"paper": share, "paper_pairs": count}
    for name, difficulty in found.items():
        columns += [Column(f"{name}_share", f"{name} %", 1), Column(f"{name}_pairs", "pairs")]
        for right, count in enumerate(difficulty.counts[::-1].tolist()):
            rows[right] |= {f"{name}_share": 100.0 * count / len(difficulty.right), f"{name}_pairs": count}
    used = "; ".join(f"{name}: {', '.join(difficulty.systems)}" for name, difficulty in found.items())
    colours = {most: "Green", 0: "Red"}
    return Table(
        columns,
        [Section("", [(f"{k} right ({colours.get(k, 'Yellow')})", row) for k, row in rows.items()])],
        "Table 11: agreement with gold, pairs by the number of systems that are right",
        "A row of A or B counts with the pair of that name, a row of Neither with both (footnote 21). Systems, "
        f"which are not the paper's: {used}.",
        "systems",
    )


def red_table(paper: Mapping[str, Any], annotations: Mapping[str, int] | None = None) -> Table:
    """Table 12: what is needed to resolve Red pairs: the paper's counts, and those of a file of annotations."""
    theirs = paper["table12_75_red_examples"]
    rows: list[tuple[str, dict[str, Cell]]] = []
    for key, words in CATEGORIES.items():
        ours = annotations.get(key, 0) if annotations else None
        rows.append((f"{words} ({key})", {"paper": theirs.get(words), "ours": ours}))
    return Table(
        [Column("paper", "paper"), Column("ours", "yours")],
        [Section("", rows)],
        f"Table 12: {RED_ROWS} Red pairs",
        "Annotated by hand. With --output the reproduction writes red.tsv, Red pairs of our systems on "
        "development; put a category's word into its column and give the file with --red.",
        "category",
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
    """Count the categories of a filled template; DataError for an unknown category, or none at all."""

    def category(row: Row) -> str:
        word = row["category"].strip().lower()
        if word and word not in CATEGORIES:
            expected = f"one of {', '.join(CATEGORIES)}"
            raise row.error("category", f"unknown category {row['category']!r}", expected=expected)
        return str(word)

    counts = Counter(filter(None, read_table(Path(path), (RED_COLUMNS,), category)))
    if not counts:
        raise DataError("has no category", place=Place(path), expected="a word in the column category")
    return counts


def opposed(first: Bools, second: Bools) -> Bools:
    """True for rows, (n,), on which both systems choose a single name, and not the same one."""
    single = (first.sum(axis=1) == 1) & (second.sum(axis=1) == 1)
    return np.asarray(single & (first != second).all(axis=1))


def parallelism_choices(corpus: Corpus, parser: str | Path | None = None) -> Bools:
    """Parallelism among detected candidates, (n, 3) bool: it chooses a name, which counts as A or B, and is A or B."""
    choices = np.zeros((len(corpus), 3), dtype=bool)
    for row, (example, tree) in enumerate(zip(corpus, parses(corpus, parser), strict=True)):
        names = scene(example, tree, "detected")
        winner = sieve(passes(Cue.PARALLELISM, measure(names), PAPER))[0]
        if winner >= 0:
            span = names.spans[winner]
            is_name = span.overlaps(example.a) or span.overlaps(example.b)
            choices[row] = True, names.hits[winner].any(), is_name
    return choices


def statistics_table(
    agreement: Agreement, paper: Mapping[str, Any], parser: str | Path | None = None
) -> Table:
    """The statistics in the paper's text, for each split."""
    text = paper["text"]
    key = "parallelism_predictions_scored_through_a_candidate_that_is_not_one_of_the_two_names"
    neither: dict[str, Cell] = {"paper": text.get(key)}
    right: dict[str, Cell] = {"paper": text.get("agreement_with_gold_average_in_the_text")}
    scored: dict[str, Cell] = {}
    counts: dict[str, dict[str, Cell]] = {}
    for systems, difficulty in agreement:
        split = systems.corpus.name
        chosen, hits, is_name = parallelism_choices(systems.corpus, parser).T
        neither[split] = float((chosen & ~is_name).sum() / max(1, chosen.sum()))
        scored[split] = float((hits & ~is_name).sum() / max(1, hits.sum()))
        right[split] = float(difficulty.right.mean())
        for name, resolver in systems.resolvers.items():
            rows_opposed = opposed(systems.cues[DETECTED]["Parallelism"], resolver.decided)
            counts.setdefault(name, {})[split] = int(rows_opposed.sum())
    bins = paper["table11_agreement_with_gold"]
    mean = float(np.dot(bins["systems_right"], bins["count"]) / sum(bins["count"]))
    lee = "lee2017_against_parallelism_opposed_rows"
    rows: list[tuple[str, dict[str, Cell]]] = [
        ("inter-annotator kappa", {"paper": text.get("kappa")}),
        ("rows: Parallelism and Lee et al. (2017) opposed", {"paper": text.get(lee)}),
        *((f"rows: Parallelism and {name} opposed", cells) for name, cells in counts.items()),
        ("share: Parallelism's choice is neither name", neither),
        ("share: the same, among choices scored as A or B", scored),
        ("systems right about a pair, mean", right),
        ("the same, by the counts of table 11", {"paper": mean}),
    ]
    return Table(
        [Column(name, name, 2) for name in ("paper", *(systems.corpus.name for systems, _ in agreement))],
        [Section("", rows)],
        "Statistics in the text",
        "Opposed: each of the two names one of A and B alone, and not the same; the paper's is of 2,000 rows of "
        "development. Parallelism chooses among detected candidates in snippet-context; its choice is "
        "one of the two names where it shares a character with one. The paper's text gives a mean of 2.1 systems, "
        "the counts of its table 11 another.",
        "statistic",
    )
