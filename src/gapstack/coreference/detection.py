"""Finds mentions in the sentences of a parsed text, in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from gapstack.coreference.lexicon import (
    ADDRESSES,
    ADJECTIVES,
    BEFORE_TITLES,
    INDEFINITE,
    NO_NAMES,
    OF_SURNAMES,
    TITLES,
    Lexicon,
)
from gapstack.coreference.mentions import Determiner, Kind, Mention, Place
from gapstack.data import Span
from gapstack.data.example import GENDER_BY_FORM, Gender
from gapstack.text.grammar import Role, role_of
from gapstack.text.words import distinctive_tokens

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token
    from spacy.tokens import Span as Tokens

MIN_PERSON_SHARE = 0.15
"""Nouns that denote a person less often are not mentions."""
_SIGN = {Gender.MASCULINE: -1, Gender.FEMININE: 1, Gender.NEUTRAL: 0}
_ALSO_NAMES = {"Em", "Fae"}
"""Pronouns that are first names too."""
_TRANSPARENT = (Role.CONJUNCT, Role.APPOSITION, Role.NAME)
_IN_NOUN_PHRASE = ("det", "amod", "compound", "nummod", "poss", "nmod:poss", "flat")
_AND = ("and", "&")
_OBJECTS = (Role.OBJECT, Role.DATIVE)
_DETERMINERS = {
    "the": Determiner.DEFINITE,
    **dict.fromkeys(("this", "that", "these", "those"), Determiner.DEMONSTRATIVE),
    **dict.fromkeys(("a", "an", "some", "any", "every", "each", "no", "another"), Determiner.INDEFINITE),
}
_SPEECH_VERBS = """
say ask reply answer cry exclaim add return remark whisper mutter murmur shout call observe tell continue inquire begin
repeat declare demand explain laugh gasp rejoin respond sigh snap groan think wonder
"""
_SPEECH = frozenset(_SPEECH_VERBS.split())
_QUOTES = {'"': 0, "\u201c": 1, "\u201d": -1, "``": 1, "''": -1}
_LONGEST_QUOTE = 200  # tokens, after which a quotation mark was probably missed


# words that the parser takes for the beginning or the end of a name
_GREETINGS = frozenset(("hi", "hello", "hey", "dear", "thanks"))
_NOT_FIRST = _GREETINGS | {"user", "customer", "team", "present"}
_NO_NAME_BEGINS = ("CCONJ", "SCONJ", "DET", "INTJ", "ADV", "PRON", "AUX", "PUNCT")
"""Parts of speech that are not those of a name's first word."""
_NOT_LAST = frozenset(("'s", "\u2019s", "'", "\u2019", "said", "says", "asked", "replied", "told"))


@dataclass
class Position:
    """Tokens, sentences and quotations of a document that were read so far."""

    token: int = 0
    sentence: int = 0
    quote: int = -1
    quotes: int = 0
    quoted_since: int = 0


def sentences(doc: Doc, at: Position, lexicon: Lexicon, place: Place) -> Iterator[tuple[bool, list[Mention]]]:
    """Mentions of each sentence of a parsed part of a document, which begins ``at`` a position and moves it.

    Each comes with True if the sentence continues the one before: it opens in a quotation or in lower case.
    ``place`` maps characters of the part to those of the document.
    """
    for sentence in doc.sents:
        opening = next((token.text for token in sentence if token.text[0].isalpha()), "")
        continues = at.quote >= 0 or opening[:1].islower()
        quotes = list(_quotes(sentence, at))
        detector = _Detector(sentence, at.token - sentence.start, at.sentence, lexicon, place)
        found = list(detector.people())
        found += detector.groups(found)
        for mention in found:
            mention.quote = quotes[mention.head - at.token]
            mention.speaks &= mention.quote < 0
        found = [one for one in found if one.quote >= 0 or one.determiner or one.lemma not in ADDRESSES]
        at.token += len(sentence)
        at.sentence += 1
        yield continues, sorted(found, key=lambda mention: (mention.start, -mention.stop))


