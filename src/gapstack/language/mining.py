"""GAP's extraction of rows from running text (Webster et al. 2018, section 3.1), on dependency parses.

============ ==================== ======================================================================================
FinalPro     name, name, pronoun  both names in one sentence, the pronoun in it or in the next
MedialPro    name, pronoun, name  the first name in the sentence before the pronoun's, the second in the pronoun's
InitialPro   pronoun, name, name  all in one sentence
============ ==================== ======================================================================================

In MedialPro and InitialPro the pronoun stands in an initial subordinate clause, or is a possessive in an initial
prepositional phrase. Pronouns are singular, gendered and not reflexive. The two names have different heads, and no
third name of a person who may have the pronoun's gender stands between the mentions. The gender of a name comes from
titles, first names, and the same family name elsewhere on the page; a name of unknown gender may have either.

Of the paper's constraints for diversity (table 2) three are implemented: one row per page and pronoun form, and
:func:`balanced` genders and patterns (6:1:1). Gold clusters give labels where a page has them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gapstack.data import Corpus, Example, Gender, Span
from gapstack.data.example import GAP_FORMS, GENDER_BY_FORM
from gapstack.data.extra.mined import with_shares
from gapstack.data.gender import gender_of_name
from gapstack.data.page_files import GoldClusters, Page
from gapstack.language.grammar import Parse, PartOfSpeech, Role
from gapstack.language.parses import head_span, parses
from gapstack.language.word_classes import POSSESSIVE_MARKS
from gapstack.language.words import distinctive_tokens, tokens
from gapstack.progress import progress

WORDS = 100  # maximum number of tokens of a snippet; 92% of GAP development's have no more

_PRONOUN = re.compile(rf"\b(?:{'|'.join(sorted(GAP_FORMS))})\b", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_BATCH = 1024  # paragraphs that are parsed together; a killed run loses at most these
_BEFORE = 20  # characters before a name that may hold its title


class Pattern(StrEnum):
    """Order of the three mentions in the text."""

    FINAL = "FinalPro"
    MEDIAL = "MedialPro"
    INITIAL = "InitialPro"


RATIO = {Pattern.FINAL: 6, Pattern.MEDIAL: 1, Pattern.INITIAL: 1}
"""Ratio of the patterns that the paper aims for."""


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """A match of a pattern: characters of pronoun and names (in order), and tokens of the snippet's sentences."""

    pattern: Pattern
    pronoun: Span
    a: Span
    b: Span
    first: int
    last: int


def pattern_of(example: Example) -> Pattern:
    """Pattern of an example, by the order of its mentions."""
    names_before = sum(name.start < example.pronoun.start for name in (example.a, example.b))
    return (Pattern.INITIAL, Pattern.MEDIAL, Pattern.FINAL)[names_before]


def contexts(
    parse: Parse, gender_of: Callable[[Span], Gender | None], words: int = WORDS
) -> Iterator[PatternMatch]:
    """Find every match of a pattern, with as many sentences before it as fit into ``words`` tokens."""
    names = person_names(parse)
    genders = [gender_of(parse.characters(name)) for name in names]
    for token in range(len(parse)):
        form = parse.words(token).lower()
        if form not in GAP_FORMS or parse.pos[token] != PartOfSpeech.PRONOUN:
            continue
        gender = GENDER_BY_FORM[form]
        fitting = [name for name, known in zip(names, genders, strict=True) if known in (None, gender)]
        for pattern, first, second in _pairs(parse, token, fitting):
            if not _different(parse, first, second):
                continue
            bounds = _snippet(parse, min(token, first.start), max(token, second.start), words)
            if bounds is not None:
                pronoun, a, b = map(parse.characters, (range(token, token + 1), first, second))
                yield PatternMatch(pattern, pronoun, a, b, *bounds)


def person_names(parse: Parse) -> list[range]:
    """Tokens of the names of single persons: PERSON entities with a proper noun as head, without a possessive mark."""
    names = []
    for start, stop in parse.persons.tolist():
        worded = [i for i in range(start, stop) if is_word(parse.words(i))]
        name = range(start, worded[-1] + 1 if worded else start)
        head = parse.head_of(name)
        plural = start > 0 and parse.words(start - 1).lower() == "the"  # "the Smiths", "the Duke"
        if head >= 0 and parse.pos[head] == PartOfSpeech.PROPER_NOUN and not plural:
            names.append(name)
    return names


def is_word(word: str) -> bool:
    """True if a token of a name has a letter and is not a possessive mark."""
    return word not in POSSESSIVE_MARKS and _LETTER.search(word) is not None


