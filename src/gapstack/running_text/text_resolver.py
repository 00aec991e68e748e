"""Resolves the pronouns of any text with the model of running text.

A text is cut into passages (:mod:`~gapstack.running_text.windows`), each is encoded and its mentions are found
(:mod:`~gapstack.running_text.text_model`), their words are described (:mod:`~gapstack.running_text.mentions`), and the
mentions of the whole text are linked in order (:mod:`~gapstack.running_text.links`). Here links become answers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from itertools import chain, islice
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from gapstack.data import Span
from gapstack.data.conversations import with_colons
from gapstack.data.example import GAP_FORMS, PLURAL, occurrences
from gapstack.errors import DataError
from gapstack.files import fingerprint
from gapstack.processes import in_threads
from gapstack.records import versions
from gapstack.running_text.answer import Answer, Answers, Candidate, KnownPerson
from gapstack.running_text.any_text_resolver import AnyTextResolver, Text
from gapstack.running_text.evidence import Entity
from gapstack.running_text.given_people import given_people, identified, without_parts_of_names
from gapstack.running_text.links import Linker, Resolution, is_anchor
from gapstack.running_text.mentions import Mention, MentionKind, describe, full_name
from gapstack.running_text.quotations import quotation_of, quotations
from gapstack.running_text.text_model import TextModel, packed, unpacked
from gapstack.running_text.windows import Window, passages, pronouns
from gapstack.running_text.word_pieces import WordPieces
from gapstack.text_model_files import shipped

MIN_PROBABILITY = 0.005
"""Candidates with a lower probability are left out."""
MOST = 0.99
"""No probability is higher."""
LEAST_MENTION = 0.08
"""Probability from which a span is a mention; chosen on the development documents."""
LISTED = 0.5
"""Probability from which a mention that answers no pronoun is listed among those of its person."""
_JOINING = frozenset(("and", "&", "or", ",", "with", "of", "'", "\u2019", "s"))
"""Words between the members of a group, or between an owner and what is owned."""
_NOBODY = 0.8
"""Part of the open probability that is nobody's; the rest is of people who were not found."""
_SHOWN = 12
"""Mentions of a candidate around a pronoun, besides its first."""
_GROUP = 0.5
"""Open probability from which *they* may be the people who were named apart just before."""


