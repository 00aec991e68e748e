"""coreferee 1.5 (Hudson 2021): rules and a small network upon spaCy's parses; mentions are heads alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gapstack.resolvers.live.adapter import Adapter, Pages, Predict, library, required, unusable
from gapstack.resolvers.output import Output, spans

_NEEDS = (
    "the folder of a spaCy pipeline that coreferee knows (en_core_web_sm, _md, _lg or _trf of spaCy 3.4, 3.7 or 3.8); "
    "its own part, coreferee_model_en, is installed by: python -m coreferee install en"
)


def _load(model: Path) -> Predict:
    library("coreferee", "coreferee")
    folder = required(model, _NEEDS, "config.cfg")
    import spacy

    try:
        nlp = spacy.load(folder)
        if "coreferee" not in nlp.pipe_names:
            nlp.add_pipe("coreferee")
    except Exception as problem:  # its errors share no base of their own
        raise unusable(folder, _NEEDS, problem) from problem

    def predict(texts: Sequence[str], pages: Pages) -> list[Output | None]:
        return [_output(doc) for doc in nlp.pipe(texts)]

    return predict


def _output(doc: Any) -> Output | None:
    """Chains of a ``Doc``; None where coreferee met an error of its own, which it prints, and set no chains.

    A mention of several tokens is a conjunction: each of them is a mention.
    """
    if doc._.coref_chains is None:
        return None
    chains = [[doc[i] for mention in chain for i in mention.token_indexes] for chain in doc._.coref_chains]
    return Output(
        None, doc.text, spans([[(t.idx, t.idx + len(t)) for t in chain] for chain in chains], doc.text)
    )


ADAPTER = Adapter("coreferee", "coreferee", _NEEDS, _load)
