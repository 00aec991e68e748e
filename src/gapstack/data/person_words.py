"""Pronouns, titles and gendered nouns: the one table of each that rows, features, members and running text read.

``person_words.tsv`` has a row for every title and gendered noun, in lower case and without full stop: its gender, the
word that stands for it in a text of the other gender (as a noun, and before a name), and its uses. A set of words is
that of one use:

==============  ======================================================================
title           stands before a name and is not part of it
abbreviation    its full stop ends no sentence
member          a title that the members' and the mined rows' rules know
noun            its gender, and that it denotes a person, are known to the model of running text
cue             its gender is a feature of the names near it
==============  ======================================================================
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import NamedTuple


class Gender(StrEnum):
    """Grammatical gender of a pronoun form."""

    MASCULINE = "masculine"
    FEMININE = "feminine"
    NEUTRAL = "neutral"


class Pronoun(NamedTuple):
    """Forms of a pronoun of the third person."""

    subject: str
    object: str
    possessive: str
    """Before a noun: "her book"."""
    independent: str
    """Without a noun: "hers"."""
    reflexive: str


HE = Pronoun("he", "him", "his", "his", "himself")
SHE = Pronoun("she", "her", "her", "hers", "herself")
THEY = Pronoun("they", "them", "their", "theirs", "themselves")
PRONOUNS: Mapping[Gender, Sequence[Pronoun]] = {
    Gender.MASCULINE: (HE,),
    Gender.FEMININE: (SHE,),
    Gender.NEUTRAL: (
        THEY._replace(reflexive="themself"),
        THEY,
        Pronoun("ze", "zir", "zir", "zirs", "zirself"),
        Pronoun("ze", "hir", "hir", "hirs", "hirself"),
        Pronoun("xe", "xem", "xyr", "xyrs", "xemself"),
        Pronoun("ey", "em", "eir", "eirs", "emself"),
        Pronoun("fae", "faer", "faer", "faers", "faerself"),
    ),
}
"""Masculine and feminine are the official scorer's sets and the reflexives that audit suites use."""
GENDER_BY_FORM: dict[str, Gender] = {
    form: gender for gender, pronouns in PRONOUNS.items() for form in chain.from_iterable(pronouns)
}
_ALL = tuple(chain.from_iterable(PRONOUNS.values()))
SUBJECTS = frozenset(pronoun.subject for pronoun in _ALL)
AMBIGUOUS = frozenset(pronoun.object for pronoun in _ALL if pronoun.object == pronoun.possessive)
"""Forms that are an object or a possessive: "her"."""
POSSESSIVES = frozenset(form for pronoun in _ALL for form in pronoun[2:4]) - AMBIGUOUS
"""Forms that are always possessive."""
REFLEXIVES = frozenset(pronoun.reflexive for pronoun in _ALL)


class PersonWord(NamedTuple):
    """A title or gendered noun; see the module for what its columns say."""

    word: str
    gender: Gender | None
    other_gender: str | None
    other_title: str | None
    uses: frozenset[str]


def _read(path: Path) -> Iterator[PersonWord]:
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        if not line.startswith("#"):
            word, *cells = line.split("\t")
            gender, other_gender, other_title, uses = ("" if cell == "-" else cell for cell in cells)
            yield PersonWord(
                word,
                Gender(gender) if gender else None,
                other_gender or None,
                other_title or None,
                frozenset(uses.split()),
            )


WORDS = tuple(_read(Path(__file__).with_name("person_words.tsv")))
"""The table."""


def words_of(use: str, gender: Gender | None = None) -> frozenset[str]:
    """Words of one use, those of one gender if given."""
    return frozenset(one.word for one in WORDS if use in one.uses and gender in (None, one.gender))


TITLES = words_of("title")
ABBREVIATIONS = words_of("abbreviation")
MEMBER_TITLES: Mapping[str, Gender | None] = {
    form: one.gender
    for one in WORDS
    if "member" in one.uses
    for form in ((one.word, f"{one.word}.") if "abbreviation" in one.uses else (one.word,))
}
"""Genders of the titles that members know, abbreviations with and without a full stop."""
