"""Stanza 1.15: its word-level resolver (after D'Oosterlinck et al. 2023) on its own tokens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gapstack.resolvers.live.adapter import Adapter, Pages, Predict, library, required, unusable
from gapstack.resolvers.output import Output, spans

_NEEDS = (
    "the folder that stanza.download('en', model_dir=FOLDER, processors='tokenize,coref') fills, and in Hugging Face's "
    "cache the transformer that its resolver stands on"
)


def _load(model: Path) -> Predict:
    package = library("stanza", "stanza")
    library("peft", "stanza")
    folder = required(model, _NEEDS, "resources.json")
    try:
        nlp = package.Pipeline(
            "en", dir=str(folder), processors="tokenize,coref", download_method=None, verbose=False
        )
    except Exception as problem:  # errors of its own, of torch and of transformers
        raise unusable(folder, _NEEDS, problem) from problem

    def predict(texts: Sequence[str], pages: Pages) -> list[Output | None]:
        return [_output(nlp(text)) for text in texts]

    return predict


def _output(document: Any) -> Output:
    """Chains of a ``Document``; mentions of words that the text leaves out (tuples for places) are no span."""
    clusters = []
    for chain in document.coref:
        cluster = []
        for mention in chain.mentions:
            if isinstance(mention.start_word, int):
                words = document.sentences[mention.sentence].words[mention.start_word : mention.end_word]
                # words of a contraction share a token, and only that has characters
                cluster.append((words[0].parent.start_char, words[-1].parent.end_char))
        clusters.append(cluster)
    return Output(None, document.text, spans(clusters, document.text))


ADAPTER = Adapter("stanza", "stanza", _NEEDS, _load)
