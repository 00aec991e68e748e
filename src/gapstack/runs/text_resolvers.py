"""Resolvers of any text by the name of a model, for the command line."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from gapstack.members.pairs_resolver import PairsResolver
from gapstack.resolvers.live import Adapter
from gapstack.resolvers.own_adapter import predict_with
from gapstack.running_text.any_text_resolver import AnyTextResolver
from gapstack.running_text.text_model import TextModel
from gapstack.running_text.text_resolver import TextResolver
from gapstack.runs.folder import DEFAULT
from gapstack.runs.predictors import load
from gapstack.text_model_files import is_text_model


@lru_cache(maxsize=1)
def text_resolver(model: str | None = None, parser: str | Path | None = None) -> AnyTextResolver:
    """The resolver of running text, or one of rows of two names if such a model is named (:func:`gapstack.load`).

    A folder that ``models/running_text/export.py`` wrote is a model of running text.
    """
    if model is None or model == DEFAULT:
        trained = None
    elif is_text_model(Path(model)):
        trained = TextModel.load(Path(model))
    else:
        return PairsResolver(load(model), parser)
    return TextResolver(trained, pairs=lambda: PairsResolver(load(), parser))


PAIRS = Adapter(
    "gapstack",
    "gapstack",
    "a saved member or stack, or a run",
    lambda model: predict_with(text_resolver(str(model)), titles=True),
    contaminated_by=lambda model: load(model).contaminated_by,
    identity=lambda model: text_resolver(str(model)).identity,
)
"""Resolves texts with a predictor of rows of two names; the candidates are detected names."""