def _quotes(sentence: Tokens, at: Position) -> Iterator[int]:
    """Number of the quotation that each token is in, -1 outside."""
    for number, token in enumerate(sentence, start=at.token):
        direction = _QUOTES.get(token.text)
        if direction is not None:
            opens = direction > 0 or (direction == 0 and at.quote < 0)
            if opens:
                at.quote, at.quoted_since = at.quotes, number
                at.quotes += 1
            else:
                at.quote = -1
        elif number - at.quoted_since > _LONGEST_QUOTE:
            at.quote = -1
        yield at.quote


class _Detector:
    """Finds the mentions of one sentence; tokens are counted over the document by adding ``offset``."""

    def __init__(self, sentence: Tokens, offset: int, number: int, lexicon: Lexicon, place: Place):
        self._sentence, self._doc, self._first = sentence, sentence.doc, sentence.start
        self._offset, self._number, self._lexicon, self._place = offset, number, lexicon, place
        self._names = self._find_names()

    def people(self) -> Iterator[Mention]:
        """Pronouns, names and nouns."""
        taken: set[int] = set()
        for token in self._sentence:
            form = token.text.lower()
            if _is_pronoun(token):
                yield self._pronoun(token, form)
            elif token.i in self._names:
                start, stop = self._names[token.i]
                name = self._name(start, stop)
                if name is not None and token.i not in taken:
                    yield name
                taken.update(range(start, stop))
            elif _may_be_noun(token) and not self._inside_name(token):
                noun = self._noun(token)
                if noun is not None:
                    yield noun
                elif self._may_be_name(token):
                    yield from self._other_name(token)

    def groups(self, found: Sequence[Mention]) -> Iterator[Mention]:
        """People who are named together: "Ann and Bob"."""
        single = {
            one.head - self._offset: one for one in found if one.kind is not Kind.PRONOUN and not one.plural
        }
        for head, first in single.items():
            conjuncts = [
                one
                for one in self._doc[head].children
                if role_of(one.dep_.lower()) is Role.CONJUNCT and not _has_subject(one)
            ]
            others = [single[one.i] for one in conjuncts if one.i in single]
            marks = (child for one in conjuncts for child in one.children if child.text.lower() in _AND)
            joined = next(marks, None)
            if not others or joined is None:
                continue
            start, stop = first.start - self._offset, others[-1].stop - self._offset
            group = self._mention(self._doc[head], start, stop, Kind.NOUN)
            group.head, group.plural = joined.i + self._offset, True
            people = (first, *others)
            group.lemma = "+".join(sorted(word for one in people for word in one.words or (one.lemma,)))
            group.display = Span(first.display.start, others[-1].display.end)
            group.personhood = min(one.personhood for one in people)
            yield group

    def _find_names(self) -> dict[int, tuple[int, int]]:
        """Range of the name that each token of a name is in: those of the parser, and first names in lower case."""
        names: dict[int, tuple[int, int]] = {}
        for entity in self._sentence.ents:
            if entity.label_ == "PERSON" and not self._is_noun(entity):
                names |= dict(_parts(entity))
        for token in self._sentence:
            if token.i not in names and self._lexicon.is_uncapitalised_name(token.text):
                start = token.i
                if start > self._first and self._lexicon.is_uncapitalised_name(token.nbor(-1).text):
                    start = names[start - 1][0]
                names |= dict.fromkeys(range(start, token.i + 1), (start, token.i + 1))
        return names

    def _may_be_name(self, token: Token) -> bool:
        """True for the head of a proper noun, and for a capitalised first name that the parser takes for a noun."""
        if token.pos_ == "PROPN":
            return token.dep_ not in ("flat", "compound") or _follows_title(token)
        return token.text.istitle() and token.text.lower() in self._lexicon.common and not token.is_sent_start

    def _is_noun(self, entity: Tokens) -> bool:
        """True for a noun at the beginning of a sentence that the parser takes for a name: "Reporters"."""
        word = entity[0].text.lower()
        if word in INDEFINITE or (entity.text.islower() and word not in self._lexicon.common):
            return True
        is_described = any(child.dep_ in ("det", "nmod:poss") for child in entity.root.lefts)  # "HIS DEPUTY"
        is_only = (
            len(entity) == 1 and word not in TITLES and (is_described or word not in self._lexicon.names)
        )
        return is_only and self._lexicon.is_person(word.removesuffix("s"))

    def _pronoun(self, token: Token, form: str) -> Mention:
        mention = self._mention(token, token.i, token.i + 1, Kind.PRONOUN)
        mention.sign = _SIGN[GENDER_BY_FORM[form]]
        mention.reflexive = form.endswith(("self", "selves"))
        if form == "her" and token.dep_ == "obj":
            later = (other for other in token.head.children if token.i < other.i <= token.i + 3)
            if any(other.dep_ in ("obj", "nsubj") for other in later):
                mention.role = Role.POSSESSIVE  # "She did her utmost" with two objects is a parser's error
        return mention

    def _other_name(self, token: Token) -> Iterator[Mention]:
        """A proper noun that the parser does not take for a person, which may be one all the same."""
        start, stop = token.i, token.i + 1
        while start > self._first and self._doc[start - 1].pos_ == "PROPN" and start - 1 not in self._names:
            start -= 1
        while stop < self._sentence.end and self._doc[stop].pos_ == "PROPN" and stop not in self._names:
            stop += 1
        name = self._name(start, stop)
        if name is not None and name.text[0].isupper():
            is_known = name.sign or any(word in self._lexicon.names for word in name.words[:1])
            name.personhood = 0.7 if is_known else 0.3
            yield name

    def _describes(self, token: Token) -> bool:
        """True for a title or a noun for people, which belongs to the name after it: "my aunt Reese"."""
        is_singular = token.pos_ == "NOUN" and token.tag_ == "NN"
        return _bare(token) in TITLES or (
            is_singular and self._lexicon.person_share(token.lemma_.lower()) > 0.5
        )

    def _inside_name(self, token: Token) -> bool:
        """True for a title or description before a name, "Miss" of "Miss Taylor"."""
        if self._describes(token) and token.i + 1 < len(token.doc):
            after = token.doc[token.i + 1]
            begins = self._names[after.i][0] == after.i if after.i in self._names else after.pos_ == "PROPN"
            if begins:
                return True
        is_part = role_of(token.dep_.lower()) is Role.NAME and not _follows_title(token)
        return is_part and (token.head.i in self._names or token.head.pos_ in ("NOUN", "PROPN"))

    def _is_first_name(self, token: Token) -> bool:
        """True for a first name before a name that the parser does not take for a part of it: "Meiling" Zhang."""
        form = token.text.lower()
        return (
            token.text.istitle()
            and token.ent_type_ == ""
            and form in self._lexicon.common
            and form not in TITLES
        )

    def _is_no_first_word(self, token: Token) -> bool:
        """True for a word before a name that the parser joins to it."""
        begins = token.pos_ not in _NO_NAME_BEGINS or self._lexicon.is_uncapitalised_name(token.text)
        return token.text.lower() in _NOT_FIRST or not begins

    def _name(self, start: int, stop: int) -> Mention | None:
        """A name within a range of tokens, with its title and description."""
        doc = self._doc
        while start > self._first and self._is_first_name(doc[start - 1]):
            start -= 1
        stop += sum(1 for _ in takewhile(_continues_name, doc[stop:]))
        while stop > start and (doc[stop - 1].text.lower() in _NOT_LAST or doc[stop - 1].pos_ == "PUNCT"):
            stop -= 1
        while start < stop and self._is_no_first_word(doc[start]):
            start += 1
        begin = start
        sign = 0
        while start < stop - 1:
            title = _bare(doc[start])
            if title not in TITLES and not (title in BEFORE_TITLES and _bare(doc[start + 1]) in TITLES):
                break
            sign = self._lexicon.noun_gender(title) or sign
            start += 1
        if start >= stop or not any(token.text[0].isalpha() for token in doc[start:stop]):
            return None
        alone = _bare(doc[start]) if stop - start == 1 else ""
        is_pair = doc[stop : stop + 1].text.lower() in _AND  # "Mr. and Mrs. Smith"
        if alone in NO_NAMES or (alone in ADDRESSES and not is_pair):
            return None
        if _follows_title(doc[start]) or (start > self._first and self._describes(doc[start - 1])):
            begin = min(begin, start - 1)
            sign = sign or self._lexicon.noun_gender(_bare(doc[start - 1]))
        if begin < start and begin > self._first and doc[begin - 1].text.lower() in BEFORE_TITLES:
            begin -= 1  # "Prime Minister"
        article = begin > self._first and doc[begin - 1].text.lower() == "the"
        if begin < start and begin > self._first and doc[begin - 1].dep_ in ("det", "nmod:poss"):
            begin -= 1
        heads = (t for t in doc[start:stop] if not start <= t.head.i < stop or t.head is t)
        head = next(heads, doc[start])
        mention = self._mention(head, start, stop, Kind.NAME)
        mention.words = distinctive_tokens(doc[start:stop].text)
        if alone in TITLES and is_pair:
            sign = self._lexicon.noun_gender(alone)
            mention.words = distinctive_tokens(doc[stop + 2 : stop + 3].text)
        mention.sign = sign
        title = _bare(doc[start - 1]) if begin < start else ""
        if len(mention.words) > 1 or title not in OF_SURNAMES:
            mention.odds = self._lexicon.name_gender(mention.words)
        possessive = next((one for one in doc[start:stop].root.lefts if one.dep_ == "nmod:poss"), None)
        mention.possessor = possessive.i + self._offset if possessive is not None else -1
        mention.plural = article and doc[stop - 1].text.lower().endswith("s")
        mention.display = self._characters(begin, stop)
        is_label = begin == self._first and doc[stop : stop + 1].text == ":"  # "Ann: When does he land?"
        mention.vocative |= is_label or (begin > 0 and doc[begin - 1].text.lower() in _GREETINGS)
        return mention

    def _noun(self, token: Token) -> Mention | None:
        """A noun that may denote a person, with its determiners."""
        lemma = token.text.lower() if token.text.lower() in INDEFINITE | ADJECTIVES else token.lemma_.lower()
        if token.pos_ == "PROPN":
            if not self._lexicon.is_person(lemma.removesuffix("s")):
                return None
            if token.i == self._first:
                lemma = lemma.removesuffix("s")  # a noun in capitals at the beginning of a sentence
        share = self._lexicon.person_share(lemma)
        if share < MIN_PERSON_SHARE or (role_of(token.dep_.lower()) is Role.NAME and token.pos_ == "NOUN"):
            return None
        inside = [child for child in token.lefts if child.dep_.lower() in _IN_NOUN_PHRASE]
        start = min([token.i, *(child.left_edge.i for child in inside if child.dep_.lower() != "case")])
        stop = token.i + 1
        if token.doc[stop : stop + 4].text == "-in-law":
            stop, lemma = stop + 4, f"{lemma}-in-law"
        mention = self._mention(token, max(start, self._first), stop, Kind.NOUN)
        mention.lemma, mention.personhood = lemma, share
        mention.sign = self._lexicon.noun_gender(lemma) or self._lexicon.noun_gender(token.text.lower())
        mention.plural = token.tag_ in ("NNS", "NNPS") or lemma + "s" == token.text.lower()
        for child in inside:
            role, word = role_of(child.dep_.lower()), child.text.lower()
            if role is Role.POSSESSIVE:
                mention.determiner, mention.possessor = Determiner.POSSESSIVE, child.i + self._offset
            else:
                other = Determiner.INDEFINITE if child.dep_ == "nummod" else mention.determiner
                mention.determiner = _DETERMINERS.get(word, other)
                mention.sign = mention.sign or self._lexicon.noun_gender(word)
        return mention

    def _characters(self, start: int, stop: int) -> Span:
        """Characters of the document that a range of tokens covers."""
        last = self._doc[stop - 1]
        return self._place(Span(self._doc[start].idx, last.idx + len(last)))

    def _mention(self, head: Token, start: int, stop: int, kind: Kind) -> Mention:
        role, top = role_of(head.dep_.lower()), head
        while role_of(top.dep_.lower()) in _TRANSPARENT and top.head.i != top.i:
            top = top.head
        span = self._characters(start, stop)
        governor = top.head
        function = role_of(top.dep_.lower())
        predicate_of = -1
        if any(child.dep_ == "cop" for child in head.children):
            subject = next((c for c in head.children if role_of(c.dep_.lower()) is Role.SUBJECT), None)
            predicate_of = subject.i + self._offset if subject is not None else -1
        return Mention(
            span,
            start + self._offset,
            stop + self._offset,
            head.i + self._offset,
            kind,
            self._doc[start:stop].text,
            self._number,
            function,
            governor.i + self._offset if governor.i != top.i else -1,
            speaks=function is Role.SUBJECT and governor.lemma_.lower() in _SPEECH,
            clause=_clause(governor).i + self._offset,
            above=[verb.i + self._offset for verb in _clauses(governor)],
            vocative=role is Role.OTHER and head.dep_ in ("vocative", "discourse"),
            apposition=head.head.i + self._offset if role is Role.APPOSITION else -1,
            predicate_of=predicate_of,
            display=span,
        )


