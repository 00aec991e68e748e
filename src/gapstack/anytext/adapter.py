"""gapstack's own resolver: texts in, clusters out; it detects the names itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import repeat
from pathlib import Path

from gapstack.anytext.answer import Answers
from gapstack.anytext.entities import Annotation
from gapstack.anytext.pronoun_resolver import AnyTextResolver, PronounResolver, Text
from gapstack.anytext.text_resolver import TextResolver
from gapstack.anytext.windows import GENDERED
from gapstack.coreference.model import CoreferenceModel, shipped
from gapstack.resolvers.formats import Output
from gapstack.resolvers.live import Adapter, Pages, Predict
from gapstack.runs.predictors import load


@lru_cache(maxsize=1)
def _resolver(model: Path) -> AnyTextResolver:
    if (model / "lexicon.json").is_file():
        return TextResolver(CoreferenceModel.load(model))
    return PronounResolver(load(model))


def _load(model: Path) -> Predict:
    resolver = _resolver(model)

    def predict(texts: Sequence[str], pages: Pages) -> list[Output | None]:
        # the model of running text reads no titles
        titles = pages if isinstance(resolver, PronounResolver) else repeat(None)
        asked = (Text(text, tuple(GENDERED), url=page) for text, page in zip(texts, titles, strict=False))
        return [_output(answers) for answers in resolver.stream(asked)]

    return predict


def _contaminated_by(model: Path) -> Sequence[str]:
    resolver = _resolver(model)
    return resolver.predictor.contaminated_by if isinstance(resolver, PronounResolver) else ()


def _output(answers: Answers) -> Output:
    found = Annotation.of(answers).document
    return Output(None, answers.text, found.clusters, found.mention_scores, found.link_scores)


ADAPTER = Adapter(
    "gapstack",
    "gapstack",
    "a folder with the model of running text, a saved member or stack, or a run",
    _load,
    default=shipped,
    contaminated_by=_contaminated_by,
    identity=lambda model: _resolver(model).identity,
)
