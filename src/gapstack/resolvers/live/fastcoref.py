"""fastcoref 2.1: F-coref and LingMess (Otmazgin et al. 2022, 2023), run on spaCy's tokens.

Its model classes do not make the table of tied weights that transformers 5 looks for; both tie none, so an empty
one lets them load. LingMess passes on its own attention to Longformer, which has no fused one, so it gives that up.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gapstack.resolvers.live.adapter import Adapter, Pages, Predict, library, required, unusable
from gapstack.resolvers.output import Output, spans

_NEEDS = (
    "the folder of a fastcoref model (config.json with 'coref_head', tokenizer, weights), such as a copy of "
)
_TEXTS = 10_000
"""Tokens that the library may take at once."""


def model_class(kind: str = "fcoref") -> Any:
    """Import ``FCorefModel`` or ``LingMessModel``, ready for transformers 5; raises as :func:`library` does."""
    module = library(f"fastcoref.coref_models.modeling_{kind}", "fastcoref")
    model = module.FCorefModel if kind == "fcoref" else module.LingMessModel
    if not hasattr(model, "all_tied_weights_keys"):
        model.all_tied_weights_keys = {}
    if kind == "lingmess":
        model._supports_sdpa = False
    return model


def _load(kind: str, resolver: str, needs: str, model: Path) -> Predict:
    package = library("fastcoref", "fastcoref")
    model_class(kind)
    folder = required(model, needs, "config.json")
    if "coref_head" not in json.loads((folder / "config.json").read_text(encoding="utf-8")):
        raise unusable(folder, needs, KeyError("config.json has no 'coref_head'"))
    import spacy

    logging.getLogger("fastcoref").setLevel(logging.WARNING)  # it logs every batch
    library("datasets", "fastcoref").disable_progress_bars()
    try:
        predictor = getattr(package, resolver)(str(folder), nlp=spacy.blank("en"), enable_progress_bar=False)
    except (OSError, ValueError, KeyError, AttributeError, RuntimeError) as problem:
        raise unusable(folder, needs, problem) from problem

    def predict(texts: Sequence[str], pages: Pages) -> list[Output | None]:
        return [_output(result) for result in predictor.predict(list(texts), max_tokens_in_batch=_TEXTS)]

    return predict


def _output(result: Any) -> Output:
    """Clusters of a ``CorefResult``; a mention that begins or ends on a special piece is None there."""
    clusters = result.get_clusters(as_strings=False)
    return Output(
        None, result.text, spans([[one for one in cluster if one] for cluster in clusters], result.text)
    )


_F, _LINGMESS = _NEEDS + "biu-nlp/f-coref", _NEEDS + "biu-nlp/lingmess-coref"
FCOREF = Adapter("fastcoref", "fastcoref", _F, partial(_load, "fcoref", "FCoref", _F))
LINGMESS = Adapter("lingmess", "fastcoref", _LINGMESS, partial(_load, "lingmess", "LingMessCoref", _LINGMESS))
