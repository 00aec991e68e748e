"""The other gender: words and, where a list of them is at hand, first names; and the pronouns of one gender."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from gapstack.corpus import sources
from gapstack.corpus.augment.edit import Replacement, edit, fits
from gapstack.corpus.augment.gender_words import WORD, swapped_word, with_case_of
from gapstack.corpus.example import Example, Span
from gapstack.corpus.pronouns import Gender
from gapstack.corpus.tables import Row, read_table, whole_number

# Krige's canonical pronouns (systems of 2019, team Ionita et al.): one form for his and him alike.
_FEMININE = {"he": "she", "him": "her", "his": "her", "hers": "her", "himself": "herself"}
_NAME_COLUMNS = ("name", "count-F", "count-M", "pct-F", "first-year", "last-year")
_SURE = 0.95  # share of one sex from which a first name counts as that gender's
_COMMON = 1000  # bearers below which a name is no evidence: the rare ones are often surnames


@dataclass(frozen=True, slots=True)
class FirstNames:
    """First names by recorded sex.

    Attributes
    ----------
    genders : mapping of str to Gender
        Names (as written: "Mary") that at least 95% of their bearers have as that gender.
    partners : mapping of str to str
        The k-th most frequent masculine name and the k-th feminine one, in both directions: its own inverse.
    """

    genders: Mapping[str, Gender]
    partners: Mapping[str, str]

    @classmethod
    def of(cls, masculine: list[str], feminine: list[str]) -> FirstNames:
        """Make it from two lists in order of frequency that share no name."""
        genders = dict.fromkeys(masculine, Gender.MASCULINE) | dict.fromkeys(feminine, Gender.FEMININE)
        pairs = list(zip(masculine, feminine, strict=False))
        partners = {one: other for pair in pairs for one, other in (pair, pair[::-1])}
        return cls(MappingProxyType(genders), MappingProxyType(partners))


def first_names(data: Path | None = None) -> FirstNames:
    """Read the US Social Security names of 1880 to 2018 from where the search finds them.

    Raises
    ------
    DataNotFoundError
        If the ``names`` folder is nowhere.
    DataError
        For another header, or a count that is no number.
    """
    folder = sources.require("names", data)
    return _read_first_names(folder / "ssa_first_names_by_gender.csv.xz")


@lru_cache(maxsize=4)
def _read_first_names(path: Path) -> FirstNames:
    def parse(row: Row) -> tuple[str, int, int]:
        def people(column: str) -> int:
            count = whole_number(row[column])
            if count is None:
                raise row.error(column, f"found {row[column][:40]!r}", expected="a number of people")
            return count

        return row["name"], people("count-F"), people("count-M")

    rows = read_table(path, (_NAME_COLUMNS,), parse, separator=",")
    sure: dict[Gender, list[tuple[int, str]]] = {Gender.MASCULINE: [], Gender.FEMININE: []}
    for name, feminine, masculine in rows:
        gender, most = (Gender.FEMININE, feminine) if feminine > masculine else (Gender.MASCULINE, masculine)
        if most >= _COMMON and most >= _SURE * (feminine + masculine):
            sure[gender].append((-most, name))
    ranked = {gender: [name for _, name in sorted(names)] for gender, names in sure.items()}
    return FirstNames.of(ranked[Gender.MASCULINE], ranked[Gender.FEMININE])


def swap_gender(
    example: Example, *, names: FirstNames | None = None, words: Mapping[str, str] | None = None
) -> Example:
    """Turn masculine words into feminine ones and the other way about, in the whole text.

    Pronouns, titles, kinship and gendered nouns by the list of
    :mod:`~gapstack.corpus.augment.gender_words`, case kept. "her" becomes "his" where the next word can open
    a noun phrase and "him" elsewhere; "his" becomes "her" or "hers" by the same rule; "him" becomes "her".
    Swapping twice gives the text back where no word of it is a "Ms" or "Miss" (both become "Mr"), or a "her" or
    "his" that the rule takes for another form. The label and the URL stay.

    Parameters
    ----------
    names : FirstNames, optional
        Also exchange the first names that open A and B for their partners, wherever the text has them as a
        word; not where the text uses the word as a surname ("Elizabeth Taylor").
    words : mapping of str to str, optional
        Further lower-case words and their partners, as :func:`read_word_pairs` gives them.
    """
    more = words or {}
    found = [
        Replacement(start, end, new)
        for start, end in _words(example)
        if (new := swapped_word(example.text, start, end, more)) is not None
    ]
    if names is not None:
        taken = {one.start for one in found}
        found += [one for one in _swapped_names(example, names) if one.start not in taken]
    return edit(example, found)


def feminise(example: Example) -> Example:
    """Make every masculine pronoun feminine (Krige): he to she, his, him and hers to her, himself to herself.

    Maps GAP's five pronouns to two, so that a model need not learn each form apart. Case is kept.
    """
    return edit(
        example,
        (
            Replacement(start, end, with_case_of(word, _FEMININE[word.lower()]))
            for start, end in _words(example)
            if (word := example.text[start:end]).lower() in _FEMININE
        ),
    )


def _words(example: Example) -> Iterator[tuple[int, int]]:
    """The words of the text; of a word that a span cuts through ("him" of "him-up"), what is in the span."""
    for match in WORD.finditer(example.text):
        start, end = match.span()
        if fits(example, start, end):
            yield start, end
            continue
        for span in sorted((example.pronoun, example.a, example.b)):
            for part in WORD.finditer(example.text, max(start, span.start), min(end, span.end)):
                yield part.span()


def _swapped_names(example: Example, names: FirstNames) -> Iterator[Replacement]:
    text = example.text
    wanted = {
        text[first.start() : first.end()]
        for span in (example.a, example.b)
        if (first := _first_word(text, span)) is not None and first.group() in names.partners
    }
    if not wanted:
        return
    places = list(_words(example))
    for (_, before_end), (start, end) in zip([(0, 0), *places], places, strict=False):
        word = text[start:end]
        is_surname = text[before_end:start] == " " and _ends_with_name(text, before_end, names)
        if word in wanted and is_surname:
            wanted.discard(word)
    for start, end in places:
        if text[start:end] in wanted:
            yield Replacement(start, end, names.partners[text[start:end]])


def _first_word(text: str, span: Span) -> re.Match[str] | None:
    """The first whole word of a mention, titles passed over."""
    for match in WORD.finditer(text, span.start, span.end):
        if match.group() not in {"Mr", "Mrs", "Ms", "Miss", "Sir", "Lady", "Lord", "Dame", "Dr"}:
            return match
    return None


def _ends_with_name(text: str, end: int, names: FirstNames) -> bool:
    start = end
    while start and text[start - 1].isalpha():
        start -= 1
    return text[start:end] in names.genders
