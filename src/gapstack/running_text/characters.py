"""What a user knows about the people of a text: names, aliases and pronouns."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gapstack.data.cells import decode
from gapstack.data.example import GENDER_BY_FORM, Gender
from gapstack.errors import DataError, Place, closest, located, shown
from gapstack.files import read_bytes

_KEYS = ("name", "aliases", "pronouns")
_EXAMPLE = '[[people]] with name = "Gabriel Oak", aliases = ["Gabe"], pronouns = "she"'


@dataclass(frozen=True)
class KnownCharacter:
    """A person whom the user knows.

    ``aliases`` are other names; parts of names ("Oak" of "Gabriel Oak") need none. ``pronouns`` are the forms used for
    the person ("she", "they"), none if unknown.

    Raises DataError for an empty name or an unknown pronoun.
    """

    name: str
    aliases: tuple[str, ...] = ()
    pronouns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not all(name.strip() for name in self.names):
            raise DataError("a name is empty", expected="a name as the text has it")
        for form in self.pronouns:
            if form not in GENDER_BY_FORM:
                hint = closest(form, GENDER_BY_FORM)
                raise DataError(
                    f"unknown pronoun {form!r} of {self.name}", expected="she, he, they", remedy=hint
                )

    @property
    def names(self) -> tuple[str, ...]:
        """Name and aliases."""
        return (self.name, *self.aliases)

    @cached_property
    def genders(self) -> frozenset[Gender]:
        """Genders of the pronouns; empty if none are known."""
        return frozenset(GENDER_BY_FORM[form] for form in self.pronouns)


People = Mapping[str, str] | Iterable[KnownCharacter]
"""Pronouns by name ({"Gabriel": "she"}), or known characters."""


def known_characters(people: People) -> tuple[KnownCharacter, ...]:
    """Known characters from what a caller gives; DataError if two share a name, or for text."""
    if isinstance(people, str):
        raise DataError(f"people is the text {people!r}", expected='names with pronouns: {"Gabriel": "he"}')
    if isinstance(people, Mapping):
        people = [KnownCharacter(name, (), _forms(pronouns)) for name, pronouns in people.items()]
    known = tuple(people)
    seen: dict[str, str] = {}
    for character in known:
        for name in character.names:
            other = seen.setdefault(name.casefold(), character.name)
            if other != character.name or sum(one.name == character.name for one in known) > 1:
                raise DataError(f"{name!r} is a name of two people", expected="names of one person each")
    return known


def read_people(path: Path) -> tuple[KnownCharacter, ...]:
    """Read known characters from TOML, a table ``[[people]]`` each; DataError with the place of what is wrong."""
    path = Path(path)
    try:
        record = tomllib.loads(decode(read_bytes(path), path).replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise DataError(f"is not valid TOML ({problem})", place=Place(path), expected=_EXAMPLE) from None
    tables = record.get("people")
    if record.keys() != {"people"} or not isinstance(tables, list) or not tables:
        raise DataError(f"has {shown(sorted(record))}", place=Place(path), expected=_EXAMPLE)
    with located(Place(path)):
        return known_characters(
            [_character(path, number, table) for number, table in enumerate(tables, start=1)]
        )


def _character(path: Path, number: int, table: object) -> KnownCharacter:
    place = Place(f"{path}, person {number}")
    if not isinstance(table, dict):
        raise DataError(f"is {shown(table)}", place=place, expected=_EXAMPLE)
    for key in table.keys() - set(_KEYS):
        raise DataError(
            f"unknown key {key!r}", place=place, expected=", ".join(_KEYS), remedy=closest(key, _KEYS)
        )
    name, aliases, pronouns = table.get("name"), table.get("aliases", []), table.get("pronouns", "")
    if not isinstance(name, str):
        raise DataError(f"name is {shown(name)}", place=place, expected="text")
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        raise DataError(f"aliases are {shown(aliases)}", place=place, expected="a list of names")
    if not isinstance(pronouns, str):
        raise DataError(
            f"pronouns are {shown(pronouns)}", place=place, expected='text such as "she" or "they/she"'
        )
    try:
        return KnownCharacter(name, tuple(aliases), _forms(pronouns))
    except DataError as error:
        raise DataError(error.problem, place=place, expected=error.expected, remedy=error.remedy) from None


def _forms(pronouns: str) -> tuple[str, ...]:
    """The forms of "she/her" or "they, she"."""
    return tuple(form for form in pronouns.lower().replace(",", "/").replace(" ", "/").split("/") if form)
