"""Rows sorted into kinds: names near a pronoun, and no value outside the table on any real row."""

from gapstack.comparison.strata import STRATA, names_and_ranks, strata
from gapstack.data import Corpus, Example, Label

TEXT = "His father told Tom that on the way to the old town hall Ann met Bob."


def test_names_are_counted_and_the_right_one_ranked_from_the_pronoun():
    rows = [Example.from_text(TEXT, "His", "Ann", "Bob", id=label.name, label=label) for label in Label]
    counts, ranks = names_and_ranks(Corpus(rows))
    assert counts.tolist() == [3, 3, 3]
    assert ranks.tolist() == [2, 3, 0], "Tom is nearer than Ann, Ann nearer than Bob"


def test_every_value_is_in_the_table(sample):
    for name, values in strata(sample).items():
        assert set(values) <= {"", *STRATA[name].values}
    counts, ranks = names_and_ranks(sample)
    assert (ranks <= counts).all()
