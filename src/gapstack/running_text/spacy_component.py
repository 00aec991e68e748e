"""The spaCy component ``gapstack``: clusters and link probabilities on the documents of any pipeline.

::

    nlp = spacy.blank("en")        # or any other pipeline: the component parses for itself
    nlp.add_pipe("gapstack")
    doc = nlp("Kate told Mary that she should leave.")
    [(span.text, span.label_) for span in doc.spans["gapstack_clusters"]]   # [("Kate", "1"), ("she", "1")]
    doc._.gapstack_links           # characters of pronoun and candidate, and probability
    doc._.gapstack_rewritten       # the text with names in place of pronouns

spaCy finds it by the entry point ``spacy_factories``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

from gapstack.data.example import GENDER_BY_FORM
from gapstack.running_text.any_text_resolver import AnyTextResolver, Text
from gapstack.running_text.characters import known_characters
from gapstack.running_text.entities import Annotation
from gapstack.running_text.text_resolver import TextResolver
from gapstack.running_text.windows import GENDERED

CLUSTERS = "gapstack_clusters"
"""Span group with all mentions of people with at least two; their labels count the people from 1."""
LINKS = "gapstack_links"
"""Extension: start and end of the pronoun, of the candidate, and the probability, for every link of at least 1%.

Numbers and no spans, so that documents can be stored."""
REWRITTEN = "gapstack_rewritten"
"""Extension: the text with names in place of pronouns (:meth:`~gapstack.running_text.answer.Answers.rewritten`)."""
COREF_CLUSTERS = "coref_clusters"
"""Prefix of span groups of one person each, numbered from 1, as spacy-experimental's resolver names them."""


class PronounComponent:
    """Sets :data:`CLUSTERS`, :data:`COREF_CLUSTERS`, :data:`LINKS` and :data:`REWRITTEN` of each document.

    With ``neutral``, they and neopronouns are resolved too, and a plural they is taken for a person. ``people`` are
    pronouns by name: ``{"Gabriel": "she"}``.
    """

    def __init__(self, neutral: bool = False, people: Mapping[str, str] | None = None):
        self.people = known_characters(people or {})
        self.forms = tuple(GENDER_BY_FORM if neutral else GENDERED)
        for name, default in ((LINKS, ()), (REWRITTEN, "")):
            if not Doc.has_extension(name):
                Doc.set_extension(name, default=default)

    @cached_property
    def _resolver(self) -> AnyTextResolver:
        return TextResolver()

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one document."""
        return next(self.pipe([doc]))

    def pipe(self, docs: Iterable[Doc], batch_size: int = 64) -> Iterator[Doc]:
        """Annotate documents, those of a batch in one pass."""
        for batch in minibatch(docs, batch_size):
            answered = self._resolver.stream(Text(doc.text, self.forms, people=self.people) for doc in batch)
            for doc, answers in zip(batch, answered, strict=True):
                found = Annotation.of(answers)
                doc.spans[CLUSTERS] = [
                    doc.char_span(*mention, label=str(number), alignment_mode="expand")
                    for number, cluster in enumerate(found.clusters, start=1)
                    for mention in cluster
                ]
                for number, cluster in enumerate(found.clusters, start=1):
                    doc.spans[f"{COREF_CLUSTERS}_{number}"] = [
                        doc.char_span(*mention, alignment_mode="expand") for mention in cluster
                    ]
                doc._.set(LINKS, [(*one, *other, p) for (one, other), p in found.links.items()])
                doc._.set(REWRITTEN, answers.rewritten().text)
                yield doc


@Language.factory(  # type: ignore[untyped-decorator]
    "gapstack",
    assigns=["doc.spans", f"doc._.{LINKS}", f"doc._.{REWRITTEN}"],
    default_config={"neutral": False, "people": None},
)
def create(nlp: Language, name: str, neutral: bool, people: dict[str, str] | None) -> PronounComponent:
    """Make the component; spaCy calls it by the name ``gapstack``."""
    return PronounComponent(neutral, people)
