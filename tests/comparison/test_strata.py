"""Rows sorted into kinds: by hand on small texts, and no value outside the table on any real row."""

from dataclasses import replace

from gapstack.comparison.strata import STRATA, names_and_ranks, strata
from gapstack.data import Corpus, Example, Label, Span


def row(text: str, pronoun: str, a: str, b: str, url: str | None = None) -> Example:
    """A row whose spans are the first places of its words."""

    def span(word: str) -> Span:
        at = text.index(word)
        return Span(at, at + len(word))

    return Example("row", text, span(pronoun), span(a), span(b), url=url, label=Label.A)


ROWS = {
    "final": row("Ann Lee met Bob Lee. Then she left.", "she", "Ann Lee", "Bob Lee", "http://x/wiki/Ann_Lee"),
    "medial": row("Ann said that he and Bob left.", "he", "Ann", "Bob", "http://x/wiki/Chess"),
    "initial": row(
        "His father told Tom that on the way to the old town hall Ann met Bob.", "His", "Ann", "Bob"
    ),
}


def test_names_are_counted_and_the_right_one_ranked_from_the_pronoun():
    rows = [replace(ROWS["initial"], id=label.name, label=label) for label in Label]
    counts, ranks = names_and_ranks(Corpus(rows))
    assert counts.tolist() == [3, 3, 3]
    assert ranks.tolist() == [2, 3, 0], "Tom is nearer than Ann, Ann nearer than Bob"


def test_every_value_is_in_the_table(sample):
    for name, values in strata(sample).items():
        assert set(values) <= {"", *STRATA[name].values}
    counts, ranks = names_and_ranks(sample)
    assert (ranks <= counts).all()
