"""Rows like GAP's out of running text: its extraction (Webster et al. 2018, section 3.1) as a tool.

The paper's patterns are in :mod:`gapstack.text.patterns`. Of its constraints for diversity (table 2) these hold here:
at most three rows a page and gender, and :func:`balanced` rows, as many feminine as masculine ones and the patterns
6:1:1. The paper also balances rows with and without the page's own entity, and had people label its rows; here gold
clusters give labels where a page has them. What differs: the gender of a name comes from titles, first names, and the
same family name elsewhere on the page, and a name of no known gender may be either's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gapstack.data import Corpus, Example, Gender, Label, Span
from gapstack.data.extra.mined import with_shares
from gapstack.data.gender import gender_of_name
from gapstack.data.page_files import GoldClusters, Page
from gapstack.errors import DataError
from gapstack.progress import progress
from gapstack.text.grammar import Parse
from gapstack.text.page_title import tokens
from gapstack.text.parses import head_span, parses
from gapstack.text.patterns import FORMS, PER_PAGE, WORDS, Pattern, PatternMatch, contexts, person_names

RATIO = {Pattern.FINAL: 6, Pattern.MEDIAL: 1, Pattern.INITIAL: 1}
"""The paper's aim for the patterns."""

_BATCH = 1024  # paragraphs that are parsed together, and what a killed run may lose
_PRONOUN = re.compile(rf"\b(?:{'|'.join(sorted(FORMS))})\b", re.IGNORECASE)
_RAREST_FIRST = (Pattern.INITIAL, Pattern.MEDIAL, Pattern.FINAL)
_BEFORE = 20  # characters before a name that may hold its title


@dataclass(frozen=True, slots=True)
class MinedRow:
    """One extracted row and its pattern."""

    example: Example
    pattern: Pattern


@dataclass
class Mined:
    """Rows in the order of the pages, how many pages they are from, and counts of what was left out, by reason."""

    rows: list[MinedRow] = field(default_factory=list)
    pages: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def corpus(self) -> Corpus:
        """The rows as a corpus."""
        return Corpus([row.example for row in self.rows], name="mined")

    def counts(self) -> dict[Pattern, Counter[Gender]]:
        """Rows by pattern and gender."""
        return {
            pattern: Counter(row.example.gender for row in self.rows if row.pattern == pattern)
            for pattern in Pattern
        }


def mine(
    pages: Iterable[Page],
    first_names: Mapping[str, Gender],
    parser: str | Path | None = None,
    *,
    per_page: int = PER_PAGE,
    words: int = WORDS,
    total: int | None = None,
) -> Mined:
    """Extract rows from pages, read one after the other.

    Parses are cached, so that a killed run does not parse a paragraph twice. Of a page's contexts of one gender the
    rarer patterns come first, then the earlier ones; no two of its rows have the same two mentions of names.

    Parameters
    ----------
    pages : iterable of Page
    first_names : mapping of str to Gender
        Genders by capitalised first name; see :func:`gapstack.data.gender.known_first_names`.
    per_page : int
        Rows of one gender from one page at most; 0 for all.
    words : int
        Tokens of a snippet at most.
    total : int, optional
        Number of pages, for the progress bar.

    Raises
    ------
    DataNotFoundError
        If there is no parser.
    DataError
        If two pages have one id.
    """
    mined = Mined()
    ids: set[str] = set()
    with progress("mining pages", total or 0) as ticker:
        for batch in _batches(pages):
            wanted = [[text for text in page.paragraphs if _PRONOUN.search(text)] for page in batch]
            trees = iter(parses([text for texts in wanted for text in texts], parser))
            for page, texts in zip(batch, wanted, strict=True):
                if page.id in ids:
                    raise DataError(f"two pages have the id {page.id!r}", expected="unique ids")
                ids.add(page.id)
                mined.pages += 1
                reader = _Reader(page, [next(trees) for _ in texts], first_names, mined.left_out)
                mined.rows += reader.rows(per_page, words)
                ticker.advance()
    return mined


def balanced(mined: Mined, seed: int = 0) -> Mined:
    """Drop rows at random until both genders are equally many in each pattern, and the patterns are as :data:`RATIO`.

    A pattern that a gender has no row of is left out of the ratio, with all its rows.
    """
    counts = mined.counts()
    there = [p for p in Pattern if all(counts[p][gender] for gender in (Gender.FEMININE, Gender.MASCULINE))]
    cells = [(pattern, gender) for pattern in there for gender in (Gender.FEMININE, Gender.MASCULINE)]
    rows = [row for row in mined.rows if row.pattern in there]
    weights = np.array([RATIO[pattern] for pattern, _ in cells], dtype=np.float64)
    classes = np.array([cells.index((row.pattern, row.example.gender)) for row in rows], dtype=np.int64)
    choice = with_shares(classes, weights / weights.sum(), np.random.default_rng(seed)) if cells else []
    left_out = mined.left_out + Counter(
        {"dropped to balance genders and patterns": len(mined.rows) - len(choice)}
    )
    return Mined([rows[row] for row in choice], mined.pages, left_out)


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