class TextResolver(AnyTextResolver):
    """Predicts which of a text's people each pronoun refers to, over the whole text.

    ``pairs`` makes the resolver for texts with the URL of their page, whose title this model does not read. Without it
    they are refused.
    """

    def __init__(self, model: TextModel | None = None, pairs: Callable[[], AnyTextResolver] | None = None):
        self.model, self._pairs = model or TextModel.load(shipped()), pairs

    @cached_property
    def pairs(self) -> AnyTextResolver:
        """The resolver of texts with a URL; DataError if there is none."""
        if self._pairs is None:
            raise DataError(
                "the model of running text reads no page titles",
                expected="a text without URL",
                remedy="Use gapstack.load().ask(...), whose model compares given names in pairs",
            )
        return self._pairs()

    @cached_property
    def identity(self) -> str:
        """Hash of all that decides an answer: model, the resolver of pairs, and versions."""
        return fingerprint(self.model.identity, self.pairs.identity if self._pairs else "", versions())

    def pieces(self, text: Text) -> Iterator[Window]:
        """Passages of a text, or windows for pairs."""
        return self.pairs.pieces(text) if text.url else passages(with_colons(text.text))

    def read(self, work: Sequence[tuple[Text, Window]]) -> list[Any]:
        """Mentions of each passage and their projections, or the answers of the windows for pairs."""
        titled = [(text, window) for text, window in work if text.url]
        pairs = iter(self.pairs.read(titled) if titled else ())
        passages = [one for one in work if not one[0].url]
        found = iter(in_threads(self._read, passages))
        return [next(pairs if text.url else found) for text, _ in work]

    def _read(self, work: tuple[Text, Window]) -> list[Any]:
        """Number of own pieces, mentions (start, end, first, last, probability), and their projections."""
        text, window = work
        known = [name for character in text.people for name in character.names]
        pieces = self.model.tokenizer.split(window.text)
        readings = self.model.readings(pieces)
        own = int(np.searchsorted(pieces.spans[:, 0], window.own))
        given = [
            *pronouns(window.text),
            *(span for name in (*text.names, *known) for span in occurrences(window.text, name)),
        ]
        spans = _mention_spans(self.model, readings, pieces, given)
        # those of the whole text, as in training, change nothing: FantasyCoref 80.4% for 80.6%, LitBank 81.9% both
        quotes, mentions = quotations(window.text), list[Mention]()
        for first, last in spans:
            span = Span(int(pieces.spans[first, 0]), int(pieces.spans[last, 1]))
            mention = describe(window.text, span, first, last, self.model.lexicon)
            mention.validity, mention.quote = spans[first, last], quotation_of(quotes, span)
            mentions.append(mention)
        mentions = without_parts_of_names(mentions, set(known).difference(text.names))
        mentions = self._joined(window.text, _best_of_head(mentions), text.names)
        mentions = [one for one in mentions if one.first >= own]
        records = [
            [*window.origin(one.span), one.first - own, one.last - own, round(one.validity, 4)]
            for one in mentions
        ]
        if not mentions:
            return [len(pieces) - own, [], ""]
        firsts, lasts = (np.array([getattr(one, end) for one in mentions]) for end in ("first", "last"))
        projections = self.model.project(readings, firsts, lasts, mentions)
        return [len(pieces) - own, records, packed(projections)]

    def _joined(self, text: str, mentions: Sequence[Mention], names: Collection[str]) -> list[Mention]:
        """Mentions with "her husband" and "John" as one where nothing is between them; ``names`` stay alone."""
        name_at = {
            one.first: one for one in mentions if one.kind == MentionKind.NAME and one.text not in names
        }
        whole_at = {one.first: one for one in mentions if one.kind == MentionKind.TITLED_NAME}
        parts, wholes = set[Mention](), list[Mention]()
        for mention in mentions:
            if mention.kind != MentionKind.POSSESSIVE:
                continue
            if mention.first in whole_at:
                parts.add(mention)
            elif name := name_at.get(mention.last + 1):
                span = Span(mention.span.start, name.span.end)
                whole = describe(text, span, mention.first, name.last, self.model.lexicon)
                if whole.is_name:
                    whole.validity, whole.quote = max(mention.validity, name.validity), mention.quote
                    parts |= {mention, name}
                    wholes.append(whole)
        joined = [*wholes, *(one for one in mentions if one not in parts)]
        return sorted(joined, key=lambda one: (one.first, -one.last))

    def link(self, text: Text, results: Iterable[Any]) -> Answers:
        """Answers for a whole text."""
        if text.url:
            return self.pairs.link(text, results)
        linker = self.linked(text, results)
        answers = list(_answers(text, linker))
        people = _people(linker, answers)
        if text.names:
            answers = [_among(text, answer) for answer in answers]
        return Answers(text.text, answers, people)

    # a second thread gains nothing from matrices this small, and loses much on a busy machine
    @threadpool_limits.wrap(limits=1)  # type: ignore[untyped-decorator]
    def linked(self, text: Text, results: Iterable[Any]) -> Linker:
        """The linked mentions of a whole text, from the values of its passages."""
        offset, quotes = 0, quotations(text.text)
        starts = [turn.label.start for turn in text.turns]
        passages = list[tuple[list[Mention], Any]]()
        for size, records, projections in results:
            mentions = []
            for start, end, first, last, probability in records:
                span = Span(start, end)
                mention = describe(text.text, span, offset + first, offset + last, self.model.lexicon)
                mention.validity, mention.quote = probability, quotation_of(quotes, span)
                mention.turn = bisect_right(starts, end - 1) - 1
                mention.labels_turn = mention.turn >= 0 and span.overlaps(text.turns[mention.turn].label)
                mentions.append(mention)
            if mentions:
                passages.append((mentions, projections))
            offset += size
        linker, people = Linker(self.model), given_people(text, self.model.lexicon)
        given = iter(identified([mention for mentions, _ in passages for mention in mentions], people))
        for mentions, projections in passages:
            of_passage = list(islice(given, len(mentions)))
            linker.read(mentions, unpacked(projections, self.model.sizes), of_passage)
        return linker


