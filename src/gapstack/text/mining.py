"""GAP's extraction of rows from running text (Webster et al. 2018, section 3.1) as a tool.

Of the paper's constraints for diversity (table 2) two are implemented: at most three rows per page and gender, and
:func:`balanced` genders and patterns (6:1:1). Gold clusters give labels where a page has them. The gender of a name
comes from titles, first names, and the same family name elsewhere on the page; of unknown gender, it may be either's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from gapstack.data import Corpus, Example, Gender, Label, Span
from gapstack.data.extra.mined import with_shares
from gapstack.data.gender import gender_of_name
from gapstack.data.page_files import GoldClusters, Page
from gapstack.errors import DataError
from gapstack.progress import progress
from gapstack.text.grammar import Parse
from gapstack.text.parses import head_span, parses
from gapstack.text.patterns import FORMS, PER_PAGE, WORDS, Pattern, PatternMatch, contexts, person_names
from gapstack.text.words import tokens

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

    Of a page's contexts of one gender the rarer patterns come first, then the earlier ones; no two of its rows have the
    same two mentions of names. ``first_names`` are genders by capitalised name; ``per_page`` limits the rows of one
    gender from one page (0: all), ``words`` the tokens of a snippet; ``total`` is the number of pages, for the progress
    bar. Raises DataNotFoundError if there is no parser, DataError if two pages have one id.
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
    """Drop rows at random until genders are equally many in each pattern, and the patterns are as :data:`RATIO`."""
    counts = mined.counts()
    genders = (Gender.FEMININE, Gender.MASCULINE)
    patterns = [pattern for pattern in Pattern if all(counts[pattern][gender] for gender in genders)]
    cells = [(pattern, gender) for pattern in patterns for gender in genders]
    rows = [row for row in mined.rows if row.pattern in patterns]
    weights = np.array([RATIO[pattern] for pattern, _ in cells], dtype=np.float64)
    classes = np.array([cells.index((row.pattern, row.example.gender)) for row in rows], dtype=np.int64)
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
            for context in contexts(tree, partial(self._gender, tree), words)
            for label in self._labels(context)
        ]
        found.sort(key=lambda item: _RAREST_FIRST.index(item[1].pattern))  # stable: then as in the text
        picks = []
        seen: set[tuple[object, ...]] = set()
        genders: Counter[Gender] = Counter()
        for number, context, label in found:
            mentions: set[tuple[object, ...]] = {(number, context.pronoun), (number, context.a, context.b)}
            if mentions & seen:
                self._left_out["another row has its pronoun or names"] += 1
            elif per_page and genders[context.gender] == per_page:
                self._left_out["the page has enough rows of the gender"] += 1
            else:
                seen |= mentions
                genders[context.gender] += 1
                picks.append((number, context, label))
        picks.sort(key=lambda item: (item[0], item[1].pronoun))
        return [self._row(i, *pick) for i, pick in enumerate(picks, start=1)]

    def _gender(self, tree: Parse, span: Span) -> Gender | None:
        known = self._gold.gender_of(span) if self._gold else None
        return known or self._people.gender_of(tree, span)

    def _labels(self, context: PatternMatch) -> list[Label | None]:
        """The label, None on a page without gold clusters; nothing where the context makes no row."""
        if self._gold is None:
            return [None]
        clusters = [self._gold.cluster_of(span) for span in (context.a, context.b)]
        pronoun = self._gold.by_span.get(context.pronoun)
        if not pronoun or not all(clusters):
            self._left_out["a mention has no gold cluster"] += 1
            return []
        label = GoldClusters.label(pronoun, *map(str, clusters))
        if label is None:
            self._left_out["both names are the pronoun's"] += 1
            return []
        return [label]

    def _row(self, i: int, number: int, context: PatternMatch, label: Label | None) -> MinedRow:
        tree = self._trees[number]
        start, end = tree.characters(range(context.first, context.last))
        spans = (context.pronoun, context.a, context.b)
        pronoun, a, b = (Span(span.start - start, span.end - start) for span in spans)
        name = f"{self._page.id}-{i}"
        example = Example(name, tree.text[start:end], pronoun, a, b, self._page.url, label)
        return MinedRow(example, context.pattern)


class People:
    """Genders of the persons that a page's parses name, by their titles, family names and first names."""

    def __init__(self, trees: Sequence[Parse], first_names: Mapping[str, Gender]):
        self._first_names = first_names
        self._families: dict[str, set[Gender]] = {}
        for tree in trees:
            for name in person_names(tree):
                span = tree.characters(name)
                words = tokens(tree.text[slice(*span)])
                gender = _gender(tree, span, {}) or (_gender(tree, span, first_names) if words[1:] else None)
                if words and gender:
                    self._families.setdefault(words[-1], set()).add(gender)

    def gender_of(self, tree: Parse, span: Span) -> Gender | None:
        """Gender of the person named at a place of a paragraph; None if unknown."""
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
    """Gold clusters of the names that a parser finds: those of mentions with the same head word."""

    def __init__(self, gold: GoldClusters, tree: Parse):
        self._tree, self._genders = tree, gold.genders
        self.by_span = dict(gold.mentions)
        # of mentions with one head the shortest counts
        shortest_first = sorted(gold.mentions, key=lambda mention: mention[0].end - mention[0].start)
        self._by_head = {head_span(tree, span): cluster for span, cluster in reversed(shortest_first)}

    def cluster_of(self, span: Span) -> str | None:
        """Cluster of a mention; None if it has none."""
        return self.by_span.get(span) or self._by_head.get(head_span(self._tree, span))

    def gender_of(self, span: Span) -> Gender | None:
        """Gender of the cluster of a name, according to its pronouns and titles."""
        return self._genders.get(self.cluster_of(span) or "")