class _Reader:
    """The contexts of one page as rows."""

    def __init__(
        self,
        page: Page,
        trees: Sequence[Parse],
        first_names: Mapping[str, Gender],
        left_out: Counter[str],
    ):
        self._page, self._trees, self._left_out = page, trees, left_out
        self._people = People(trees, first_names)
        self._gold = GoldNames(page.gold, trees[0]) if page.gold and trees else None

    def rows(self, per_page: int, words: int) -> list[MinedRow]:
        """Rows in the order of the text, at most ``per_page`` (0: all) of a gender."""
        found = [
            (number, context, label)
            for number, tree in enumerate(self._trees)
            for context in contexts(tree, lambda span, tree=tree: self._gender(tree, span), words)  # type: ignore[misc]
            for label in self._labels(context)
        ]
        found.sort(key=lambda item: _RAREST_FIRST.index(item[1].pattern))  # stable: then as in the text
        picks = []
        seen: set[tuple[int, Span]] = set()
        names: set[tuple[int, Span, Span]] = set()
        genders: Counter[Gender] = Counter()
        for number, context, label in found:
            if (number, context.pronoun) in seen or (number, context.a, context.b) in names:
                self._left_out["another row has its pronoun or names"] += 1
            elif per_page and genders[context.gender] == per_page:
                self._left_out["the page has enough rows of the gender"] += 1
            else:
                seen.add((number, context.pronoun))
                names.add((number, context.a, context.b))
                genders[context.gender] += 1
                picks.append((number, context, label))
        picks.sort(key=lambda item: (item[0], item[1].pronoun))
        return [
            MinedRow(
                self._example(self._trees[number], context, label, f"{self._page.id}-{i}"), context.pattern
            )
            for i, (number, context, label) in enumerate(picks, start=1)
        ]

    def _gender(self, tree: Parse, span: Span) -> Gender | None:
        known = self._gold.gender_of(span) if self._gold else None
        return known or self._people.gender_of(tree, span)

    def _labels(self, context: PatternMatch) -> list[Label | None]:
        """The label, None on a page without gold clusters; nothing where the context makes no row."""
        if self._gold is None:
            return [None]
        clusters = self._gold.clusters_of(context)
        if clusters is None:
            self._left_out["a mention has no gold cluster"] += 1
            return []
        label = GoldClusters.label(*clusters)
        if label is None:
            self._left_out["both names are the pronoun's"] += 1
            return []
        return [label]

    def _example(self, tree: Parse, context: PatternMatch, label: Label | None, name: str) -> Example:
        start, end = tree.characters(range(context.first, context.last))
        pronoun, a, b = (
            Span(span.start - start, span.end - start) for span in (context.pronoun, context.a, context.b)
        )
        return Example(name, tree.text[start:end], pronoun, a, b, self._page.url, label)


class People:
    """Genders of the persons that a page names, by their titles, family names and first names.

    Parameters
    ----------
    trees : sequence of Parse
        Of the page's paragraphs.
    first_names : mapping of str to Gender
    """

    def __init__(self, trees: Sequence[Parse], first_names: Mapping[str, Gender]):
        self._first_names = first_names
        self._families: dict[str, set[Gender]] = {}
        for tree in trees:
            for name in person_names(tree):
                span = tree.characters(name)
                own, *rest = tokens(tree.text[slice(*span)])[::-1] or ("",)
                titled = self._told(tree, span, {})
                gender = titled or (self._told(tree, span, first_names) if rest else None)
                if own and gender:
                    self._families.setdefault(own, set()).add(gender)

    def gender_of(self, tree: Parse, span: Span) -> Gender | None:
        """Gender of the person named at a place of a paragraph; None if unknown."""
        titled = self._told(tree, span, {})
        words = tokens(tree.text[slice(*span)])
        family = self._families.get(words[0], set()) if len(words) == 1 else set()
        if titled or not family:
            return titled or self._told(tree, span, self._first_names)
        return next(iter(family)) if len(family) == 1 else None

    @staticmethod
    def _told(tree: Parse, span: Span, first_names: Mapping[str, Gender]) -> Gender | None:
        before = tree.text[max(0, span.start - _BEFORE) : span.start]
        return gender_of_name(tree.text[slice(*span)], before, first_names)


class GoldNames:
    """Gold clusters of the names that a parser finds: those of mentions with the same head word."""

    def __init__(self, gold: GoldClusters, tree: Parse):
        self._tree, self._genders = tree, gold.genders
        self._by_span = dict(gold.mentions)
        # of mentions with one head the longest comes last
        longest_last = sorted(gold.mentions, key=lambda mention: mention[0].end - mention[0].start)
        self._by_head = {head_span(tree, span): cluster for span, cluster in reversed(longest_last)}

    def cluster_of(self, span: Span) -> str | None:
        """Cluster of a mention; None where it is none of gold's."""
        return self._by_span.get(span) or self._by_head.get(head_span(self._tree, span))

    def gender_of(self, span: Span) -> Gender | None:
        """Gender of the cluster of a name, according to its pronouns and titles."""
        cluster = self.cluster_of(span)
        return self._genders.get(cluster) if cluster else None

    def clusters_of(self, context: PatternMatch) -> tuple[str, str, str] | None:
        """Clusters of pronoun, A and B; None if one has none."""
        pronoun = self._by_span.get(context.pronoun)
        a, b = self.cluster_of(context.a), self.cluster_of(context.b)
        return (pronoun, a, b) if pronoun and a and b else None