def _mention_spans(
    model: TextModel, readings: Sequence[np.ndarray], pieces: WordPieces, given: Iterable[Span]
) -> dict[tuple[int, int], float]:
    """Probabilities of mentions by first and last piece: given spans, and the best of those that cross."""
    spans: dict[tuple[int, int], float] = {}
    for span in given:
        inside = np.flatnonzero((pieces.spans[:, 0] < span.end) & (pieces.spans[:, 1] > span.start))
        if len(inside):
            spans[int(inside[0]), int(inside[-1])] = 1.0
    found = model.spans(readings, pieces, LEAST_MENTION)
    for i in np.argsort(-found.probabilities, kind="stable").tolist():
        at = int(found.firsts[i]), int(found.lasts[i])
        if not any(_cross(at, other) for other in spans):
            spans.setdefault(at, float(found.probabilities[i]))
    return {at: probability for at, probability in spans.items() if not _joins_two(at, spans, pieces)}


def _best_of_head(mentions: Iterable[Mention]) -> list[Mention]:
    """Mentions in the order of the text; of those with the same head, the most probable: "my sister", not "sister"."""
    by_head: dict[str, list[Mention]] = defaultdict(list)
    for mention in sorted(mentions, key=lambda one: (-one.validity, one.first)):
        of_head = by_head[mention.head or mention.text]
        if not any(mention.first <= one.last and one.first <= mention.last for one in of_head):
            of_head.append(mention)
    return sorted(chain.from_iterable(by_head.values()), key=lambda one: (one.first, -one.last))


def _joins_two(at: tuple[int, int], spans: Iterable[tuple[int, int]], pieces: WordPieces) -> bool:
    """True if a span goes from one mention to another and nothing but a clause joins them: "Ann called Bob"."""
    begin = [other[1] for other in spans if other[0] == at[0] and other[1] < at[1]]
    end = [other[0] for other in spans if other[1] == at[1] and other[0] > at[0]]
    gaps = [pieces.tokens[last + 1 : first] for last in begin for first in end if last < first]
    return bool(gaps) and not any(_JOINING.issuperset(gap) for gap in gaps)


