"""Word pairs for gender swapping, and the rule that disambiguates "her" and "his".

The list is short on purpose: pronouns, titles, kinship and the everyday nouns of biographies.
:func:`read_word_pairs` reads longer ones (``generalized_swaps.txt`` and ``extra_gendered_words.txt`` of WinoBias, MIT).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from gapstack.corpus import sources
from gapstack.corpus.cells import Row, read_table
from gapstack.corpus.pronouns import GENDER_BY_FORM

WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
"""A word of letters and inner hyphens; an apostrophe ends it, so the word in "king's" is "king"."""

# Masculine and feminine; each form occurs once, so that swapping twice restores the word. Words with more frequent
# other meanings ("to count", "a host of", "thank God") are left out.
_PAIRS = """
man woman / men women / boy girl / boys girls / boyhood girlhood / gentleman lady / gentlemen ladies
father mother / fathers mothers / dad mom / dads moms / daddy mommy / papa mama
son daughter / sons daughters / brother sister / brothers sisters / husband wife / husbands wives
uncle aunt / uncles aunts / nephew niece / nephews nieces / grandfather grandmother
grandfathers grandmothers / grandpa grandma / grandson granddaughter / grandsons granddaughters
stepfather stepmother / stepson stepdaughter / stepbrother stepsister / half-brother half-sister
half-brothers half-sisters / father-in-law mother-in-law / son-in-law daughter-in-law
brother-in-law sister-in-law / godfather godmother / godson goddaughter / boyfriend girlfriend
boyfriends girlfriends / groom bride / grooms brides / widower widow / widowers widows
fatherhood motherhood / brotherhood sisterhood / manhood womanhood / male female / males females
masculine feminine / king queen / kings queens / prince princess / princes princesses / duke duchess
dukes duchesses / emperor empress / emperors empresses / baron baroness / barons baronesses
viscount viscountess / marquess marchioness / earl countess / earls countesses
actor actress / actors actresses / waiter waitress / waiters waitresses
hero heroine / heroes heroines / heir heiress / heirs heiresses
monk nun / monks nuns / abbot abbess / wizard witch / wizards witches / sorcerer sorceress
businessman businesswoman / businessmen businesswomen / congressman congresswoman
chairman chairwoman / chairmen chairwomen / spokesman spokeswoman / policeman policewoman
sportsman sportswoman / salesman saleswoman / salesmen saleswomen / policemen policewomen
schoolboy schoolgirl / schoolboys schoolgirls / landlord landlady / headmaster headmistress
cowboy cowgirl / masseur masseuse / alumnus alumna / fiancé fiancée / fiance fiancee
sir madam / he she / himself herself
"""
# Titles count only if capitalised and before a name: "to miss" is a verb and "a count" a number.
_TITLES = {"Mr": "Mrs", "Mrs": "Mr", "Ms": "Mr", "Miss": "Mr", "Sir": "Dame", "Dame": "Sir", "Lord": "Lady"}
_TITLES |= {
    "Lady": "Lord",
    "Mister": "Missus",
    "Missus": "Mister",
    "Monsieur": "Madame",
    "Madame": "Monsieur",
}

# The preceding word and its full stop, which after "Mr" or an initial ends no sentence.
_WORD_BEFORE = re.compile(r"([^\W\d_]+)(\.?)[ \u00a0]+\Z")
_ABBREVIATIONS = {*_TITLES, "Dr", "St", "Prof", "Rev", "Sr", "Jr"}
_OPENERS = ".!?:;\"`'\u201c\u2018(\n"

# Words that cannot begin the possessed noun phrase: before them "her" is "him", and "his" is "hers".
_CLOSED_WORDS = """
a an the this that these those some any each every no another
i you he she it we they me him us them his her its my your our their mine yours theirs hers who whom
whose which what where when why how whether
and or but nor so yet because since although though while if unless until till before after as than once
to of in on at by for from with without about above across against along amid among around behind below
beneath beside besides between beyond despite down during except inside into like near off onto out outside
over past per through throughout toward towards under up upon via within
is are was were be been being am has have had do does did can could will would shall should may might must
not never again away back too also instead there here now ever alone aside together apart forward
home anymore however therefore either tonight today tomorrow yesterday soon afterward afterwards
everything something nothing anything
"""
_CLOSED = frozenset(_CLOSED_WORDS.split())

# Ambiguous forms: their counterparts before a noun phrase, and elsewhere.
_BY_CONTEXT = {"her": ("his", "him"), "his": ("her", "hers"), "him": ("her", "her"), "hers": ("his", "his")}
_GAP_IN_NOUN_PHRASE = re.compile(r"[ \u00a0\n]+(?:[\"\u201c\u2018]|``)?[ ]?")


def opens_noun_phrase(text: str, at: int) -> bool:
    """Whether a "his" or "her" that ends at ``at`` is possessive: whether a noun phrase can follow.

    The rule looks at the next word alone, after spaces and at most an opening quote: it must not be a preposition,
    conjunction, pronoun, article, auxiliary or frequent adverb; it may be a number ("her 1990 album"). The rule is
    right on 96% of the 1,963 "his" and "him" in GAP development.
    """
    gap = _GAP_IN_NOUN_PHRASE.match(text, at)
    if gap is None or gap.end() == len(text):
        return False
    if text[gap.end()].isdigit():
        return True
    word = WORD.match(text, gap.end())
    return word is not None and word.group().lower() not in _CLOSED


def swapped_word(text: str, start: int, end: int, more: Mapping[str, str]) -> str | None:
    """The other gender's form of the word at ``start`` to ``end``, with its case, or None if there is none.

    ``more`` maps further lower-case words to their partners. A capitalised noun may be a surname ("Stephen King"): it
    is swapped only at the start of a sentence or before a name or "of" ("Prince Albert", "Duke of York"), and never
    after another capitalised word.
    """
    word = text[start:end]
    if word in _TITLES and _before_name(text, end, stop="." if word in {"Mr", "Mrs", "Ms"} else ""):
        return _TITLES[word]
    lower = word.lower()
    if lower in _BY_CONTEXT:
        possessive, other = _BY_CONTEXT[lower]
        return with_case_of(word, possessive if opens_noun_phrase(text, end) else other)
    partner = PAIRS.get(lower) or more.get(lower)
    if partner is None or (
        word[1:].islower() and word[0].isupper() and not _is_common(text, start, end, lower)
    ):
        return None
    return with_case_of(word, partner)


def with_case_of(model: str, word: str) -> str:
    """Write ``word`` in the case of ``model``: all capitals, capitalised, or lower."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def read_word_pairs(data: Path | None = None) -> dict[str, str]:
    """Read the two swap lists of WinoBias (Zhao et al. 2018): word to partner, for words not in :data:`PAIRS`.

    A word with several partners keeps the first. Pairs count in both directions unless the second word has another
    partner already. Raises DataNotFoundError if the WinoBias folder, or a list in it, is missing; DataError if a line
    is not two words separated by a tab.
    """

    def parse(row: Row) -> tuple[str, str]:
        one, other = (cell.strip().lower() for cell in row.cells)
        if not one or not other:
            raise row.error(1 if not one else 2, "the word is empty", expected="two words")
        return one, other

    folder = sources.require("winobias", data)
    rows: list[tuple[str, str]] = []
    for file in ("generalized_swaps.txt", "extra_gendered_words.txt"):
        rows += read_table(folder / file, (("word", "partner"),), parse, header=False)
    partners: dict[str, str] = {}
    for one, other in [*rows, *((other, one) for one, other in rows)]:
        partners.setdefault(one, other)
    own = PAIRS.keys() | _BY_CONTEXT.keys()
    return {one: other for one, other in partners.items() if one not in own and one != other}


