"""Systems in the tables of Webster et al. 2018: off-the-shelf resolvers, structural cues, transformer cues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gapstack.corpus import Corpus
from gapstack.errors import DataError, Place
from gapstack.members.transformer_multi import TransformerMulti
from gapstack.members.transformer_single import TransformerSingle
from gapstack.reproduce.difficulty import Difficulty, agreement_with_gold
from gapstack.scoring import Scores, score_decisions
from gapstack.scoring.files import read_predictions
from gapstack.text.cues import Cue, decide, measures
from gapstack.text.scenes import Setting
from gapstack.types import Bools

Decisions = dict[str, Bools]
"""(n, 2) decisions by the name of the system."""

CUES = {
    "Token distance": Cue.TOKEN_DISTANCE,
    "Topical entity": Cue.TOPICAL_ENTITY,
    "Syntactic distance": Cue.SYNTACTIC_DISTANCE,
    "Parallelism": Cue.PARALLELISM,
    "Parallelism+URL": Cue.URL,
}
NEURALCOREF, E2E = "neuralcoref", "e2e-coref"
# In this order until there are four, as many as in the paper.
_BY_PRIORITY = (NEURALCOREF, E2E, "Transformer-Multi", "Parallelism", "Syntactic distance", "Token distance")
_COUNT = 4


@dataclass(frozen=True)
class Resolver:
    """Decisions of an off-the-shelf resolver.

    Attributes
    ----------
    decided : (n, 2) bool
        FALSE for both names where it has no clusters.
    given : (n,) bool
        Whether it was run on the row's text.
    """

    decided: Bools
    given: Bools


@dataclass(frozen=True)
class Systems:
    """Decisions of all available systems on one split."""

    corpus: Corpus
    resolvers: Mapping[str, Resolver]
    cues: Mapping[Setting, Decisions]

    def scores(self, decided: Decisions) -> dict[str, Scores]:
        """Score each."""
        return {name: score_decisions(self.corpus, answers) for name, answers in decided.items()}

    def resolver_scores(self) -> dict[str, Scores]:
        """Score each resolver on all rows, and on the rows that it was run on where these are fewer."""
        found: dict[str, Scores] = {}
        for name, resolver in self.resolvers.items():
            found[name] = score_decisions(self.corpus, resolver.decided)
            rows = np.flatnonzero(resolver.given)
            if 0 < len(rows) < len(self.corpus):
                part = self.corpus.take(rows)
                found[f"{name}, {len(rows)} rows given"] = score_decisions(part, resolver.decided[rows])
        return found

    def difficulty(self) -> Difficulty:
        """Agreement with gold of four systems: off-the-shelf resolvers first, then our cues in gold-two-mention."""
        decided = {name: resolver.decided for name, resolver in self.resolvers.items()}
        decided |= self.cues[Setting.GOLD_TWO_MENTION]
        chosen = [name for name in _BY_PRIORITY if name in decided][:_COUNT]
        return agreement_with_gold(self.corpus, {name: decided[name] for name in chosen})


def read_resolvers(corpus: Corpus, split: str, folder: Path | None) -> dict[str, Resolver]:
    """Read the off-the-shelf resolvers whose files for ``split`` lie in ``folder``, by name.

    Raises
    ------
    DataError
        If a file breaks its format.
    """
    found: dict[str, Resolver] = {}
    if folder is None:
        return found
    neuralcoref = folder / f"neuralcoref_hf_{split}.pred.tsv"
    if neuralcoref.is_file():
        missing = folder / f"neuralcoref_hf_{split}.missing.txt"
        absent = missing.read_text(encoding="utf-8").split() if missing.is_file() else []
        found[NEURALCOREF] = Resolver(
            read_predictions(neuralcoref, corpus).decided, ~np.isin(corpus.ids, absent)
        )
    e2e = folder / f"e2e_coref_gap_{split}_features.tsv"
    if e2e.is_file():
        found[E2E] = Resolver(read_e2e(e2e, corpus), np.ones(len(corpus), dtype=bool))
    return found


def read_e2e(path: Path, corpus: Corpus) -> Bools:
    """Read e2e-coref's decisions, (n, 2): columns ``A-e2e`` and ``B-e2e``, row i for the id that ends in i + 1.

    Raises
    ------
    DataError
        If a column is missing, a decision is not 0 or 1, or a row of the corpus has none.
    """
    import pandas as pd

    table = pd.read_csv(path, sep="\t", index_col=0)
    columns = ["A-e2e", "B-e2e"]
    missing = [column for column in columns if column not in table]
    if missing:
        raise DataError(
            f"no column {', '.join(missing)}", place=Place(path, 1), expected=" and ".join(columns)
        )
    values = table[columns].to_numpy()
    bad = np.flatnonzero(~np.isin(values, (0, 1)).all(axis=1))
    if len(bad):
        raise DataError(
            "a decision is neither 0 nor 1", place=Place(path, int(bad[0]) + 2), expected="0 or 1"
        )
    rows = [int(number) - 1 if (number := id_.rpartition("-")[2]).isdecimal() else -1 for id_ in corpus.ids]
    for id_, row in zip(corpus.ids, rows, strict=True):
        if not 0 <= row < len(values):
            raise DataError(f"no row for {id_!r}", place=Place(path), expected=f"ids from 1 to {len(values)}")
    decided: Bools = values[rows].astype(bool)
    return decided


def cue_decisions(
    corpus: Corpus, setting: Setting, parser: str | Path | None = None, seed: int = 0
) -> Decisions:
    """Decisions of the random baseline and of every structural cue, by name."""
    return {
        "Random": random_decisions(corpus, setting, parser, seed),
        **{name: decide(corpus, cue, setting, parser).answers for name, cue in CUES.items()},
    }


def random_decisions(
    corpus: Corpus, setting: Setting, parser: str | Path | None = None, seed: int = 0
) -> Bools:
    """Choose one of the competing names with equal chances, (n, 2); none where no name competes."""
    generator = np.random.default_rng(seed)
    parsed = setting is Setting.SNIPPET_CONTEXT
    decided = np.zeros((len(corpus), 2), dtype=bool)
    for row, candidates in enumerate(measures(corpus, setting, parser, parsed=parsed)):
        if len(candidates.hits):
            decided[row] = candidates.hits[generator.integers(len(candidates.hits))]
    return decided


@dataclass(frozen=True)
class Transformers:
    """The two transformer cues, fitted in one setting."""

    single: TransformerSingle
    multi: TransformerMulti

    def decide(self, corpus: Corpus) -> Decisions:
        """Raw decisions of both, by name."""
        return {
            "Transformer-Single": self.single.decide(corpus),
            "Transformer-Multi": self.multi.decide(corpus),
        }


def fit_transformers(
    corpus: Corpus,
    setting: Setting,
    encoder: str | None = None,
    parser: str | Path | None = None,
    seed: int = 0,
) -> Transformers:
    """Fit both on a labelled corpus by the paper's recipe."""
    named = None if parser is None else str(parser)
    return Transformers(
        TransformerSingle(encoder=encoder, setting=setting.value, parser=named).fit(corpus),
        TransformerMulti(encoder=encoder, setting=setting.value, parser=named, seed=seed).fit(corpus),
    )