def _cross(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """True if two spans overlap and neither contains the other."""
    (a, b), (c, d) = one, other
    return a < c <= b < d or c < a <= d < b


class _Person:
    """What answers show of an entity, computed once: a person of a novel is a candidate of thousands of pronouns."""

    def __init__(self, linker: Linker, entity: Entity):
        mentions = linker.memory.mentions
        self.entity = entity
        self.anchors = [number for number in entity.mentions if is_anchor(mentions[number])]
        self.full_name = full_name([mentions[number] for number in self.anchors])
        signs = np.array([mentions[number].pronoun for number in entity.mentions])
        # numbers of feminine and masculine pronouns among the first mentions
        self._feminine, self._masculine = (np.cumsum([0, *(sign * signs > 0)]) for sign in (1, -1))

    def nearest(self, number: int, most: int) -> list[int]:
        """The anchors nearest to a mention."""
        at = bisect_left(self.anchors, number)
        around = self.anchors[max(0, at - most) : at + most]
        return sorted(around, key=lambda anchor: abs(anchor - number))[:most]

    def pronouns_before(self, number: int, sign: float) -> tuple[int, int]:
        """Numbers of earlier pronouns of a signed gender and of the other one."""
        at = bisect_left(self.entity.mentions, number)
        feminine, masculine = int(self._feminine[at]), int(self._masculine[at])
        return (feminine, masculine) if sign > 0 else (masculine, feminine) if sign < 0 else (0, 0)


def _answers(text: Text, linker: Linker) -> Iterator[Answer]:
    """Answers for the pronouns of the forms asked for."""
    person_of = lru_cache(maxsize=None)(partial(_Person, linker))
    for resolution in linker.resolutions:
        mention = resolution.mention
        if mention.kind <= MentionKind.NEOPRONOUN and mention.text.lower() in text.pronouns:
            yield _answer(text.text, linker, resolution, person_of)


def _answer(
    text: str, linker: Linker, resolution: Resolution, person_of: Callable[[Entity], _Person]
) -> Answer:
    """The candidates of a pronoun: its anchors by entity, each shown by the most probable one."""
    memory, mention = linker.memory, resolution.mention
    of_entity: dict[Entity, dict[int, float]] = defaultdict(dict)
    for anchor, probability in resolution.anchors.items():
        of_entity[memory.entity[anchor]][anchor] = probability
    candidates = [
        _candidate(linker, resolution, person_of(entity), anchors)
        for entity, anchors in of_entity.items()
        if sum(anchors.values()) >= MIN_PROBABILITY
    ]
    left = resolution.open
    if mention.kind == MentionKind.THEY and left > _GROUP:
        members = linker.members_nearby(resolution)
        if len(members) in (2, 3):
            candidates.append(_group(members, left * MOST))
            left *= 1 - MOST
    total = sum(one.probability for one in candidates)
    scale = min(1.0, MOST / max(total, left, 1e-9))
    candidates = [replace(one, probability=scale * one.probability) for one in candidates]
    candidates.sort(key=lambda one: -one.probability)
    nobody = _NOBODY * scale * left
    other = max(0.0, 1 - nobody - sum(one.probability for one in candidates))
    form = text[slice(*mention.span)]
    return Answer(mention.span, form, tuple(candidates), nobody, _notes(mention), other)


def _candidate(
    linker: Linker, resolution: Resolution, person: _Person, anchors: Mapping[int, float]
) -> Candidate:
    memory = linker.memory
    shown = max(anchors, key=lambda anchor: anchors[anchor])
    near = person.nearest(resolution.number, _SHOWN)
    mentions = sorted({memory.mentions[number].span for number in {person.anchors[0], shown, *near}})
    return Candidate(
        memory.mentions[shown].span,
        memory.mentions[shown].text,
        sum(anchors.values()),
        tuple(mentions),
        person.full_name,
        _reasons(linker, resolution, person, shown),
    )


def _group(members: Sequence[Mention], probability: float) -> Candidate:
    """People who are named apart, as one candidate."""
    names = [member.text for member in members]
    name = f"{', '.join(names[:-1])} and {names[-1]}"
    spans = tuple(member.span for member in members)
    return Candidate(spans[0], name, probability, spans, name, ("named apart just before",), spans)


def _among(text: Text, answer: Answer) -> Answer:
    """The answer among the given names and nobody of them, who gets the probability of all other people."""
    given = [
        one
        for one in answer.candidates
        if any(" ".join(text.text[slice(*span)].split()) in text.names for span in one.mentions)
    ]
    nobody = answer.nobody + sum(one.probability for one in answer.candidates if one not in given)
    scale = MOST / max(nobody + sum(one.probability for one in given), 1e-9)
    candidates = tuple(replace(one, probability=scale * one.probability) for one in given)
    return replace(answer, candidates=candidates, nobody=scale * nobody, other=1 - MOST)


def _people(linker: Linker, answers: Sequence[Answer]) -> list[KnownPerson]:
    """People who are named, mentioned more than once, or candidates of an answer."""
    memory = linker.memory
    shown = {candidate.span for answer in answers for candidate in answer.candidates}
    people = []
    for entity in memory.entities:
        mentions = [
            one
            for one in (memory.mentions[number] for number in entity.mentions)
            if is_anchor(one) and (one.validity >= LISTED or one.span in shown)
        ]
        if mentions:
            named = any(mention.is_name for mention in mentions)
            if named or len(entity.mentions) > 1 or any(one.span in shown for one in mentions):
                spans = tuple(sorted({mention.span for mention in mentions}))
                people.append(KnownPerson(full_name(mentions), spans, named))
    return people


def _reasons(linker: Linker, resolution: Resolution, person: _Person, shown: int) -> tuple[str, ...]:
    """What speaks for or against a candidate, by its words."""
    memory, mention, entity = linker.memory, resolution.mention, person.entity
    anchor = memory.mentions[shown]
    sign, form = mention.pronoun, mention.text.lower()
    same, other = person.pronouns_before(resolution.number, sign)
    earlier = range(resolution.number - 1, -1, -1)
    last = next((number for number in earlier if memory.mentions[number].text.lower() == form), None)
    holds = {
        "its title or noun fits the gender": sign * entity.noun > 0,
        "its title or noun is of the other gender": sign * entity.noun < 0,
        "the first name fits the gender": sign * entity.name > 0.2,
        "the first name is mostly of the other gender": sign * entity.name < -0.2,
        "earlier pronouns of this person fit": same > 0 and same >= other,
        "earlier pronouns of this person do not fit": other > same,
        f"the last {form} before is this person": last is not None and memory.entity[last] is entity,
        "named after the pronoun": anchor.first > mention.last,
    }
    return tuple(reason for reason, is_so in holds.items() if is_so)


def _notes(mention: Mention) -> tuple[str, ...]:
    form = mention.text.lower()
    if form in PLURAL:
        return (f"{form!r} may be a plural",)
    return () if form in GAP_FORMS or form.endswith("self") else (f"{form!r} is rare in training",)
