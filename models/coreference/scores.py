"""How well resolvers do on texts with gold clusters, and the baseline that links the same heads."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import spacy
from documents import Clusters, Text

from gapstack.progress import progress
from gapstack.registry import import_extra

Resolve = Callable[[list[str]], Clusters]
"""Words of a text to its clusters."""


class Scores:
    """CoNLL-style scores over texts, by fastcoref's own scorer; clusters of one mention count nowhere."""

    def __init__(self) -> None:
        metrics = import_extra("fastcoref.utilities.metrics", "fastcoref")
        self._clusters, self._mentions = metrics.CorefEvaluator(), metrics.MentionEvaluator()

    def add(self, found: Clusters, gold: Clusters) -> None:
        """Count one text's clusters in."""
        ours, theirs = ([tuple(one) for one in part if len(one) > 1] for part in (found, gold))
        of_ours, of_theirs = (
            {one: cluster for cluster in part for one in cluster} for part in (ours, theirs)
        )
        self._clusters.update(ours, theirs, of_ours, of_theirs)
        self._mentions.update(of_ours, of_theirs)

    def table(self) -> dict[str, float]:
        """F1 by name, in per cent."""
        named = zip(("MUC", "B3", "CEAF-e"), self._clusters.evaluators, strict=True)
        scores = {"mentions": self._mentions.get_f1(), **{name: one.get_f1() for name, one in named}}
        scores["CoNLL"] = self._clusters.get_f1()
        return {name: round(100 * float(value), 1) for name, value in scores.items()}


def resolver(folder: Path) -> Resolve:
    """Load a stored model: words to clusters."""
    logging.getLogger("fastcoref").setLevel(logging.WARNING)  # one line per text
    import_extra("datasets", "fastcoref").disable_progress_bars()
    predictor = import_extra("fastcoref", "fastcoref").FCoref(
        str(folder), nlp=spacy.blank("en"), enable_progress_bar=False
    )

    def resolve(words: list[str]) -> Clusters:
        # one by one: the library's batches may not mix texts of one segment and of several
        (result,) = predictor.predict([words], is_split_into_words=True)
        clusters = result.get_clusters(as_strings=False)
        return [[(begin, end - 1) for begin, end in filter(None, cluster)] for cluster in clusters]

    return resolve


def head_match(nlp: Any, words: list[str]) -> Clusters:
    """Link noun phrases whose heads are the same word, and pronouns of the same lemma: the baseline."""
    doc = nlp(spacy.tokens.Doc(nlp.vocab, words))
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for chunk in doc.noun_chunks:
        found[chunk.root.lemma_.lower()].append((chunk.start, chunk.end - 1))
    for token in doc:
        if token.tag_ == "PRP$":
            found[token.lemma_.lower()].append((token.i, token.i))
    return list(map(sorted, map(set, found.values())))


def measure(resolve: Resolve, held: dict[str, list[Text]]) -> dict[str, dict[str, float]]:
    """Score a resolver on each corpus's texts, and on all together."""
    scores = {name: Scores() for name in (*held, "both")}
    with progress("Measuring", sum(map(len, held.values()))) as ticker:
        for name, texts in held.items():
            for text in texts:
                found = resolve(text.words)
                for one in (name, "both"):
                    scores[one].add(found, text.clusters)
                ticker.advance()
    return {name: one.table() for name, one in scores.items()}
