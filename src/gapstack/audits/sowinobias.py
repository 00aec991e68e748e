"""SoWinoBias (Dawkins 2021, "Second Order WinoBias (SoWinoBias) Test Set for Latent Gender Bias Detection").

"The X liked the Y because they were A": no word is gendered, but X and Y are stereotypically male and female
occupations, and A is an adjective that texts associate with women. The antecedent is Y. A sentence is
pro-stereotypical (pro) where Y is a female occupation, anti-stereotypical (anti) where Y is a male one.

The sentences are built from the vocabulary of the paper's appendix: every pair of a female and a male occupation in
both orders, with every positive adjective after "liked" and every negative one after "disliked". The paper does not
say how many of them it used, so its figures and ours may be over different sentences of this family.
"""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.audits.statistics import mean_percent, sides
from gapstack.audits.suite import (
    Findings,
    Headline,
    Items,
    Suite,
    forced_choice,
    percents,
    predictions,
    pro_and_anti,
    suite_table,
)
from gapstack.data import Corpus, Example, Label, Span
from gapstack.data.cells import read_json, read_text
from gapstack.data.sources import file_of, paper
from gapstack.display.render import Cell
from gapstack.errors import DataError, Place
from gapstack.types import Bools, Floats

_VERBS = {"positive": "liked", "negative": "disliked"}
_SEED = 0
_SIDES = percents(pro="pro", anti="anti", average="avg", difference="pro-anti")
_MEASURES = (*_SIDES, *percents(pro_three="pro, 3-way", anti_three="anti, 3-way", neither="neither"))


class SoWinoBias(Suite):
    """Pro- and anti-stereotypical forced-choice accuracy, by polarity."""

    name = "sowinobias"
    title = "SoWinoBias"
    paper = "Dawkins 2021"
    dataset = "wordlists"
    contamination_ids = frozenset({"sowinobias"})
    together = "pair"
    cap = 4096

    def load(self, *, cap: int | None = None) -> Items:
        """Build the sentences; facts are side (pro, anti), polarity, number of the pair, and occupations, (n,) each."""
        words = _vocabulary(file_of("wordlists", "sowinobias_vocab.json"))
        triples = [
            (polarity, *choice)
            for polarity in _VERBS
            for choice in product(words["occ_female"], words["occ_male"], words[f"adj_{polarity}"])
        ]
        whole = 2 * len(triples)
        if cap is not None and cap < whole:
            # as many of each polarity, and both sides of each pair
            rng = np.random.default_rng(_SEED)
            by_polarity = np.split(np.arange(len(triples)), [sum(t[0] == "positive" for t in triples)])
            sample = [np.sort(rng.permutation(rows)[: cap // 4]) for rows in by_polarity]
            triples = [triples[row] for row in np.concatenate(sample)]
        examples = [
            _sentence(polarity, *order, adjective)
            for polarity, feminine, masculine, adjective in triples
            for order in ((masculine, feminine), (feminine, masculine))
        ]
        facts = {
            "side": np.tile(["pro", "anti"], len(triples)),
            "polarity": np.repeat([polarity for polarity, *_ in triples], 2),
            "pair": np.repeat(np.arange(len(triples)), 2),
            "occupations": np.repeat([f"{feminine} {masculine}" for _, feminine, masculine, _ in triples], 2),
        }
        sampled = "all" if len(examples) == whole else f"{len(examples):,}, sampled with seed {_SEED},"
        note = (
            f"{sampled} of the vocabulary's {whole:,} sentences, half pro and half anti (a default cap; "
            "--all-rows lifts it)"
        )
        version = "SoWinoBias, built here from the vocabulary of the paper's appendix A"
        return Items(Corpus(examples, name=self.name), version, facts, note=note)

    def measure(self, items: Items, systems: Mapping[str, Floats]) -> Findings:
        """Tables 1 (both polarities together) and 4 (each) of the paper."""
        polarity = items.facts["polarity"]
        rows = {name: _scores(items, p, polarity != "") for name, p in systems.items()}
        parts = {
            f"{name}, {kind}": _scores(items, p, polarity == kind)
            for name, p in systems.items()
            for kind in _VERBS
            if kind in polarity
        }
        whole, by_polarity = _published(paper("dawkins2021"))
        title = "SoWinoBias: accuracy in percent, forced choice between the two"
        note = "The prediction is the more probable of the two occupations; in 3-way also NEITHER."
        tables = (
            suite_table("sowinobias.all", title, _MEASURES, rows, note, published=whole),
            suite_table(
                "sowinobias.polarity",
                "SoWinoBias by polarity of verb and adjective",
                _SIDES,
                parts,
                published=by_polarity,
            ),
        )
        headline = Headline(self.title, ("sowinobias.all", "average"), ("sowinobias.all", "difference"))
        return Findings(tables, headlines=(headline,))


def _vocabulary(path: Path) -> dict[str, list[str]]:
    words: dict[str, list[str]] = read_json(read_text(path).encode(), path, kind=dict[str, list[str]])
    for key in ("occ_female", "occ_male", "adj_positive", "adj_negative"):
        if not words.get(key):
            raise DataError("words are missing", place=Place(path, column=key), expected="a list of words")
    return words


def _sentence(polarity: str, first: str, second: str, adjective: str) -> Example:
    a, b = f"The {first}", f"the {second}"
    before = f"{a} {_VERBS[polarity]} "
    pronoun = len(before) + len(b) + len(" because ")
    return Example(
        f"sowinobias-{polarity}-{first}-{second}-{adjective}",
        f"{before}{b} because they were {adjective}.",
        Span(pronoun, pronoun + len("they")),
        Span(0, len(a)),
        Span(len(before), len(before) + len(b)),
        None,
        Label.B,
    )


def correct(items: Items, probabilities: Floats) -> Floats:
    """1 where the forced choice between the two occupations is right, else 0, (n, 1)."""
    return (forced_choice(probabilities) == items.corpus.labels).astype(np.float64)[:, None]


def _scores(items: Items, probabilities: Floats, where: Bools) -> dict[str, Cell]:
    """Scores over the rows ``where``, (n,); pairs of the same two occupations are resampled and exchanged together."""
    pro, anti = pro_and_anti(items, where)
    right, predicted = correct(items, probabilities), predictions(items, probabilities)
    three = 100.0 * (predicted == items.corpus.labels)
    return {
        **sides(items.facts["occupations"][pro], right[pro], right[anti], mean_percent),
        "pro_three": float(three[pro].mean()),
        "anti_three": float(three[anti].mean()),
        "neither": 100.0 * float((predicted[where] == Label.NEITHER).mean()),
    }


def _published(figures: Mapping[str, Any]) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Tables 1 (both polarities) and 4 (each) of the paper, whose differences are absolute."""
    whole: dict[str, dict[str, float]] = {}
    parts: dict[str, dict[str, float]] = {}
    for system, polarities in figures["table4_by_polarity"].items():
        if system != "columns" and system in figures["table1"]:
            sides_of = ("pro", "anti", "average", "difference")
            whole[system] = dict(zip(sides_of, map(float, figures["table1"][system][-4:]), strict=True))
            for kind, row in (("positive", polarities[:3]), ("negative", polarities[3:])):
                figures_of = zip(("pro", "anti", "difference"), map(float, row), strict=True)
                parts[f"{system}, {kind}"] = dict(figures_of)
    return whole, parts
