"""Corpora made of arrays: scoring looks at labels, genders and pages only."""

from collections.abc import Callable, Sequence

import pytest

from gapstack.data import Corpus, Example, Label, Span

MakeCorpus = Callable[..., Corpus]


@pytest.fixture(scope="session")
def make_corpus() -> MakeCorpus:
    def make(labels: Sequence[int], pronouns: Sequence[str], pages: Sequence[str] | None = None) -> Corpus:
        """One example for each label; all say "<pronoun> Ann Bob"."""
        examples = []
        for row, (label, pronoun) in enumerate(zip(labels, pronouns, strict=True)):
            end = len(pronoun)
            examples.append(
                Example(
                    id=f"row-{row}",
                    text=f"{pronoun} Ann Bob",
                    pronoun=Span(0, end),
                    a=Span(end + 1, end + 4),
                    b=Span(end + 5, end + 8),
                    url=pages[row] if pages else f"page-{row}",
                    label=Label(label),
                )
            )
        return Corpus(examples, name="made")

    return make
