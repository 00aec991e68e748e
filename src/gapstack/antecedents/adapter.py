"""The pronoun resolver as a resolver: texts in, clusters out, names found by itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from gapstack.antecedents.answer import Answers
from gapstack.antecedents.entities import Entities
from gapstack.antecedents.pronoun_resolver import PronounResolver, Text
from gapstack.antecedents.windows import GENDERED
from gapstack.resolvers.live.adapter import Adapter, Pages, Predict
from gapstack.resolvers.output import Output
from gapstack.runs.predictors import load, shipped_model


@lru_cache(maxsize=1)
def _resolver(model: Path) -> PronounResolver:
    return PronounResolver(load(model, keep=True))


def _load(model: Path) -> Predict:
    resolver = _resolver(model)

    def predict(texts: Sequence[str], pages: Pages) -> list[Output | None]:
        asked = (Text(text, tuple(GENDERED), url=page) for text, page in zip(texts, pages, strict=True))
        return [_output(answers) for answers in resolver.stream(asked)]

    return predict


def _output(answers: Answers) -> Output:
    found = Entities.of(answers).annotation("").document
    return Output(None, answers.text, found.clusters, found.mention_scores, found.link_scores)


ADAPTER = Adapter(
    "gapstack",
    "gapstack",
    "a saved member or stack, or a run",
    _load,
    shipped_model,
    lambda model: _resolver(model).predictor.contaminated_by,
    lambda model: _resolver(model).identity,
)