def _bare(token: Token) -> str:
    """A word in lower case without the full stop of an abbreviation."""
    return token.text.lower().rstrip(".")


def _may_be_noun(token: Token) -> bool:
    """True for nouns, and for indefinite pronouns and adjectives in place of one."""
    form = token.text.lower()
    if form in ADJECTIVES:
        return any(child.text.lower() == "the" for child in token.lefts)
    return token.pos_ in ("NOUN", "PROPN") or form in INDEFINITE


def _is_pronoun(token: Token) -> bool:
    """True for a form of he, she, they or of a neopronoun, which parsers often take for a noun or a name."""
    return token.pos_ == "PRON" if token.text in _ALSO_NAMES else token.text.lower() in GENDER_BY_FORM


def _parts(entity: Tokens) -> Iterator[tuple[int, tuple[int, int]]]:
    """Each token of a name and the range of the name; "Omar nor Fatima" are two."""
    start = entity.start
    for token in (*entity, None):
        if token is None or token.text.lower() in ("and", "or", "nor", "&"):
            stop = entity.end if token is None else token.i
            yield from ((i, (start, stop)) for i in range(start, stop))
            start = stop + 1


def _follows_title(token: Token) -> bool:
    """True for the second word of "Lady Ashdown", which the parser may take for a part of a name "Lady"."""
    return token.i > 0 and _bare(token.nbor(-1)) in TITLES


def _continues_name(token: Token) -> bool:
    """True for a proper noun that the parser joins to a name but not to its entity."""
    return token.pos_ == "PROPN" and token.dep_ == "flat" and not token.ent_type_


def _has_subject(token: Token) -> bool:
    return any(role_of(child.dep_.lower()) is Role.SUBJECT for child in token.children)


def _clause(token: Token) -> Token:
    """The verb that has the subject of a token's verb: "kissed" for "hat" in "She kissed him and took her hat"."""
    verb = token
    while verb.pos_ not in ("VERB", "AUX") and verb.head.i != verb.i and not _has_subject(verb):
        verb = verb.head
    while verb.dep_ in ("conj", "xcomp") and verb.head.i != verb.i and not _has_subject(verb):
        above = verb.head
        if verb.dep_ == "xcomp" and any(role_of(child.dep_.lower()) in _OBJECTS for child in above.children):
            break  # its subject is the object of the verb above: "He asked her to leave"
        verb = above
    return verb


def _clauses(token: Token) -> Iterator[Token]:
    """The clause of a token, and those that it is subordinate to."""
    verb = _clause(token)
    yield verb
    for head in verb.ancestors:
        above = _clause(head)
        if above.i != verb.i:
            yield above
            verb = above
