"""Systems in the tables of Webster et al. 2018: off-the-shelf resolvers, and the cues in each task setting.

Cues are those of the paper, :data:`gapstack.text.cues.PAPER`, and attention is read from the name to the pronoun.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gapstack.corpus import Corpus
from gapstack.encoding.attention import Direction
from gapstack.errors import DataError, Place
from gapstack.members.transformer_multi import TransformerMulti
from gapstack.members.transformer_single import TransformerSingle
from gapstack.reproduce.difficulty import Difficulty, agreement_with_gold
from gapstack.scoring import Scores, gold_decisions, score_decisions
from gapstack.scoring.files import read_predictions
from gapstack.text.cues import PAPER, Cue, decide, measures
from gapstack.text.scenes import Candidates, Context, Setting
from gapstack.types import Bools

Decisions = dict[str, Bools]
"""(n, 2) decisions by the name of the system."""

CUES = {
    Context.SNIPPET: {
        "Token Distance": Cue.TOKEN_DISTANCE,
        "Topical Entity": Cue.TOPICAL_ENTITY,
        "Syntactic Distance": Cue.SYNTACTIC_DISTANCE,
        "Parallelism": Cue.PARALLELISM,
    },
    Context.PAGE: {"Parallelism+URL": Cue.URL},
}
"""Cues by their names in the paper, in the least context that they read."""
SETTINGS = [Setting(c, x) for c in (Candidates.DETECTED, Candidates.GOLD_TWO_MENTION) for x in Context]
"""The four task settings, detected candidates first."""
ALL_CUES = "All cues"
NEURALCOREF, E2E = "neuralcoref", "e2e-coref"
# In this order until there are four, as many as in the paper.
_BY_PRIORITY = (NEURALCOREF, E2E, "Transformer-Multi", "Parallelism", "Syntactic Distance", "Token Distance")
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
        decided |= self.cues[Setting(Candidates.GOLD_TWO_MENTION, Context.SNIPPET)]
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
    """Decisions of the cues that read no more than the context of ``setting``, by name.

    In snippet-context these are the random baseline and the cues of the text, in page-context URL alone.
    """
    decided = {
        name: decide(corpus, cue, setting, parser, PAPER).answers
        for name, cue in CUES[setting.context].items()
    }
    if setting.context is Context.PAGE:
        return decided
    return {"Random": random_decisions(corpus, setting.candidates, parser, seed), **decided}


def random_decisions(
    corpus: Corpus, candidates: Candidates, parser: str | Path | None = None, seed: int = 0
) -> Bools:
    """Choose one of the competing names with equal chances, (n, 2); none where no name competes."""
    generator = np.random.default_rng(seed)
    parsed = candidates is Candidates.DETECTED
    decided = np.zeros((len(corpus), 2), dtype=bool)
    for row, names in enumerate(measures(corpus, candidates, parser, parsed=parsed)):
        if len(names.hits):
            decided[row] = names.hits[generator.integers(len(names.hits))]
    return decided


@dataclass(frozen=True)
class FittedCues:
    """All cues over the same candidates.

    Attributes
    ----------
    candidates : Candidates
    single, multi
        The transformer cues.
    trees : mapping
        For each context, scikit-learn's ExtraTrees over the decisions of all other cues (the paper's footnote 20). The
        paper says no more of it; here a name is an instance, as in Transformer-Multi, and its features are whether
        each cue chooses it.
    parser, seed
        As for :func:`fit_cues`.
    """

    candidates: Candidates
    single: TransformerSingle
    multi: TransformerMulti
    trees: Mapping[Context, Any]
    parser: str | Path | None
    seed: int

    def decide(self, corpus: Corpus) -> dict[Setting, Decisions]:
        """Decisions in both contexts, each by name."""
        decided = self._single_cues(corpus)
        for context, trees in self.trees.items():
            features = _features(decided, context)
            answers = trees.predict(features.reshape(-1, features.shape[-1])).reshape(-1, 2)
            decided[context][ALL_CUES] = answers
        return {Setting(self.candidates, context): decided[context] for context in Context}

    def _single_cues(self, corpus: Corpus) -> dict[Context, Decisions]:
        decided = {
            context: cue_decisions(corpus, Setting(self.candidates, context), self.parser, self.seed)
            for context in Context
        }
        decided[Context.SNIPPET] |= {
            "Transformer-Single": self.single.decide(corpus),
            "Transformer-Multi": self.multi.decide(corpus),
        }
        return decided


def fit_cues(
    corpus: Corpus,
    candidates: Candidates,
    encoder: str | None = None,
    parser: str | Path | None = None,
    seed: int = 0,
) -> FittedCues:
    """Fit on a labelled corpus what there is to fit, by the paper's recipe."""
    from sklearn.ensemble import ExtraTreesClassifier

    options: dict[str, Any] = {
        "direction": Direction.NAME_TO_PRONOUN.value,
        "candidates": candidates.value,
        "encoder": encoder,
        "parser": None if parser is None else str(parser),
    }
    single, multi = (
        TransformerSingle(**options).fit(corpus),
        TransformerMulti(**options, seed=seed).fit(corpus),
    )
    decided = FittedCues(candidates, single, multi, {}, parser, seed)._single_cues(corpus)
    gold = gold_decisions(corpus).ravel()
    trees = {}
    for context in Context:
        features = _features(decided, context)
        trees[context] = ExtraTreesClassifier(100, random_state=seed).fit(
            features.reshape(-1, features.shape[-1]), gold
        )
    return FittedCues(candidates, single, multi, trees, parser, seed)


def _features(decided: Mapping[Context, Decisions], context: Context) -> Bools:
    """Whether each cue that may be used in a context chooses each name, (n, 2, cues)."""
    contexts = (Context.SNIPPET,) if context is Context.SNIPPET else Context
    used = [
        answers
        for each in contexts
        for name, answers in decided[each].items()
        if name not in ("Random", ALL_CUES)
    ]
    return np.stack(used, axis=-1)
