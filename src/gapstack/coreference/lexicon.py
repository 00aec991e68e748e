"""Gender that titles, nouns and first names suggest, and how often a noun denotes a person.

Genders are signed: positive is feminine, negative is masculine, 0 is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from gapstack.files import read_bytes, write_json

_MASCULINE = """
mr mister sir lord master king prince monsieur m. count duke baron earl emperor pope father fr uncle brother bro señor
don herr man boy gentleman guy lad chap fellow father dad daddy papa son brother husband grandfather grandpa grandson
nephew stepfather stepson stepbrother father-in-law son-in-law brother-in-law godfather godson boyfriend groom
bridegroom widower bachelor actor waiter policeman fireman businessman chairman salesman congressman spokesman
fisherman sportsman headmaster landlord host steward hero wizard monk priest squire gentlemen men boys fathers sons
brothers husbands uncles nephews kings lords
"""
_FEMININE = """
mrs ms miss lady madame madam mme mlle queen princess countess duchess baroness empress aunt auntie sister señora
señorita frau dame mother woman girl gal lass maid maiden mom mum mummy mommy mama mamma daughter sister wife
grandmother grandma granny granddaughter niece stepmother stepdaughter stepsister mother-in-law daughter-in-law
sister-in-law godmother goddaughter girlfriend bride widow spinster actress waitress policewoman businesswoman
chairwoman saleswoman congresswoman spokeswoman sportswoman headmistress landlady hostess stewardess heroine witch nun
mistress governess housewife ladies women girls mothers daughters sisters wives aunts nieces queens
"""
NOUN_GENDER: Mapping[str, int] = dict.fromkeys(_MASCULINE.split(), -1) | dict.fromkeys(_FEMININE.split(), 1)
"""Signed gender of titles and nouns, in lower case without a full stop."""
_TITLES = """
mr mrs ms miss mister sir lord lady king queen prince princess count countess duke duchess baron baroness earl emperor
empress pope monsieur madame mme mlle madam dame don señor señora frau herr uncle aunt auntie brother sister father
mother dr doctor professor prof captain capt colonel col general gen major lieutenant lt sergeant sgt judge president
senator sen governor gov rev reverend saint st master
"""
TITLES = frozenset(_TITLES.split())
"""Words before a name that are not part of it."""
_OF_SURNAMES = "mr mrs ms dr doctor professor prof captain capt colonel col general gen major judge"
OF_SURNAMES = frozenset(_OF_SURNAMES.split())
"""Titles before surnames: "Dr. Patel" has no first name."""
UNKNOWN_NOUN = 0.05
"""Share of people among nouns that were never seen."""
_SUFFIXES = {
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
INDEFINITE = frozenset(("everyone", "everybody", "someone", "somebody", "anyone", "anybody", "nobody"))
"""Pronouns that denote a person like a noun."""


@dataclass(frozen=True)
class Lexicon:
    """What is known about words.

    ``names`` has the signed log-odds of a first name's gender; ``surnames`` the share of a word's uses in full names
    in which it comes last; ``people`` how often a noun's lemma denotes a person, and how often it occurs at all.
    """

    names: Mapping[str, float]
    surnames: Mapping[str, float]
    people: Mapping[str, tuple[int, int]]
    words: Set[str] = frozenset()
    """First names that are also words."""

    @classmethod
    def load(cls, folder: Path) -> Lexicon:
        """Read ``lexicon.json`` of a folder."""
        record = json.loads(read_bytes(folder / "lexicon.json"))
        people = {noun: (found, all_) for noun, (found, all_) in record["people"].items()}
        return cls(record["names"], record["surnames"], people, frozenset(record["words"]))

    def save(self, folder: Path) -> None:
        """Write ``lexicon.json``."""
        record = {"names": self.names, "surnames": self.surnames, "people": self.people}
        write_json(folder / "lexicon.json", record | {"words": sorted(self.words)})

    def is_uncapitalised_name(self, word: str) -> bool:
        """True for a first name in lower case or capitals that is not a word as well."""
        return (
            len(word) > 2
            and not word.istitle()
            and word.lower() in self.names
            and word.lower() not in self.words
        )

    def name_gender(self, tokens: tuple[str, ...]) -> float:
        """Signed log-odds by a name's first word; a word that is also a surname counts less when it stands alone."""
        odds = self.names.get(tokens[0], 0.0) if tokens else 0.0
        return odds * (1 - self.surnames.get(tokens[0], 0.0)) if len(tokens) == 1 else odds

    def person_share(self, lemma: str, without: tuple[int, int] = (0, 0)) -> float:
        """Share of a noun's uses that denote a person, ``without`` some of them (smoothed)."""
        if lemma in NOUN_GENDER or lemma in INDEFINITE:
            return 1.0
        if lemma not in self.people:
            return next((share for end, share in _SUFFIXES.items() if lemma.endswith(end)), UNKNOWN_NOUN)
        found, all_ = self.people[lemma]
        found, all_ = found - without[0], all_ - without[1]
        return (found + 2 * UNKNOWN_NOUN) / (all_ + 2)
