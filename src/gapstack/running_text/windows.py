"""Windows of a text of any length: snippets for predictors, each with the pronouns to resolve in it.

A text is split into sentences (:mod:`gapstack.language.words`, without a parser). A window consists of context
sentences, shared with earlier windows, and its own sentences, whose pronouns it resolves. All pronouns of a window
share its parse and the encoder's pass. A window depends only on the text before its end, so texts can be streamed.

White space becomes single spaces; :class:`Window` maps its characters to those of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

from gapstack.data import Span
from gapstack.data.example import GENDER_BY_FORM, Gender
from gapstack.data.paragraphs import PARAGRAPH_END, WRAPPED
from gapstack.language.words import split

GENDERED = frozenset(form for form, gender in GENDER_BY_FORM.items() if gender is not Gender.NEUTRAL)
"""Forms resolved in documents by default; *they* is mostly plural."""
WORDS = 240
"""Words of a window: twice a GAP snippet, since names are often further back in documents (docs/any-text.md)."""
PASSAGE = 260
"""Words of a passage."""
CONTEXT = 60
"""Words that a passage repeats of the one before."""
OWN = 1 / 3
"""Fraction of a window that its own sentences take."""

# control characters, zero-width characters, direction marks and unpaired surrogates count as blanks
_BLANK = r"\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff"
# longer stretches would choke a tokenizer
_VISIBLE = re.compile(rf"[^{_BLANK}]{{1,200}}")
_PARAGRAPH_ENDS = re.compile(rf"{PARAGRAPH_END}|(?<=[^\n]{{{WRAPPED + 1}}})\n")
_MOST = 20_000  # characters of a paragraph that are split at once
_SENTENCE_ENDS = re.compile(r"[.!?]['\")\u201d\u2019]*\s")
_PRONOUN = re.compile(
    rf"(?<![\w'\u2019])(?:{'|'.join(sorted(GENDER_BY_FORM, key=len, reverse=True))})(?!\w|['\u2019]\w{{3}})",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Window:
    """A snippet of a text."""

    text: str
    """With single spaces."""
    pronouns: tuple[Span, ...]
    """Pronouns to resolve in this window, in characters of :attr:`text`."""
    own: int
    """Start of the window's own sentences in :attr:`text`."""
    starts: tuple[int, ...]
    """Start of each stretch between spaces in :attr:`text`."""
    origins: tuple[int, ...]
    """Their starts in the original text."""

    def origin(self, span: Span) -> Span:
        """Span of the original text for a span of :attr:`text`."""

        def place(at: int) -> int:
            word = bisect_right(self.starts, at) - 1
            return self.origins[word] + at - self.starts[word]

        return Span(place(span.start), place(span.end - 1) + 1)


def windows(text: str, forms: Collection[str] = GENDER_BY_FORM.keys(), most: int = WORDS) -> Iterator[Window]:
    """Split a text of any length into windows and yield those with a pronoun to resolve, in order.

    ``forms`` are the pronouns to find, in lower case; ``most`` is the maximum number of words of a window, longer
    sentences are cut.
    """
    added = int(most * OWN)
    seen: list[list[Span]] = []  # sentences, each as the visible stretches of the text
    own: list[list[Span]] = []
    for sentence in _sentences(text, most):
        size = sum(map(len, own))
        if own and size + len(sentence) > (added if seen else most):
            yield from _window(text, seen, own, forms)
            seen, own = _last([*seen, *own], most - min(most, max(added, len(sentence)))), []
        own.append(sentence)
    if own:
        yield from _window(text, seen, own, forms)


def passages(text: str, most: int = PASSAGE, context: int = CONTEXT) -> Iterator[Window]:
    """Split a text of any length into consecutive passages of whole sentences, without pronouns.

    Each begins with up to ``context`` words of the sentences before it, which are not its own. A passage depends only
    on the text before its end.
    """
    seen: list[list[Span]] = []
    own: list[list[Span]] = []
    for sentence in _sentences(text, most):
        if own and sum(map(len, own)) + len(sentence) > most:
            yield _passage(text, seen, own)
            seen, own = _last([*seen, *own], context), []
        own.append(sentence)
    if own:
        yield _passage(text, seen, own)


def _passage(text: str, seen: list[list[Span]], own: list[list[Span]]) -> Window:
    stretches = [stretch for sentence in (*seen, *own) for stretch in sentence]
    parts = [text[slice(*stretch)] for stretch in stretches]
    starts = tuple(accumulate((len(part) + 1 for part in parts[:-1]), initial=0))
    begin = starts[sum(map(len, seen))]
    return Window(" ".join(parts), (), begin, starts, tuple(stretch.start for stretch in stretches))


def pronouns(text: str, forms: Collection[str] = GENDER_BY_FORM.keys()) -> tuple[Span, ...]:
    """Pronouns of a text with one of these forms; 'em and parts of words do not count."""
    return tuple(Span(*match.span()) for match in _PRONOUN.finditer(text) if match[0].lower() in forms)


def sentences(text: str) -> Iterator[list[Span]]:
    """Words of each sentence of a text, split by the same rules."""
    for start, end in _paragraphs(text):
        written = split(text[start:end])
        for sentence in written.sentences:
            yield [Span(start + written.starts[i], start + written.ends[i]) for i in sentence]


def _window(
    text: str, seen: list[list[Span]], own: list[list[Span]], forms: Collection[str]
) -> Iterator[Window]:
    whole = _passage(text, seen, own)
    own_pronouns = tuple(span for span in pronouns(whole.text, forms) if span.start >= whole.own)
    if own_pronouns:
        yield replace(whole, pronouns=own_pronouns)


def _last(sentences: list[list[Span]], most: int) -> list[list[Span]]:
    """The last sentences with at most ``most`` words together."""
    last: list[list[Span]] = []
    for sentence in reversed(sentences):
        most -= len(sentence)
        if most < 0:
            break
        last.append(sentence)
    return last[::-1]


def _sentences(text: str, most: int) -> Iterator[list[Span]]:
    """Visible stretches of each sentence; a sentence of more than ``most`` words is cut."""
    for start, end in _paragraphs(text):
        stretches = [Span(start + m.start(), start + m.end()) for m in _VISIBLE.finditer(text[start:end])]
        # the sentence rules expect text without line breaks
        written = split(" ".join(text[slice(*stretch)] for stretch in stretches))
        ends = [written.ends[sentence[-1]] for sentence in written.sentences]
        at, number, sentence = 0, 0, list[Span]()
        for stretch in stretches:
            sentence.append(stretch)
            at += stretch.end - stretch.start
            if at >= ends[number] or len(sentence) == most:
                yield sentence
                sentence = []
            # a word may end several sentences: "U.S.!So"
            while number + 1 < len(ends) and at >= ends[number]:
                number += 1
            at += 1
        if sentence:
            yield sentence


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Half-open ranges of the paragraphs; a very long one is cut, at the end of a sentence if possible."""
    ends = [*(match.end() for match in _PARAGRAPH_ENDS.finditer(text)), len(text)]
    start = 0
    for end in ends:
        while end - start > _MOST:
            stops = [match.end() for match in _SENTENCE_ENDS.finditer(text, start, start + _MOST)]
            cut = stops[-1] if stops else start + _MOST
            yield start, cut
            start = cut
        yield start, end
        start = end
