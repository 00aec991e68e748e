"""Systems in the tables of Webster et al. 2018: off-the-shelf resolvers, and the cues in each task setting.

Cues are those of the paper, :data:`gapstack.language.cues.PAPER`, and attention is read from the name to the pronoun.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gapstack.data import Corpus
from gapstack.data.clusters import Heads
from gapstack.evaluation import Scores, gold_decisions, score_decisions
from gapstack.language.cues import PAPER, Cue, decide, measures
from gapstack.language.scenes import Candidates, Context, Setting
from gapstack.members.transformer import TransformerMulti, TransformerSingle
from gapstack.resolvers.align import read_resolver
from gapstack.types import Bools

Decisions = dict[str, Bools]
"""Decisions (n, 2) by the name of the system."""

CUES: dict[Context, dict[str, Cue]] = {
    "snippet-context": {
        "Token Distance": Cue.TOKEN_DISTANCE,
        "Topical Entity": Cue.TOPICAL_ENTITY,
        "Syntactic Distance": Cue.SYNTACTIC_DISTANCE,
        "Parallelism": Cue.PARALLELISM,
    },
    "page-context": {"Parallelism+URL": Cue.URL},
}
"""Cues by their names in the paper, in the smallest context that suffices for them."""
DETECTED = Setting("detected", "snippet-context")
GOLD_TWO_MENTION = Setting("gold-two-mention", "snippet-context")
ALL_CUES = "All cues"
NEURALCOREF, E2E = "neuralcoref", "e2e-coref"


class ResolverDecisions(NamedTuple):
    """Decisions (n, 2) of an off-the-shelf resolver, FALSE without clusters, and the rows (n,) that it was run on."""

    decided: Bools
    given: Bools


@dataclass(frozen=True)
class Systems:
    """Decisions of all available systems on one split."""

    corpus: Corpus
    resolvers: Mapping[str, ResolverDecisions]
    cues: Mapping[Setting, Decisions]

    def scores(self, decided: Decisions) -> dict[str, Scores]:
        """Score each system."""
        return {name: score_decisions(self.corpus, answers) for name, answers in decided.items()}

    def resolver_scores(self) -> dict[str, Scores]:
        """Score each resolver on all rows, and on the rows that it was run on where these are fewer."""
        scores: dict[str, Scores] = {}
        for name, resolver in self.resolvers.items():
            scores[name] = score_decisions(self.corpus, resolver.decided)
            rows = np.flatnonzero(resolver.given)
            if 0 < len(rows) < len(self.corpus):
                given = self.corpus.take(rows)
                scores[f"{name}, {len(rows)} rows given"] = score_decisions(given, resolver.decided[rows])
        return scores


def read_resolvers(corpus: Corpus, split: str, folder: Path, heads: Heads) -> dict[str, ResolverDecisions]:
    """Decisions of the off-the-shelf resolvers with files for ``split`` in ``folder``, by name."""
    import pandas as pd  # slow to import

    resolvers: dict[str, ResolverDecisions] = {}
    neuralcoref = folder / f"neuralcoref_hf_{split}.jsonl.xz"
    if neuralcoref.is_file():
        clusters = read_resolver(neuralcoref, corpus).clusters
        resolvers[NEURALCOREF] = ResolverDecisions(clusters.decide(corpus, heads), clusters.covers(corpus))
    e2e = folder / f"e2e_coref_gap_{split}_features.tsv"
    if e2e.is_file():
        values = pd.read_csv(e2e, sep="\t", index_col=0)[["A-e2e", "B-e2e"]].to_numpy(dtype=bool)
        # the file has no ids: row i belongs to the id that ends in i + 1
        decided = values[[int(name.rpartition("-")[2]) - 1 for name in corpus.ids]]
        resolvers[E2E] = ResolverDecisions(decided, np.ones(len(corpus), dtype=bool))
    return resolvers


def cue_decisions(
    corpus: Corpus, setting: Setting, parser: str | Path | None = None, seed: int = 0
) -> Decisions:
    """Decisions of the cues in the context of ``setting``; in snippet-context also of a random choice."""
    decided: Decisions = {}
    if setting.context == "snippet-context":
        generator = np.random.default_rng(seed)
        chosen = decided["Random"] = np.zeros((len(corpus), 2), dtype=bool)
        parsed = setting.candidates == "detected"
        for row, names in enumerate(measures(corpus, setting.candidates, parser, parsed=parsed)):
            if len(names.hits):
                chosen[row] = names.hits[generator.integers(len(names.hits))]
    for name, cue in CUES[setting.context].items():
        decided[name] = decide(corpus, cue, setting, parser, PAPER).answers
    return decided


class FittedCues:
    """All cues: ExtraTrees over the others' decisions (footnote 20), an instance per name as in Transformer-Multi."""

    def __init__(
        self,
        corpus: Corpus,
        candidates: Candidates,
        encoder: str | None = None,
        parser: str | Path | None = None,
        seed: int = 0,
    ) -> None:
        from sklearn.ensemble import ExtraTreesClassifier

        self.candidates, self.parser, self.seed = candidates, parser, seed
        options: dict[str, Any] = {
            "direction": "name-to-pronoun",
            "candidates": candidates,
            "encoder": encoder,
        }
        options["parser"] = None if parser is None else str(parser)
        self.single = TransformerSingle(**options).fit(corpus)
        self.multi = TransformerMulti(**options, seed=seed).fit(corpus)
        decided, gold = self._single_cues(corpus), gold_decisions(corpus).ravel()
        self.trees = {
            context: ExtraTreesClassifier(100, random_state=seed).fit(_features(decided, context), gold)
            for context in CUES
        }

    def decide(self, corpus: Corpus) -> dict[Setting, Decisions]:
        """Decisions in both contexts, each by name."""
        decided = self._single_cues(corpus)
        together = {c: trees.predict(_features(decided, c)).reshape(-1, 2) for c, trees in self.trees.items()}
        return {
            Setting(self.candidates, context): {**decided[context], ALL_CUES: together[context]}
            for context in CUES
        }

    def _single_cues(self, corpus: Corpus) -> dict[Context, Decisions]:
        decided = {
            context: cue_decisions(corpus, Setting(self.candidates, context), self.parser, self.seed)
            for context in CUES
        }
        fitted = {"Transformer-Single": self.single, "Transformer-Multi": self.multi}
        decided["snippet-context"] |= {name: member.decide(corpus) for name, member in fitted.items()}
        return decided


def _features(decided: Mapping[Context, Decisions], context: Context) -> Bools:
    """Decisions of the cues allowed in a context, (2n, cues), a row for each name."""
    contexts = [c for c in CUES if c in ("snippet-context", context)]
    used = [answers for c in contexts for name, answers in decided[c].items() if name != "Random"]
    return np.stack(used, axis=-1).reshape(-1, len(used))
