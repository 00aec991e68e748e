"""Synthetic NEITHER rows: honest about who is meant, and no shift of the label prior."""

import numpy as np
import pytest

from gapstack.data import Corpus, Example, Label, Span
from gapstack.data.augment import people_by_first_name, synthetic_neither, with_synthetic_neither
from gapstack.data.gender import FirstNames, first_names
from gapstack.errors import DataError

NAMES = FirstNames.of(["James", "Paul"], ["Mary", "Ruth", "Ida"])
PEOPLE = people_by_first_name(NAMES)


def row(text, a="Ann Poe", b="Eve Orr", pronoun="she", label=Label.A, name="r"):
    spans = [Span(text.index(w), text.index(w) + len(w)) for w in (pronoun, a, b)]
    return Example(name, text, *spans, "u", label)


def made(text, **options):
    return synthetic_neither(row(text, **options), PEOPLE, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Mary Lamb saw James Fox.", ["Mary Lamb"]),
        ("Ruth J. Fox's aunt, Ida Bell, met Mary.", ["Ruth J. Fox", "Ida Bell"]),
        ("The Ruth Fox Prize of Mary Lamb. Paul", ["Mary Lamb"]),
        ("no name here, mary lamb", []),
    ],
)
def test_people_are_first_names_of_the_pronouns_gender_with_one_more_word(text, people):
    example = row(f"{text} x Ann Poe, Eve Orr; she")
    assert [example.words(span) for span in PEOPLE(example) if span.start < len(text)] == people


def test_the_right_name_gives_way_to_a_stranger_and_a_stays_before_b():
    text = "Mary Lamb met Eve Orr. Ann Poe sang while she danced."
    example = made(text, a="Eve Orr", b="Ann Poe", label=Label.B)
    assert (example.a_text, example.b_text) == ("Mary Lamb", "Eve Orr")
    assert (example.id, example.label, example.text) == ("r~neither", Label.NEITHER, text)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Ann Poe met Eve Orr; she ran.", Label.A),  # nobody else
        ("Ann Poe met Eve Orr and Ruth Poe; she ran.", Label.A),  # shares a surname with the right name
        ("Ann Poe met Eve Orr and Ida Orr; she ran.", Label.A),  # or with the wrong one
        ("Ann Poe, born Ruth Fox, met Eve Orr; she ran.", Label.A),  # the same person
        ("Ann Poe (Ruth Fox) met Eve Orr; she ran.", Label.A),
        ("Ann Poe met Eve Orr and James Fox; she ran.", Label.A),  # of the other gender
        ("Ann Poe met Eve Orr and Ruth Fox; she ran.", Label.NEITHER),
        ("Ann Poe met Eve Orr and Ruth Fox; she ran.", None),
    ],
)
def test_no_row_is_made_where_nobody_is_known_to_be_another_person(text, label):
    assert made(text, label=label) is None


def corpus_of(a, b, neither):
    labels = [Label.A] * a + [Label.B] * b + [Label.NEITHER] * neither
    text = "Ann Poe met Eve Orr and Ruth Fox{}; she ran."
    return Corpus([row(text.format(i), label=label, name=str(i)) for i, label in enumerate(labels)])


@pytest.mark.parametrize(("share", "copies"), [(None, 90), (20 / 110, 0), (0.12, 62)])
def test_neither_has_the_share_asked_for(share, copies):
    corpus = corpus_of(50, 40, 10)
    grown = with_synthetic_neither(corpus, PEOPLE, added=0.1, share=share)
    assert grown.examples[:100] == corpus.examples
    assert sum(name.endswith("~neither") for name in grown.ids) == 10
    assert sum(name.endswith("~swapped") for name in grown.ids) == pytest.approx(copies, abs=6)
    assert (grown.labels == Label.NEITHER).mean() == pytest.approx(share or 0.1, abs=0.003)
    assert (
        with_synthetic_neither(corpus, PEOPLE, added=0.1, share=share, seed=2).fingerprint
        != grown.fingerprint
    )


@pytest.mark.parametrize("options", [{"added": 0.95}, {"added": 0.2}, {"share": 0.5}, {"share": 0.0}])
def test_what_cannot_be_is_refused(options):
    with pytest.raises(DataError, match="cannot add"):
        with_synthetic_neither(corpus_of(50, 40, 10), PEOPLE, **options)


def test_development_gives_enough_rows_and_keeps_its_prior(gap_splits, gap_folder):
    corpus = gap_splits["development"]
    people = people_by_first_name(first_names(gap_folder))
    grown = with_synthetic_neither(corpus, people)
    before, after = (np.bincount(c.labels) / len(c) for c in (corpus, grown))
    np.testing.assert_allclose(after, before, atol=0.01)
    assert after[Label.NEITHER] == pytest.approx(before[Label.NEITHER], abs=0.0005)
    assert len(grown) - len(corpus) > 900
