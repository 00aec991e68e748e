"""Invented texts about what the corpora hardly annotate.

Who somebody is ("Robin is my brother", "her husband, Kim"), people of either gender with any name, *they* of people who
are named apart, of one person and of an organisation, neopronouns, roles without article, handles and masked names.
A text is a few stories of two people each; what is annotated is written in brackets: ``[a:Robin] is [a:[i:my] aunt].``
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from build_lexicon import world_names
from corpora import AnnotatedDocument

from gapstack.data import Span
from gapstack.data.example import Gender
from gapstack.data.person_words import HE, PRONOUNS, SHE, Pronoun

T = TypeVar("T")
_WOMEN = """
sister mother aunt niece daughter wife grandmother girlfriend stepmother stepdaughter godmother mother-in-law
sister-in-law granddaughter
"""
_MEN = """
brother father uncle nephew son husband grandfather boyfriend stepfather stepson godfather father-in-law
brother-in-law grandson
"""
_EITHER = """
cousin friend neighbour boss colleague teacher doctor lawyer partner child parent sibling twin tutor coach
landlord flatmate spouse supervisor assistant
"""
_WOMEN_OF_A_KIND = """
nun widow duchess queen bride heroine waitress actress girl woman lady princess
"""
_MEN_OF_A_KIND = """
monk widower duke king groom waiter actor boy man gentleman prince priest
"""
_ROLES = """
plumber nurse judge tenant driver pilot gardener clerk surgeon buyer seller plaintiff defendant witness suspect
victim caller guest patient student applicant customer courier baker sailor painter mechanic librarian farmer
editor engineer
"""
_TITLES_OF_MEN = "Mr. Sir Uncle Dr. Judge"
_TITLES_OF_WOMEN = "Mrs. Ms. Aunt Dr. Lady"
_ADJECTIVES = """
old young tall tired retired new former shy clever famous quiet
"""
_PLACES = (
    "Leeds",
    "Porto",
    "Lagos",
    "Oslo",
    "a small town",
    "the valley",
    "Quito",
    "Pune",
    "Halifax",
    "the north",
    "Graz",
    "Osaka",
)
_ORGANISATIONS = (
    "the museum",
    "the bakery",
    "the council",
    "the hospital",
    "the airline",
    "a small publisher",
    "the university",
    "the bank",
    "the agency",
    "the landlord's company",
    "the school",
    "the theatre",
    "the shop",
    "the union",
    "the club",
)
_INTRODUCTIONS = (
    "{N} is {my R}.",
    "{N} is {my R} and lives in {P}.",
    "{N} is {K}.",
    "{N} was once {K} in {P}.",
    "{N}, {my R}, lives in {P}.",
    "{N}, {K} from {P}, came to see us.",
    "{My R N} lives in {P}.",
    "{My R}, {N}, moved to {P} last year.",
    "[i:I] have {a R} called {N}.",
    "There was once {a K}.",
    "{a K} lived by the river.",
    "{the O} opened the door.",
    "{the O} lives in {P}.",
    "{O} denied the charge.",
    "{O} was late again.",
    "{A 34-year-old} was arrested in {P}.",
    "{34 year old} with a cough, seen in the clinic.",
    "{N} grew up in {P}.",
    "{N} ({the O!}) signed the contract.",
    "{T} arrived at noon.",
    "{H} posted a photo from {P}.",
    "{@H} posted a photo from {P}.",
    "{M} wrote to us on Monday.",
    "{M} called the office.",
)
_TOGETHER = (
    "{G} met in {P}.",
    "{G} ran.",
    "{G} are old friends.",
    "{G} were in {P} when it rained.",
    "We invited {G}.",
)
_RELATED = (
    "{N} is {of b R}.",
    "{of b R} is called {N}.",
    "{N} became {of b R} in {P}.",
    "{N} is {K}, and {b} is {of a R2}.",
)
_EVENTS = (
    "{a.She} gave {b.her} the keys.",
    "{a.She} asked {b.her} to wait.",
    "{a.She} had not seen {b.her} since spring.",
    "{b.She} thanked {a.her} twice.",
    "{a.Their} coat was still wet, so {b.she} lent {a.her} an old one.",
    "{b.Their} train was late, and {a.she} waited at the station.",
    "{a.She} sold {a.their} car and moved out.",
    "{b.She} never forgave {b.self}.",
    "On Sunday {a.she} cooked, and {b.she} washed up.",
    "When {b.she} fell ill, {a.she} sent flowers.",
    "The house was {a.theirs}, but {b.she} paid for it.",
    "{a.She} said that {b.she} knew.",
    '"I saw it," said {b.she}.',
    "{a.Their} dog bit {b.her}.",
    "{b.Their} idea surprised {a.her}.",
    "Nobody believed {a.her}.",
    "{b.She} had lost {b.their} phone, so {a.she} called the office.",
    "The letter was for {a.her}, not for {b.her}.",
    "{a.She} looked at {a.self} in the mirror.",
    "People in {P} still talk about {a.her}.",
    "{b} told {a.her} the news.",
    "{a} could not find {b.their} address.",
    "Then {b} left, and {a.she} stayed.",
    "{a.She} and {a.their} children stayed at home.",
)
_OF_ONE = (
    "{a.She} sold {a.their} car and moved out.",
    "Nobody believed {a.her}.",
    "{b} told {a.her} the news.",
    "{a.She} looked at {a.self} in the mirror.",
    "{a.Their} dog barked at {b}.",
    "{b} saw {a.her} at the market, where {a.she} worked.",
)
_OF_NEAREST = (
    "{b} waited outside. {b.She} looked tired.",
    "{b} checked the letters. {b.She} also signed them.",
    "{b}, on the other hand, stayed at home. {b.She} sold {b.their} house and retired.",
    "{b} returned a parcel. {b.She} got a refund.",
    "{b} sold the boat because {b.she} needed money.",
    "{a} came back on Monday, and {a.she} called {a.their} lawyer.",
    "{a}, too, was there. Nobody had seen {a.her}.",
)
_OF_BOTH = (
    "[g:They] married in June.",
    "[g:They] shared a taxi to the station.",
    "Nobody had told [g:them].",
    "[g:Their] children play together.",
    "[g:They] talked until midnight, and [g:they] laughed a lot.",
    "In the end [g:they] agreed.",
    "The police let [g:them] go.",
)
_OF_ORGANISATION = (
    "{org} hired {N}. [o:They] paid {a.her} well.",
    "{N} complained to {org}. [o:They] never answered {a.their} letter.",
    "{org} called {N} in. [o:They] offered {a.her} a new job, and {a.she} took it.",
    "{N} works for {org}. [o:They] said that {a.she} could stay at home.",
)
_MARK = re.compile(r"\[([a-z]):|\]")


class _Names:
    """First names of men, of women and of both, and surnames."""

    def __init__(self) -> None:
        table = world_names()
        men, women = table["men"] > 0, table["women"] > 0
        names = table.index.str.title()
        self.men, self.women, self.both, self.surnames = (
            names[which].tolist()
            for which in (men & ~women, women & ~men, men & women, ~men & ~women & (table["surnames"] > 0))
        )


class InventedTexts:
    """Makes texts, each from a random generator."""

    def __init__(self) -> None:
        self.names = _Names()

    def make(self, rng: np.random.Generator, stories: int = 4) -> AnnotatedDocument:
        """A text of some stories; people of different stories are different."""
        text, mentions = "", dict[Span, str]()
        for number in range(stories):
            written, spans = _read_brackets(_Story(self.names, rng).write())
            if rng.random() < 0.08:
                written = written.lower()
            text += ("\n\n" if rng.random() < 0.5 else " ") if text else ""
            for span, who in spans:
                person = who if who == "i" else f"{number}{who}"
                mentions[Span(len(text) + span.start, len(text) + span.end)] = person
            text += written
        return AnnotatedDocument("invented", "", text, mentions)


class _Story:
    """A story of two people, *a* and *b*."""

    def __init__(self, names: _Names, rng: np.random.Generator):
        self._names, self._rng = names, rng
        self._genders = {"a": int(rng.integers(2))}
        self._differ = rng.random() < 0.75
        self._genders["b"] = 1 - self._genders["a"] if self._differ else self._genders["a"]
        self._pronouns: dict[str, Pronoun] = {
            who: self._pick(PRONOUNS[Gender.NEUTRAL]) if rng.random() < 0.15 else (HE, SHE)[gender]
            for who, gender in self._genders.items()
        }
        self._short = {who: self._name(gender) for who, gender in self._genders.items()}
        self._long = {
            who: f"{name} {self._pick(self._names.surnames)}" if rng.random() < 0.3 else name
            for who, name in self._short.items()
        }
        # who is introduced without a name is called by a noun again
        self._called = dict(self._short)

    def _pick(self, of: Sequence[T]) -> T:
        return of[int(self._rng.integers(len(of)))]

    def _name(self, gender: int) -> str:
        """A first name, of the other gender too."""
        names = self._names
        lists = [
            (names.men, names.women)[gender],
            (names.women, names.men)[gender],
            names.both,
            names.surnames,
        ]
        return self._pick(lists[self._rng.choice(4, p=[0.8, 0.04, 0.06, 0.1])])

    def write(self) -> str:
        """Text with brackets."""
        rng = self._rng
        kind = rng.random()
        if kind < 0.12:
            text = self._filled(self._pick(_OF_ORGANISATION), "a")
            return f"{text} {self._filled(self._pick(_OF_ONE[:2]), 'a')}"
        together = kind > 0.85
        if kind < 0.3:
            parts = [self._filled(self._pick(_RELATED), "a")]
        elif together:
            parts = [self._filled(self._pick(_TOGETHER), "a"), self._pick(_OF_BOTH)]
        else:
            parts = [self._filled(self._pick(_INTRODUCTIONS), who) for who in "ab"]
        # pronouns of two people of one gender must be those of the nearest
        differ = self._differ or self._pronouns["a"].subject != self._pronouns["b"].subject
        events = _EVENTS + _OF_NEAREST if differ else _OF_NEAREST
        chosen = rng.choice(len(events), int(rng.integers(1, 4)), replace=False)
        parts += [self._filled(events[number], "a") for number in chosen]
        nobody_is_they = all(pronoun.subject != "they" for pronoun in self._pronouns.values())
        if together or (rng.random() < 0.35 and nobody_is_they):
            parts.insert(len(parts) - int(rng.integers(0, 2)), self._pick(_OF_BOTH))
        return " ".join(parts)

    def _filled(self, template: str, who: str) -> str:
        text = re.sub(r"\{([^}]+)\}", lambda match: self._slot(match[1], who), template)
        return re.sub(r"^(?:\[\w:)*\w", lambda match: match[0][:-1] + match[0][-1].upper(), text)

    def _slot(self, slot: str, who: str) -> str:
        """What stands for a slot: a pronoun or name of *a* or *b*, or something about ``who``."""
        if slot in ("a", "b"):
            return f"[{slot}:{self._called[slot]}]"
        if slot[1:2] == ".":
            forms = dict(zip(("she", "her", "their", "theirs", "self"), self._pronouns[slot[0]], strict=True))
            form = forms[slot[2:].lower()]
            return f"[{slot[0]}:{form.capitalize() if slot[2].isupper() else form}]"
        return (self._people(who) | self._others()).get(slot) or self._new(slot, who)

    def _people(self, who: str) -> dict[str, str]:
        """A person by name, or by a relation."""
        mine, other = self._relation(who), "b" if who == "a" else "a"
        return {
            "N": f"[{who}:{self._long[who]}]",
            "my R": f"[{who}:[i:my] {mine}]",
            "My R": f"[{who}:[i:My] {mine}]",
            "My R N": f"[{who}:[i:My] {mine} {self._short[who]}]",
            "a R": f"[{who}:{_with_article(mine)}]",
            "K": f"[{who}:{_with_article(self._kind(who))}]",
            "of b R": f"[{who}:[{other}:{self._long[other]}]'s {mine}]",
            "of a R2": f"[{other}:[{who}:{self._called[who]}]'s {self._relation(other)}]",
            "the O!": f"[{who}:the {self._pick(_ROLES.split()).capitalize()}]",
        }

    def _others(self) -> dict[str, str]:
        """Groups, organisations and places."""
        names = [f"[{one}:{self._name(int(self._rng.integers(2)))}]" for one in "cd"[: self._rng.choice(3)]]
        names += [f"[{one}:{self._long[one]}]" for one in "ab"]
        group = f"[g:{', '.join(names[:-1])} and {names[-1]}]"
        return {
            "G": group,
            "org": f"[o:{self._pick(_ORGANISATIONS)}]",
            "P": self._pick(_PLACES),
        }

    def _new(self, slot: str, who: str) -> str:
        """A person without a name, who is called the same later."""
        number, role = int(self._rng.integers(1, 9)), self._pick(_ROLES.split())
        kind, handle = self._kind(who), f"{self._short[who].lower()}{self._pick(('', '_'))}{number}"
        age, person = int(self._rng.integers(18, 80)), "ABCDEXYZ"[number - 1]
        gender = self._genders[who]
        of_age = self._pick((("male", "man", "boy"), ("female", "woman", "girl"))[gender])
        title = self._pick((_TITLES_OF_MEN, _TITLES_OF_WOMEN)[gender].split())
        titled = f"{title} {self._pick(self._names.surnames)}"
        masked = self._pick(
            (f"PERSON_{number}", f"NAME_{number}", f"{role.upper()}_{number}", f"Person {person}")
        )
        first, again = {
            "a K": (_with_article(kind), f"the {kind}"),
            "the O": (f"the {role}", f"the {role}"),
            "O": (role, role),
            "A 34-year-old": (_with_article(f"{age}-year-old"), f"the {age}-year-old"),
            "34 year old": (f"{age} year old {of_age}", "the patient"),
            "T": (titled, titled),
            "H": (handle, handle),
            "@H": (f"@{handle}", f"@{handle}"),
            "M": (masked, masked),
        }[slot]
        self._called[who] = again
        return f"[{who}:{first}]"

    def _relation(self, who: str) -> str:
        """A relation that fits the person's gender."""
        of_gender = (_MEN, _WOMEN)[self._genders[who]]
        return self._pick((of_gender if self._rng.random() < 0.8 else _EITHER).split())

    def _kind(self, who: str) -> str:
        """A noun that fits the person's gender, after an adjective in some texts."""
        of_gender = (_MEN_OF_A_KIND, _WOMEN_OF_A_KIND)[self._genders[who]]
        noun = self._pick((of_gender if self._rng.random() < 0.75 else _ROLES).split())
        return f"{self._pick(_ADJECTIVES.split())} {noun}" if self._rng.random() < 0.4 else noun


def _with_article(noun: str) -> str:
    return f"{'an' if noun.startswith((*'aeiou', '8', '18')) else 'a'} {noun}"


def _read_brackets(marked: str) -> tuple[str, list[tuple[Span, str]]]:
    """Text without brackets, and each mention with its person."""
    text, at, open_, found = "", 0, list[tuple[int, str]](), list[tuple[Span, str]]()
    for match in _MARK.finditer(marked):
        text += marked[at : match.start()]
        at = match.end()
        if match[1]:
            open_.append((len(text), match[1]))
        else:
            start, who = open_.pop()
            found.append((Span(start, len(text)), who))
    return text + marked[at:], found
