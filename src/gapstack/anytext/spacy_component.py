"""The spaCy component ``gapstack``: clusters and link probabilities on the documents of any pipeline.

::

    nlp = spacy.blank("en")        # or any other pipeline: the component parses for itself
    nlp.add_pipe("gapstack")
    doc = nlp("Kate told Mary that she should leave.")
    [(span.text, span.label_) for span in doc.spans["gapstack_clusters"]]   # [("Kate", "1"), ("she", "1")]
    doc._.gapstack_links           # characters of pronoun and candidate, and probability

spaCy finds it by the entry point ``spacy_factories``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

from gapstack.anytext.entities import Annotation
from gapstack.anytext.pronoun_resolver import AnyTextResolver, Text
from gapstack.anytext.text_resolver import create_resolver
from gapstack.anytext.windows import GENDERED
from gapstack.data.example import GENDER_BY_FORM

CLUSTERS = "gapstack_clusters"
"""Span group with all mentions of people with at least two; their labels count the people from 1."""
LINKS = "gapstack_links"
"""Extension: start and end of the pronoun, of the candidate, and the probability, for every link of at least 1%.

Numbers and no spans, so that documents can be stored."""


class PronounComponent:
    """Sets :data:`CLUSTERS` and :data:`LINKS` of each document.

    ``model`` is a saved member or stack, or a run (default: the model of running text that comes with gapstack). With
    ``neutral``, they and neopronouns are resolved too, and a plural they is taken for a person.
    """

    def __init__(self, model: str | None = None, neutral: bool = False):
        self.model = model
        self.forms = tuple(GENDER_BY_FORM if neutral else GENDERED)
        if not Doc.has_extension(LINKS):
            Doc.set_extension(LINKS, default=())

    @cached_property
    def _resolver(self) -> AnyTextResolver:
        return create_resolver(self.model)

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one document."""
        return next(self.pipe([doc]))

    def pipe(self, docs: Iterable[Doc], batch_size: int = 64) -> Iterator[Doc]:
        """Annotate documents, those of a batch in one pass."""
        for batch in minibatch(docs, batch_size):
            answered = self._resolver.stream(Text(doc.text, self.forms) for doc in batch)
            for doc, answers in zip(batch, answered, strict=True):
                found = Annotation.of(answers)
                doc.spans[CLUSTERS] = [
                    doc.char_span(*mention, label=str(number), alignment_mode="expand")
                    for number, cluster in enumerate(found.clusters, start=1)
                    for mention in cluster
                ]
                doc._.set(LINKS, [(*one, *other, p) for (one, other), p in found.links.items()])
                yield doc


@Language.factory(  # type: ignore[untyped-decorator]
    "gapstack",
    assigns=["doc.spans", f"doc._.{LINKS}"],
    default_config={"model": None, "neutral": False},
)
def create(nlp: Language, name: str, model: str | None, neutral: bool) -> PronounComponent:
    """Make the component; spaCy calls it by the name ``gapstack``."""
    return PronounComponent(model, neutral)
