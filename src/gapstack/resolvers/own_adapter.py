"""The model of running text as one of the resolvers; it finds the people itself."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import repeat
from pathlib import Path

from gapstack.resolvers.formats import Output
from gapstack.resolvers.live import Adapter, Pages, Predict
from gapstack.running_text.any_text_resolver import AnyTextResolver, Text
from gapstack.running_text.entities import Annotation
from gapstack.running_text.text_model import TextModel
from gapstack.running_text.text_resolver import TextResolver
from gapstack.running_text.windows import GENDERED
from gapstack.text_model_files import CONTAMINATED_BY, shipped


def predict_with(resolver: AnyTextResolver, *, titles: bool = False) -> Predict:
    """Resolve the gendered pronouns of texts, and read the pages' ``titles`` if the resolver does so."""

    def predict(texts: Sequence[str], pages: Pages) -> list[Output | None]:
        urls = pages if titles else repeat(None)
        work = (Text(text, tuple(GENDERED), url=url) for text, url in zip(texts, urls, strict=False))
        annotations = map(Annotation.of, resolver.stream(work))
        return [
            Output(None, one.text, one.document.clusters, one.references, one.links) for one in annotations
        ]

    return predict


@lru_cache(maxsize=1)
def _text_resolver(model: Path) -> TextResolver:
    return TextResolver(TextModel.load(model))


ADAPTER = Adapter(
    "gapstack",
    "gapstack",
    "a folder with the model of running text",
    lambda model: predict_with(_text_resolver(model)),
    "encoder.onnx",
    default=shipped,
    contaminated_by=lambda model: CONTAMINATED_BY,
    identity=lambda model: _text_resolver(model).identity,
)
