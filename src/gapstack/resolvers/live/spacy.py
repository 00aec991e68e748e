"""A spaCy pipeline whose own component finds clusters, as spacy-experimental's do, and leaves them as span groups."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gapstack.resolvers.formats.spacy import PREFIX
from gapstack.resolvers.live.adapter import Adapter, Pages, Predict, required, unusable
from gapstack.resolvers.output import Output, spans

_NEEDS = (
    "the folder of a spaCy pipeline with a coreference component, such as en_coreference_web_trf, and the packages "
    "that it is made of (spacy-experimental; see the README for how it can be built beside spaCy 3.8)"
)


def _load(model: Path) -> Predict:
    folder = required(model, _NEEDS, "config.cfg")
    import spacy

    try:
        nlp = spacy.load(folder)
    except Exception as problem:  # a missing factory is a ValueError, a broken one anything
        raise unusable(folder, _NEEDS, problem) from problem
    if not any("coref" in nlp.get_pipe_meta(name).factory for name in nlp.pipe_names):
        names = ", ".join(nlp.pipe_names) or "nothing"
        raise unusable(folder, _NEEDS, ValueError(f"none of its components finds clusters: {names}"))

    def predict(texts: Sequence[str], pages: Pages) -> list[Output | None]:
        return [_output(doc) for doc in nlp.pipe(texts)]

    return predict


def _output(doc: Any) -> Output:
    groups = [group for name, group in doc.spans.items() if name.startswith(PREFIX)]
    clusters = spans([[(span.start_char, span.end_char) for span in group] for group in groups], doc.text)
    return Output(None, doc.text, clusters)


ADAPTER = Adapter("spacy", "spacy", _NEEDS, _load)
