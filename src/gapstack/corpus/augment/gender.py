"""Gender swapping of words and, optionally, first names; and feminine forms for all masculine pronouns."""

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
from gapstack.corpus.cells import Row, read_table, whole_number
from gapstack.corpus.example import Example, Span
from gapstack.corpus.pronouns import Gender

# Krige's canonical pronouns (systems of 2019, team Ionita et al.): his and him have one form.
_FEMININE = {"he": "she", "him": "her", "his": "her", "hers": "her", "himself": "herself"}
_NAME_COLUMNS = ("name", "count-F", "count-M", "pct-F", "first-year", "last-year")
_MIN_SHARE = 0.95  # of one sex among a first name's bearers
_MIN_BEARERS = 1000  # rarer names are often surnames


@dataclass(frozen=True, slots=True)
class FirstNames:
    """First names by recorded sex.

    Attributes
    ----------
    genders : mapping of str to Gender
        Gender of names (capitalised: "Mary") of which at least 95% of the bearers have it.
    partners : mapping of str to str
        Maps the k-th most frequent masculine name to the k-th feminine one and back.
    """

    genders: Mapping[str, Gender]
    partners: Mapping[str, str]

    @classmethod
    def of(cls, masculine: list[str], feminine: list[str]) -> FirstNames:
        """Make it from two disjoint lists of names in order of frequency."""
        genders = dict.fromkeys(masculine, Gender.MASCULINE) | dict.fromkeys(feminine, Gender.FEMININE)
        pairs = list(zip(masculine, feminine, strict=False))
        partners = {one: other for pair in pairs for one, other in (pair, pair[::-1])}
        return cls(MappingProxyType(genders), MappingProxyType(partners))


def first_names(data: Path | None = None, bearers: int = _MIN_BEARERS) -> FirstNames:
    """Read the US Social Security names of 1880 to 2018 that at least so many bear.

    Raises DataNotFoundError if the ``names`` folder is missing; DataError if the header is wrong, or a count is no
    number.
    """
    folder = sources.require("names", data)
    return _read_first_names(folder / "ssa_first_names_by_gender.csv.xz", bearers)


@lru_cache(maxsize=4)
def _read_first_names(path: Path, bearers: int) -> FirstNames:
    def parse(row: Row) -> tuple[str, int, int]:
        def people(column: str) -> int:
            count = whole_number(row[column])
            if count is None:
                raise row.error(column, f"found {row[column][:40]!r}", expected="a number of people")
            return count

        return row["name"], people("count-F"), people("count-M")

    rows = read_table(path, (_NAME_COLUMNS,), parse, separator=",")
    by_gender: dict[Gender, list[tuple[int, str]]] = {Gender.MASCULINE: [], Gender.FEMININE: []}
    for name, feminine, masculine in rows:
        gender, most = (Gender.FEMININE, feminine) if feminine > masculine else (Gender.MASCULINE, masculine)
        if most >= bearers and most >= _MIN_SHARE * (feminine + masculine):
            by_gender[gender].append((-most, name))
    ranked = {gender: [name for _, name in sorted(names)] for gender, names in by_gender.items()}
    return FirstNames.of(ranked[Gender.MASCULINE], ranked[Gender.FEMININE])


def swap_gender(
    example: Example, *, names: FirstNames | None = None, words: Mapping[str, str] | None = None
) -> Example:
    """Swap masculine and feminine words in the whole text.

    Covers the pronouns, titles, kinship terms and gendered nouns of :mod:`~gapstack.corpus.augment.gender_words`, and
    keeps case, label and URL. "her" becomes "his" before a noun phrase and "him" elsewhere; "his" becomes "her" or
    "hers" by the same rule; "him" becomes "her". Swapping twice restores the text unless it has a "Ms" or "Miss" (both
    become "Mr"), or a "her" or "his" that the rule misreads.

    Parameters
    ----------
    names : FirstNames, optional
        Also replace the first names of A and B by their partners throughout the text, unless the text uses the word as
        a surname ("Elizabeth Taylor").
    words : mapping of str to str, optional
        Further lower-case words and their partners, see :func:`read_word_pairs`.
    """
    more = words or {}
    replacements = [
        Replacement(start, end, new)
        for start, end in _words(example)
        if (new := swapped_word(example.text, start, end, more)) is not None
    ]
    if names is not None:
        starts = {one.start for one in replacements}
        replacements += [one for one in _swapped_names(example, names) if one.start not in starts]
    return edit(example, replacements)


def feminise(example: Example) -> Example:
    """Replace masculine pronouns by feminine ones (Krige): he by she, his, him and hers by her, himself by herself.

    So GAP's five pronouns become two, and a model need not learn each form separately. Case is kept.
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
    """Words of the text; of a word that crosses a span's boundary ("him" of "him-up"), the part in the span."""
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
    to_swap = {
        text[first.start() : first.end()]
        for span in (example.a, example.b)
        if (first := _first_word(text, span)) is not None and first.group() in names.partners
    }
    if not to_swap:
        return
    words = list(_words(example))
    for (_, before_end), (start, end) in zip([(0, 0), *words], words, strict=False):
        if text[before_end:start] == " " and _ends_with_name(text, before_end, names):
            to_swap.discard(text[start:end])  # used as a surname
    for start, end in words:
        if text[start:end] in to_swap:
            yield Replacement(start, end, names.partners[text[start:end]])


def _first_word(text: str, span: Span) -> re.Match[str] | None:
    """The first whole word of a mention after any title."""
    for match in WORD.finditer(text, span.start, span.end):
        if match.group() not in {"Mr", "Mrs", "Ms", "Miss", "Sir", "Lady", "Lord", "Dame", "Dr"}:
            return match
    return None


def _ends_with_name(text: str, end: int, names: FirstNames) -> bool:
    start = end
    while start and text[start - 1].isalpha():
        start -= 1
    return text[start:end] in names.genders