def _before_name(text: str, end: int, stop: str = "") -> bool:
    return text[end : end + 3].removeprefix(stop).lstrip(" \u00a0")[:1].isupper()


def _is_common(text: str, start: int, end: int, lower: str) -> bool:
    """Whether a capitalised word of the lists is a noun or pronoun here, not part of a name."""
    if lower in GENDER_BY_FORM:
        return True
    head = text[:start]
    before = _WORD_BEFORE.search(head, max(0, start - 40))
    if before is None:
        opens = not head.strip() or head.rstrip(" \u00a0")[-1] in _OPENERS
    else:
        word, stop = before.groups()
        opens = stop == "." and len(word) > 1 and word not in _ABBREVIATIONS
        if word[0].isupper() and not opens and word.lower() not in _CLOSED | {"then"}:
            return False
    return opens or _before_name(text, end) or text.startswith(" of ", end)


def _both_ways(pairs: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    table: dict[str, str] = {}
    for one, other in pairs:
        table |= {one: other, other: one}
    return MappingProxyType(table)


PAIRS: Mapping[str, str] = _both_ways(
    (line.split()[0], line.split()[1]) for line in _PAIRS.replace("\n", "/").split("/") if line.strip()
)
"""Maps every word of the list, in lower case, to its partner, in both directions."""
