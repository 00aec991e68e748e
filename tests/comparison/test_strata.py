"""Rows sorted into kinds: by hand on small texts, and no value outside the table on any real row."""

from dataclasses import replace

import pytest

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


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (
            "final",
            {
                "gender": "feminine",
                "form": "she",
                "position": "final",
                "distance": "up to 4",
                "same sentence": "neither name",
                "URL overlap": "both names",
                "name overlap": "share a word",
                "length": "up to 50",
                "names": "up to 2",
            },
        ),
        (
            "medial",
            {
                "position": "medial",
                "same sentence": "both names",
                "URL overlap": "neither name",
                "name overlap": "distinct",
            },
        ),
        ("initial", {"position": "initial", "distance": "10 to 19", "URL overlap": "", "names": "3 to 4"}),
    ],
)
def test_by_hand(which, expected):
    found = {name: values[0] for name, values in strata(Corpus([ROWS[which]])).items()}
    assert {name: found[name] for name in expected} == expected


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
