"""What the words of a mention say: kind, gender, names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from gapstack.data import Span
from gapstack.data.example import GENDER_BY_FORM, Gender
from gapstack.language.words import fold
from gapstack.running_text.lexicon import NOUN_GENDER, TITLES, Lexicon


class MentionKind(IntEnum):
    """Kind of a mention by its words."""

    GENDERED = 0
    THEY = 1
    NEOPRONOUN = 2
    FIRST = 3
    WE = 4
    SECOND = 5
    RELATIVE = 6
    OTHER_PRONOUN = 7
    NAME = 8
    TITLED_NAME = 9
    DEFINITE = 10
    INDEFINITE = 11
    POSSESSIVE = 12
    DEMONSTRATIVE = 13
    BARE = 14
    GROUP = 15


PRONOUNS = frozenset(kind for kind in MentionKind if kind <= MentionKind.OTHER_PRONOUN)
"""Kinds that are pronouns."""
NAMES = (MentionKind.NAME, MentionKind.TITLED_NAME)
_FORMS = {
    MentionKind.FIRST: "i me my mine myself",
    MentionKind.WE: "we us our ours ourselves",
    MentionKind.SECOND: "you your yours yourself yourselves thou thee thy thine",
    MentionKind.RELATIVE: "who whom whose which that",
    MentionKind.OTHER_PRONOUN: """it its itself this these those one ones all both each other others everyone everybody
        someone somebody anyone anybody nobody none another whoever""",
}
_KIND_BY_FORM = {form: kind for kind, forms in _FORMS.items() for form in forms.split()}
_FIRST_WORDS = {
    MentionKind.DEFINITE: "the",
    MentionKind.INDEFINITE: "a an some another any no every each two three four five many several",
    MentionKind.POSSESSIVE: "my your his her our their its thy whose",
    MentionKind.DEMONSTRATIVE: "this that these those such",
}
_KIND_BY_DETERMINER = {word: kind for kind, words in _FIRST_WORDS.items() for word in words.split()}
_END_OF_HEAD = """
of who whom whose that which with in on at from to for by about near under over before after as than when where like
without behind and or , ( - -- \u2014 : ;
"""
_AFTER_HEAD = frozenset(_END_OF_HEAD.split())
_LETTERS = "'\u2019-."
_IS_PERSON = 0.3  # share of a noun's senses
_STRONG = 6.0  # log-odds of a first name that count as certain
_LONG = 50  # characters of a noun phrase that is too long to be a name
_USUAL = 0.05  # share of the most frequent name's count that another name needs to be the full name


@dataclass(eq=False)
class Mention:
    """A mention of a person or group in a document.

    ``pronoun``, ``noun`` and ``name`` are signed genders by source, positive for feminine, 0 for none.
    """

    span: Span
    """Characters of the document."""
    first: int
    """First and last word piece, counted over the document."""
    last: int
    kind: MentionKind
    text: str
    words: frozenset[str] = frozenset()
    """Content words, folded."""
    head: str = ""
    full_name: str = ""
    """The name with its title if other words are before it: "John" of "her husband John"."""
    pronoun: float = 0.0
    noun: float = 0.0
    name: float = 0.0
    person: float = 0.5
    """Share of the head noun's senses that denote people."""
    quote: int = -1
    """Number of the quotation that it is in, or -1."""
    validity: float = 1.0
    """Probability that it is a mention."""
    turn: int = -1
    """Number of the turn of a conversation that it is in, or -1."""
    labels_turn: bool = False
    """True for the speaker's name before the turn."""

    @property
    def is_pronoun(self) -> bool:
        """True for all kinds of pronouns."""
        return self.kind in PRONOUNS

    @property
    def is_name(self) -> bool:
        """True for names, with or without a title."""
        return self.kind in NAMES

    @property
    def gender(self) -> float:
        """Gender by the strongest source."""
        return self.pronoun or self.noun or self.name


def describe(text: str, span: Span, first: int, last: int, lexicon: Lexicon) -> Mention:
    """Describe a mention by its words; ``span`` is in ``text``, the pieces are of the document."""
    written = " ".join(text[slice(*span)].split())
    words = [word.strip("\"'*_<>[]\u201c\u201d\u2018\u2019") for word in written.replace("_", " ").split()]
    words = [word for word in words if word] or [written]
    lower = [word.lower() for word in words]
    if len(words) == 1 and lower[0] in GENDER_BY_FORM:
        gender = GENDER_BY_FORM[lower[0]]
        sign = {Gender.FEMININE: 1.0, Gender.MASCULINE: -1.0}.get(gender, 0.0)
        neutral = MentionKind.THEY if lower[0].startswith("the") else MentionKind.NEOPRONOUN
        return Mention(span, first, last, MentionKind.GENDERED if sign else neutral, written, pronoun=sign)
    if len(words) == 1 and lower[0] in _KIND_BY_FORM:
        return Mention(span, first, last, _KIND_BY_FORM[lower[0]], written)
    return _described(Mention(span, first, last, MentionKind.BARE, written), words, lower, lexicon)


def _described(mention: Mention, words: Sequence[str], lower: Sequence[str], lexicon: Lexicon) -> Mention:
    determiner = lower[0] if lower[0] in _KIND_BY_DETERMINER else ""
    core = list(range(1 if determiner and len(words) > 1 else 0, len(words)))
    stop = next((i for i in core[1:] if lower[i] in _AFTER_HEAD or lower[i - 1].endswith(",")), len(words))
    core = [i for i in core if i < stop]
    # "John's mother" is a mother
    possessive = next((i for i in core[:-1] if lower[i].endswith(("'s", "\u2019s"))), -1)
    head_words = [i for i in core if i > possessive]
    plain = [
        fold(lower[i].removesuffix("'s").removesuffix("\u2019s").strip(_LETTERS + ",;:!?()"))
        for i in head_words
    ]
    mention.head = plain[-1] if plain else ""
    capital = [words[i][:1].isupper() for i in head_words]
    titles = [word in TITLES for word in plain]
    names = [
        word
        for word, is_capital, is_title in zip(plain, capital, titles, strict=True)
        if word and is_capital and not is_title
    ]
    stands_alone = not determiner and possessive < 0
    in_lower = not any(capital) and stands_alone and 0 < len(plain) <= 3
    known_lower = (
        in_lower
        and all(word in lexicon.names or word in lexicon.surnames for word in plain)
        and any(word in lexicon.common for word in plain)
    )
    if known_lower:
        names = plain
    group = any(word in ("and", "&") for word in lower)
    # "my aunt Robin", "actress Kim Park" and "the late King Harald" are names with a noun or title
    first = capital.index(True) if True in capital else 0
    noun = plain[first - 1] if first and capital[-1] else ""
    noun = noun if lexicon.person_share(noun) > _IS_PERSON else ""
    is_name = bool(names and (capital[-1] or known_lower) and (stands_alone or noun or any(titles[:-1])))
    if group:
        mention.kind = MentionKind.GROUP
    elif is_name:
        titled = (noun or any(titles)) and len(plain) > 1
        mention.kind = MentionKind.TITLED_NAME if titled else MentionKind.NAME
    elif possessive >= 0:
        mention.kind = MentionKind.POSSESSIVE
    else:
        mention.kind = _KIND_BY_DETERMINER.get(determiner, MentionKind.BARE)
    if is_name and not group:
        mention.words = frozenset(names)
        if first or not stands_alone:
            mention.full_name = " ".join(words[i] for i in head_words[first:])
        title = next((word for word, is_title in zip(plain, titles, strict=True) if is_title), "")
        mention.noun = float(NOUN_GENDER.get(title, 0) or lexicon.noun_gender(noun))
        mention.name = (
            float(np.clip(lexicon.name_gender(tuple(names)) / _STRONG, -1, 1))
            if not title or len(names) > 1
            else 0.0
        )
        known = any(word in lexicon.names or word in lexicon.surnames for word in names)
        mention.person = 1.0 if title else 0.9 if known else 0.6
    else:
        mention.words = frozenset(word for word in plain if word)
        if group:
            mention.words = frozenset(fold(word.strip(_LETTERS + ",;:!?()")) for word in lower) - {
                "and",
                "&",
                "",
            }
        else:
            mention.noun = float(lexicon.noun_gender(mention.head))
        mention.person = lexicon.person_share(mention.head)
    return mention


def full_name(mentions: Sequence[Mention]) -> str:
    """The name of a person by all mentions: the usual name with most words, else the longest of the short nouns.

    A name that is rare next to others may be somebody else's who was linked by mistake.
    """
    counts = Counter(mention.text for mention in mentions)
    most = max((counts[mention.text] for mention in mentions if mention.is_name), default=0)

    def rank(mention: Mention) -> tuple[bool, bool, int, bool, int, int]:
        is_plain = mention.is_name and mention.text[0].isupper()
        words = len(mention.words) if mention.is_name else 0
        frequency = counts[mention.text] if mention.is_name else 0
        return mention.is_name, len(mention.text) < _LONG, words, is_plain, frequency, len(mention.text)

    usual = [one for one in mentions if not one.is_name or counts[one.text] >= _USUAL * most]
    best = max(usual, key=rank)
    return best.full_name or best.text