def _pairs(parse: Parse, pronoun: int, names: list[range]) -> Iterator[tuple[Pattern, range, range]]:
    """Patterns of a pronoun with adjacent names: no other name stands between the three mentions."""
    here = parse.sentence[pronoun]
    before = [name for name in names if name.stop <= pronoun]
    after = [name for name in names if name.start > pronoun and parse.sentence[name.start] == here]
    sentence = {name: int(parse.sentence[name.start]) for name in (*before[-2:], *after[:2])}
    if len(before) > 1:
        first, second = before[-2:]
        if sentence[first] == sentence[second] >= here - 1:
            yield Pattern.FINAL, first, second
    medial = bool(before and after) and sentence[before[-1]] == here - 1
    if (medial or len(after) > 1) and is_initial(parse, pronoun):
        if medial:
            yield Pattern.MEDIAL, before[-1], after[0]
        if len(after) > 1:
            yield Pattern.INITIAL, after[0], after[1]


def is_initial(parse: Parse, pronoun: int) -> bool:
    """True if a pronoun is in an initial subordinate clause, or a possessive in an initial prepositional phrase."""
    first = int(np.flatnonzero(parse.sentence == parse.sentence[pronoun])[0])
    token = pronoun
    while parse.heads[token] != token:
        head = int(parse.heads[token])
        is_clause = parse.roles[token] == Role.CLAUSE and parse.pos[head] != PartOfSpeech.NOUN
        is_phrase = (
            parse.roles[token] == Role.OBLIQUE
            and parse.roles[pronoun] == Role.POSSESSIVE
            and bool(((parse.heads == token) & (parse.roles == Role.CASE)).any())
        )
        if (is_clause or is_phrase) and head > token:
            subtree = np.flatnonzero(parse.ancestors[:, token]).tolist()
            if max(subtree) < head and all(
                parse.pos[i] == PartOfSpeech.OTHER for i in range(first, subtree[0])
            ):
                return True
        token = head
    return False


def _different(parse: Parse, *names: range) -> bool:
    """True if two names share no word; names that share one could be the same person's."""
    first, second = (set(distinctive_tokens(parse.text[slice(*parse.characters(name))])) for name in names)
    return bool(first and second) and first.isdisjoint(second)


def _snippet(parse: Parse, first: int, last: int, words: int) -> tuple[int, int] | None:
    """Token range (start, stop) of the sentences from ``first`` to ``last``, and of as many before them as fit."""
    starts = [0, *(np.flatnonzero(np.diff(parse.sentence)) + 1).tolist(), len(parse)]
    sentences = [range(*bounds) for bounds in pairwise(starts)]
    at, end = int(parse.sentence[first]), sentences[int(parse.sentence[last])].stop
    if end - sentences[at].start > words:
        return None
    while at > 0 and end - sentences[at - 1].start <= words:
        at -= 1
    return sentences[at].start, end


@dataclass
class Mined:
    """Rows in the order of the pages, the number of pages read, and counts of what was left out, by reason."""

    rows: list[Example] = field(default_factory=list)
    pages: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def corpus(self) -> Corpus:
        """The rows as a corpus."""
        return Corpus(self.rows, name="mined")

    def counts(self) -> dict[Pattern, Counter[Gender]]:
        """Rows by pattern and gender."""
        kinds = Counter((pattern_of(row), row.gender) for row in self.rows)
        return {
            p: Counter({gender: kinds[p, gender] for gender in Gender if kinds[p, gender]}) for p in Pattern
        }


def mine(
    pages: Iterable[Page],
    first_names: Mapping[str, Gender],
    parser: str | Path | None = None,
    *,
    per_page: int = 1,
    words: int = WORDS,
    total: int | None = None,
) -> Mined:
    """Extract rows from pages.

    Rarer patterns are preferred, and no two rows of a page share the pronoun or the pair of names. A page gives at most
    ``per_page`` rows (0: all) per pronoun form; a snippet has at most ``words`` tokens.
    """
    mined = Mined()
    with progress("mining pages", total or 0) as ticker:
        for batch in _batches(pages):
            wanted = [[text for text in page.paragraphs if _PRONOUN.search(text)] for page in batch]
            trees = iter(parses([text for texts in wanted for text in texts], parser))
            for page, texts in zip(batch, wanted, strict=True):
                mined.pages += 1
                candidates = _candidates(
                    page, [next(trees) for _ in texts], first_names, words, mined.left_out
                )
                mined.rows += _rows(page, candidates, per_page, mined.left_out)
                ticker.advance()
    return mined


def balanced(mined: Mined, seed: int = 0) -> Mined:
    """Drop random rows until each pattern has as many rows of each gender, and the patterns are in :data:`RATIO`."""
    counts = mined.counts()
    genders = (Gender.FEMININE, Gender.MASCULINE)
    patterns = [pattern for pattern in Pattern if all(counts[pattern][gender] for gender in genders)]
    cells = [(pattern, gender) for pattern in patterns for gender in genders]
    rows = [row for row in mined.rows if pattern_of(row) in patterns]
    weights = np.array([RATIO[pattern] for pattern, _ in cells], dtype=np.float64)
    classes = np.array([cells.index((pattern_of(row), row.gender)) for row in rows], dtype=np.int64)
    choice = with_shares(classes, weights / weights.sum(), np.random.default_rng(seed)) if cells else []
    dropped = Counter({"dropped to balance genders and patterns": len(mined.rows) - len(choice)})
    return Mined([rows[row] for row in choice], mined.pages, mined.left_out + dropped)


