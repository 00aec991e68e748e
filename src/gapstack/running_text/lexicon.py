"""Gender that titles, nouns and first names suggest, and how often a noun denotes a person.

Genders are signed: positive is feminine, negative is masculine, 0 is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from dataclasses import asdict, dataclass, field
from pathlib import Path

from gapstack.data.person_words import Gender, words_of
from gapstack.files import read_bytes, write_json
from gapstack.text_model_files import LEXICON

NOUN_GENDER: Mapping[str, int] = dict.fromkeys(words_of("noun", Gender.MASCULINE), -1) | dict.fromkeys(
    words_of("noun", Gender.FEMININE), 1
)
"""Signed gender of titles and nouns, in lower case without a full stop."""
TITLES = words_of("title") - {"missus", "mademoiselle"}  # the model was trained without these
"""Words before a name that are not part of it."""
LONGEST_ENDING = 5
"""Letters of the endings that suggest the gender of names which are not listed."""
UNKNOWN_NOUN = 0.05
"""Share of people among nouns that were never seen."""
SUFFIXES = {
    "person": 0.9,
    "man": 0.8,
    "woman": 0.9,
    "ist": 0.6,
    "ian": 0.5,
    "er": 0.3,
    "or": 0.3,
    "ess": 0.3,
}
"""The same for nouns that end like this."""
INDEFINITE = frozenset(
    ("everyone", "everybody", "someone", "somebody", "anyone", "anybody", "nobody", "whoever")
)
"""Pronouns that denote a person like a noun."""
ADJECTIVES = frozenset(("youngest", "eldest", "oldest", "elder", "younger", "latter", "former"))
"""Adjectives that denote a person like a noun: "the youngest"."""


@dataclass(frozen=True)
class Lexicon:
    """What is known about words.

    ``names`` has the signed log-odds of a first name's gender; ``surnames`` the share of a word's uses in full names
    in which it comes last; ``people`` how often a noun's lemma denotes a person, and how often it occurs at all;
    ``genders`` the signed genders of nouns besides :data:`NOUN_GENDER`.
    """

    names: Mapping[str, float]
    surnames: Mapping[str, float]
    people: Mapping[str, tuple[int, int]]
    common: Set[str] = frozenset()
    """First names that are recognised in lower case: frequent ones that are not words."""
    genders: Mapping[str, int] = field(default_factory=dict)
    endings: Mapping[str, float] = field(default_factory=dict)
    """Signed log-odds of the gender of first names with an ending, for names that are not listed."""

    @classmethod
    def load(cls, folder: Path) -> Lexicon:
        """Read ``lexicon.json`` of a folder."""
        record = json.loads(read_bytes(folder / LEXICON))
        people = {noun: (found, all_) for noun, (found, all_) in record["people"].items()}
        common = frozenset(record["common"])
        return cls(record["names"], record["surnames"], people, common, record["genders"], record["endings"])

    def save(self, folder: Path) -> None:
        """Write ``lexicon.json``."""
        record = asdict(self) | {"common": sorted(self.common)}
        write_json(folder / LEXICON, record)

    def name_gender(self, tokens: tuple[str, ...]) -> float:
        """Signed log-odds by a name's first word, or by the words after it if it is a surname ("Tran Thi Hoa").

        A word that is also a surname counts less when it stands alone.
        """
        if not tokens:
            return 0.0
        first, *others = tokens
        surname = self.surnames.get(first, 0.0)
        if not others:
            return self._first_name_gender(first) * (1 - surname)
        if surname > 0.5:
            return max((self.names.get(one, 0.0) for one in others), key=abs)
        return self._first_name_gender(first)

    def _first_name_gender(self, name: str) -> float:
        """Signed log-odds of a first name, by its ending if it is not listed."""
        if name in self.names:
            return self.names[name]
        endings = (self.endings.get(name[-length:]) for length in range(LONGEST_ENDING, 0, -1))
        return next((odds for odds in endings if odds is not None), 0.0)

    def noun_gender(self, lemma: str) -> int:
        """Signed gender that a noun or title suggests, 0 for none."""
        return NOUN_GENDER.get(lemma) or self.genders.get(lemma, 0)

    def is_person(self, noun: str) -> bool:
        """True for a listed noun that mostly denotes people."""
        return (noun in self.people or noun in NOUN_GENDER) and self.person_share(noun) > 0.5

    def person_share(self, lemma: str) -> float:
        """Share of a noun's uses that denote a person (smoothed)."""
        if lemma in NOUN_GENDER or lemma in INDEFINITE or lemma in ADJECTIVES:
            return 1.0
        if lemma not in self.people:
            return next((share for end, share in SUFFIXES.items() if lemma.endswith(end)), UNKNOWN_NOUN)
        found, all_ = self.people[lemma]
        return (found + 2 * UNKNOWN_NOUN) / (all_ + 2)
