"""Head words of mentions, by the dependency parse."""

from __future__ import annotations

from pathlib import Path

from gapstack.corpus import Corpus, Example, Span
from gapstack.resolvers.clusters import Heads
from gapstack.text.grammar import Parse
from gapstack.text.parses import parses


def heads_of(corpus: Corpus, parser: str | Path | None = None) -> Heads:
    """Parse a corpus and give the function from its examples and their mentions to the mentions' heads.

    The head of a mention without a token, and of all in a text that is not the corpus's, is the mention itself.

    Raises
    ------
    DataNotFoundError
        If a text has no stored parse and there is no parser.
    """
    trees = dict(zip(corpus.texts, parses(corpus, parser), strict=True))

    def head(example: Example, span: Span) -> Span:
        return head_span(trees[example.text], span) if example.text in trees else span

    return head


def head_span(parse: Parse, span: Span) -> Span:
    """Characters of the head token of a span; the span itself where the parse has no token in it."""
    token = parse.head_of(parse.tokens_in(span))
    return parse.characters(range(token, token + 1)) if token >= 0 else span
