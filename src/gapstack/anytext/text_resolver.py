"""Resolves the pronouns of any text with the model of running text (:mod:`gapstack.coreference`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cached_property, lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from gapstack.anytext.answer import Answer, Answers, Candidate, KnownPerson
from gapstack.anytext.entities import Annotation
from gapstack.anytext.pronoun_resolver import AnyTextResolver, PronounResolver, Text
from gapstack.anytext.windows import GENDERED, Window, passages
from gapstack.coreference.detection import Position, sentences
from gapstack.coreference.entities import Context
from gapstack.coreference.mentions import Determiner, Kind, Mention
from gapstack.coreference.model import MOST, Choice, CoreferenceModel, Link, named, shipped
from gapstack.coreference.reader import units
from gapstack.data import Span
from gapstack.data.example import GAP_FORMS, PLURAL
from gapstack.files import fingerprint, scratch_cache
from gapstack.members.member import Predictor
from gapstack.processes import in_threads
from gapstack.records import versions
from gapstack.resolvers.clusters import same_name
from gapstack.resolvers.formats import Output
from gapstack.resolvers.live import Adapter, Pages, Predict
from gapstack.runs.predictors import load
from gapstack.text.grammar import Role
from gapstack.text.parses import docs, find_parser, text_key

CONTAMINATED_BY = ("gap-development", "gap-validation", "gap-stage2")
"""Test sets that share rows with the training data of the model of running text."""
MIN_PROBABILITY = 0.005
"""Candidates with a lower probability are left out."""
_SHOWN = 12
"""Mentions of a candidate around a pronoun, besides its first."""


class TextResolver(AnyTextResolver):
    """Predicts which of a text's people each pronoun refers to, entity by entity over the whole text.

    Texts of a page whose title is known are left to the shipped stack of GAP, which compares names in pairs and reads
    titles (:class:`PronounResolver`); so are texts with a given name that is not recognised as a person's.
    """

    def __init__(
        self,
        model: CoreferenceModel | None = None,
        parser: str | Path | None = None,
        pairs: Predictor | None = None,
    ):
        self.model, self.parser, self._pairs = model or CoreferenceModel.load(shipped()), parser, pairs

    @cached_property
    def pairs(self) -> PronounResolver:
        """The resolver of given candidates."""
        return PronounResolver(self._pairs or load(), self.parser)

    @property
    def identity(self) -> str:
        """Hash of all that decides an answer: model, stack, parser, and versions."""
        parser = find_parser(self.parser).fingerprint
        return fingerprint(self.model.identity, self.pairs.identity, parser, versions())

    def pieces(self, text: Text) -> Iterator[Window]:
        """Passages of a text, or windows for pairs."""
        return self.pairs.pieces(text) if text.url else passages(text.text)

    def read(self, work: Sequence[tuple[Text, Window]]) -> list[Any]:
        """Mentions of each passage, or the answers of the windows for pairs."""
        pairs = iter(self.pairs.read([one for one in work if one[0].url]) if work else ())
        texts = [window.text for text, window in work if not text.url]
        with scratch_cache():
            parsed = dict(docs(texts, self.parser))
        passages = [(window, parsed[text_key(window.text)]) for text, window in work if not text.url]
        mentions = iter(in_threads(self._mentions, passages))
        return [next(pairs if text.url else mentions) for text, _ in work]

    def _mentions(self, passage: tuple[Window, Any]) -> list[Any]:
        window, doc = passage
        at = Position()
        found = list(sentences(doc, at, self.model.lexicon, window.origin))
        mentions = [mention for _, own in found for mention in own]
        spans = [mention.span for mention in mentions]
        vectors = self.model.pairs.vectors(window.text, spans, window.origin)
        for mention, vector in zip(mentions, vectors.astype(np.float16).tolist(), strict=True):
            mention.vector = vector
        return [
            *(at.token, at.sentence, at.quotes),
            [[continues, [_values(mention) for mention in own]] for continues, own in found],
        ]

    # a second thread gains nothing from matrices this small, and loses much on a busy machine
    @threadpool_limits.wrap(limits=1)  # type: ignore[untyped-decorator]
    def link(self, text: Text, results: Iterable[Any]) -> Answers:
        """Link the mentions of a whole text to entities."""
        if text.url:
            return self.pairs.link(text, results)
        context = Context()
        answers = [
            _answer(text.text, link)
            for links in self.model.link(units(_restored(results)), context)
            for link in links
            if link.pronoun.text.lower() in text.pronouns
        ]
        shown = {candidate.span for answer in answers for candidate in answer.candidates}
        people = [
            KnownPerson(_full_name(text.text, found), _spans(found), _has_name(found))
            for entity in (*context.past, *context.entities)
            if (found := named(entity))
            and (len(entity.mentions) > 1 or _has_name(found) or entity.last.display in shown)
        ]
        if not text.names:
            return Answers(text.text, answers, people)
        known = [text.text[slice(*span)] for person in people for span in person.mentions]
        if all(any(same_name(words, name) for words in known) for name in text.names):
            return Answers(text.text, [_among(text, answer) for answer in answers])
        return next(self.pairs.stream([text]))


def resolver_of(predictor: Predictor) -> AnyTextResolver:
    """The resolver of texts that uses a predictor."""
    return TextResolver(pairs=predictor) if predictor.for_running_text else PronounResolver(predictor)


def create_resolver(model: str | None = None, parser: str | Path | None = None) -> AnyTextResolver:
    """The resolver of running text, or one of rows of two names if a model is named (:func:`gapstack.load`)."""
    return TextResolver(parser=parser) if model in (None, "default") else PronounResolver(load(model), parser)


_NAMES = [field.name for field in fields(Mention)]
_CONVERTERS = {"kind": Kind, "role": Role, "determiner": Determiner, "words": tuple}
_SPANS = ("span", "display")
_NUMBERED = ("start", "stop", "head", "governor", "clause", "possessor", "apposition", "predicate_of")


def _restored(results: Iterable[Any]) -> Iterator[tuple[bool, list[Mention]]]:
    """Sentences of consecutive passages; tokens, sentences and quotations are counted over the whole text."""
    token = sentence = quotes = 0
    for tokens, number, quoted, found in results:
        for continues, mentions in found:
            yield continues, [_mention(values, token, sentence, quotes) for values in mentions]
        token, sentence, quotes = token + tokens, sentence + number, quotes + quoted


def _values(mention: Mention) -> list[Any]:
    return [getattr(mention, name) for name in _NAMES]


def _mention(values: Sequence[Any], token: int, sentence: int, quotes: int) -> Mention:
    record = dict(zip(_NAMES, values, strict=True))
    record |= {name: convert(record[name]) for name, convert in _CONVERTERS.items()}
    record |= {name: Span(*record[name]) for name in _SPANS}
    record |= {name: record[name] + token for name in _NUMBERED if record[name] >= 0}
    record["above"] = [one + token for one in record["above"]]
    mention = Mention(**record)
    mention.sentence += sentence
    mention.quote += quotes if mention.quote >= 0 else 0
    return mention


def _spans(mentions: Iterable[Mention]) -> tuple[Span, ...]:
    return tuple(sorted({mention.display for mention in mentions}))


def _answer(text: str, link: Link) -> Answer:
    candidates = tuple(
        _candidate(text, link.pronoun, choice)
        for choice in link.choices
        if choice.probability >= MIN_PROBABILITY
    )
    other = 1 - link.nobody - sum(candidate.probability for candidate in candidates)
    form = text[slice(*link.pronoun.span)]
    return Answer(link.pronoun.span, form, candidates, link.nobody, _notes(link.pronoun), max(other, 0.0))


def _among(text: Text, answer: Answer) -> Answer:
    """The answer among the given names and nobody, who share all but what is left for people not given."""
    given = [
        one
        for one in answer.candidates
        if any(same_name(text.text[slice(*span)], name) for span in one.mentions for name in text.names)
    ]
    scale = MOST / (answer.nobody + sum(one.probability for one in given))
    candidates = tuple(replace(one, probability=scale * one.probability) for one in given)
    return replace(answer, candidates=candidates, nobody=scale * answer.nobody, other=1 - MOST)


def _candidate(text: str, pronoun: Mention, choice: Choice) -> Candidate:
    shown = choice.shown
    mentions = _spans([*named(choice.entity, _SHOWN), shown])
    return Candidate(
        shown.display,
        _words(text, shown),
        choice.probability,
        mentions,
        _full_name(text, named(choice.entity)),
        _reasons(pronoun, choice.features),
    )


def _full_name(text: str, mentions: Sequence[Mention]) -> str:
    """The longest name, else the longest noun phrase."""
    longest = max(
        mentions, key=lambda one: (one.kind is Kind.NAME, len(one.words), one.display.end - one.display.start)
    )
    return _words(text, longest)


def _has_name(mentions: Iterable[Mention]) -> bool:
    return any(one.kind is Kind.NAME and one.personhood == 1 for one in mentions)


def _words(text: str, mention: Mention) -> str:
    return " ".join(text[slice(*mention.display)].split())


def _reasons(pronoun: Mention, features: dict[str, float]) -> tuple[str, ...]:
    """What speaks for or against an entity, by its features."""
    form = pronoun.text.lower()
    found = {
        "its title or noun fits the gender": features["title_agrees"] > 0 and pronoun.sign,
        "its title or noun is of the other gender": features["title_agrees"] < 0,
        "the first name fits the gender": features["name_agrees"] > 1,
        "the first name is mostly of the other gender": features["name_agrees"] < -1,
        "earlier pronouns of this person fit": features["same_pronouns"] > 0.5,
        "earlier pronouns of this person do not fit": features["other_pronouns"] > 0.5 and pronoun.sign,
        "the context fits": features["neural_share"] > 0.5,
        "the only person nearby who fits": features["fitting"] == 1 and features["fitting_rank"] == 0,
        f"the last {form} before is this person": features["of_previous_pronoun"] == 1,
        "subject of this sentence": features["subject_of_sentence"] == 1,
        "subject of the sentence before": features["subject_of_previous"] == 1,
        "speaks here": features["speaker"] == 1,
        "is spoken to here": features["addressee"] == 1,
        f"last mentioned {features['sentences']:.0f} sentences before": features["sentences"] > 2,
    }
    return tuple(reason for reason, holds in found.items() if holds)


def _notes(pronoun: Mention) -> tuple[str, ...]:
    form = pronoun.text.lower()
    if form in PLURAL:
        return (f"{form!r} may be a plural",)
    return () if form in GAP_FORMS or pronoun.reflexive else (f"{form!r} is rare in training",)


@lru_cache(maxsize=1)
def _resolver(model: Path) -> AnyTextResolver:
    if _reads_running_text(model):
        return TextResolver(CoreferenceModel.load(model))
    return PronounResolver(load(model))


def _reads_running_text(model: Path) -> bool:
    return (model / "lexicon.json").is_file()


def _predict_with(model: Path) -> Predict:
    resolver = _resolver(model)

    def predict(texts: Sequence[str], pages: Pages) -> list[Output | None]:
        # the model of running text reads no titles
        titles = pages if isinstance(resolver, PronounResolver) else repeat(None)
        asked = (Text(text, tuple(GENDERED), url=page) for text, page in zip(texts, titles, strict=False))
        return [_output(answers) for answers in resolver.stream(asked)]

    return predict


def _contaminated_by(model: Path) -> Sequence[str]:
    return CONTAMINATED_BY if _reads_running_text(model) else load(model).contaminated_by


def _output(answers: Answers) -> Output:
    found = Annotation.of(answers).document
    return Output(None, answers.text, found.clusters, found.mention_scores, found.link_scores)


ADAPTER = Adapter(
    "gapstack",
    "gapstack",
    "a folder with the model of running text, a saved member or stack, or a run",
    _predict_with,
    default=shipped,
    contaminated_by=_contaminated_by,
    identity=lambda model: _resolver(model).identity,
)
"""This package's own resolver of texts, which detects the names itself."""