def _batches(pages: Iterable[Page]) -> Iterator[list[Page]]:
    batch: list[Page] = []
    size = 0
    for page in pages:
        batch.append(page)
        size += len(page.paragraphs)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Candidate(NamedTuple):
    """A possible row of a page, and its match in paragraph ``number``."""

    number: int
    match: PatternMatch
    row: Example


def _candidates(
    page: Page, trees: Sequence[Parse], first_names: Mapping[str, Gender], words: int, left_out: Counter[str]
) -> list[_Candidate]:
    """All matches of a page, with their labels if it has gold clusters."""
    people = People(trees, first_names)
    gold = GoldNames(page.gold, trees[0]) if page.gold and trees else None
    candidates = []
    for number, tree in enumerate(trees):

        def gender_of(span: Span, tree: Parse = tree) -> Gender | None:
            return (gold and gold.gender_of(span)) or people.gender_of(tree, span)

        for match in contexts(tree, gender_of, words):
            label = clusters = None
            if gold:  # a pronoun's cluster is that of its own mention alone
                clusters = gold.by_span.get(match.pronoun), gold.cluster_of(match.a), gold.cluster_of(match.b)
            if clusters and not all(clusters):
                left_out["a mention has no gold cluster"] += 1
                continue
            if clusters:
                label = GoldClusters.label(*map(str, clusters))
                if label is None:
                    left_out["both names are the pronoun's"] += 1
                    continue
            start, end = tree.characters(range(match.first, match.last))
            mentions = (match.pronoun, match.a, match.b)
            pronoun, a, b = (Span(mention.start - start, mention.end - start) for mention in mentions)
            row = Example(page.id, tree.text[start:end], pronoun, a, b, page.url, label)
            candidates.append(_Candidate(number, match, row))
    return candidates


def _rows(
    page: Page, candidates: Iterable[_Candidate], per_page: int, left_out: Counter[str]
) -> list[Example]:
    """Rows in the order of the text, at most ``per_page`` (0: all) per pronoun form."""
    picks = []
    seen: set[tuple[object, ...]] = set()
    forms: Counter[str] = Counter()
    rarest_first = (Pattern.INITIAL, Pattern.MEDIAL, Pattern.FINAL)
    for candidate in sorted(candidates, key=lambda each: rarest_first.index(each.match.pattern)):
        number, match, row = candidate
        form = row.pronoun_text.lower()
        mentions = {(number, match.pronoun), (number, match.a, match.b)}
        if mentions & seen:
            left_out["another row has its pronoun or names"] += 1
        elif per_page and forms[form] == per_page:
            left_out["the page has enough rows of the pronoun form"] += 1
        else:
            seen |= mentions
            forms[form] += 1
            picks.append(candidate)
    picks.sort(key=lambda each: (each.number, each.match.pronoun))
    return [replace(pick.row, id=f"{page.id}-{number}") for number, pick in enumerate(picks, start=1)]


class People:
    """Genders of the people named on a page, by their titles, family names and first names."""

    def __init__(self, trees: Sequence[Parse], first_names: Mapping[str, Gender]):
        self._first_names = first_names
        self._families: dict[str, set[Gender]] = {}
        for tree in trees:
            for name in person_names(tree):
                span = tree.characters(name)
                words = tokens(tree.text[slice(*span)])
                gender = _gender(tree, span, first_names if words[1:] else {})
                if words and gender:
                    self._families.setdefault(words[-1], set()).add(gender)

    def gender_of(self, tree: Parse, span: Span) -> Gender | None:
        """Gender of the person named by ``span``; None if unknown."""
        titled = _gender(tree, span, {})
        words = tokens(tree.text[slice(*span)])
        family = self._families.get(words[0], set()) if len(words) == 1 else set()
        if titled or not family:
            return titled or _gender(tree, span, self._first_names)
        return next(iter(family)) if len(family) == 1 else None


def _gender(tree: Parse, span: Span, first_names: Mapping[str, Gender]) -> Gender | None:
    """Gender of a name by the title before it and its first name."""
    before = tree.text[max(0, span.start - _BEFORE) : span.start]
    return gender_of_name(tree.text[slice(*span)], before, first_names)


class GoldNames:
    """Gold clusters of detected names: the cluster of the mention with the same head word."""

    def __init__(self, gold: GoldClusters, tree: Parse):
        self._tree, self._genders = tree, gold.genders
        self.by_span = dict(gold.mentions)
        # of several mentions with one head word, the shortest is the name itself
        shortest_first = sorted(gold.mentions, key=lambda mention: mention[0].end - mention[0].start)
        self._by_head = {head_span(tree, span): cluster for span, cluster in reversed(shortest_first)}

    def cluster_of(self, span: Span) -> str | None:
        """Cluster of a mention; None if it has none."""
        return self.by_span.get(span) or self._by_head.get(head_span(self._tree, span))

    def gender_of(self, span: Span) -> Gender | None:
        """Gender of the cluster of a name, according to its pronouns and titles."""
        return self._genders.get(self.cluster_of(span) or "")
