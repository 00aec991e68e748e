"""Augmentations: whatever the text, the three spans cover the right words afterwards."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gapstack.data import Corpus, Example, Label, Span
from gapstack.data.augment import (
    AUGMENTATIONS,
    PLACEHOLDERS,
    anonymise_names,
    average,
    other_person,
    swap_names,
    variants,
)
from gapstack.data.augment import people as people_of
from gapstack.data.example import Replacement, edit
from gapstack.data.gender import FirstNames, feminise, first_names, swap_gender
from gapstack.errors import DataError

ODD = "e\u0301\u200d\U0001f469\u202e\u00a0\u2028*ßİıŉ'\u2019-. \n"
# Between the mentions nothing, words that augmentations look for, repeated names, or odd characters.
filling = st.lists(
    st.sampled_from(
        [" ", " his ", "her", " Mrs. ", "Ann", " Ann Lee ", "Lee", "Father ", *ODD, "x", " Kate "]
    ),
    max_size=6,
).map("".join) | st.text(max_size=8)
name = st.sampled_from(
    ["Ann", "Ann Lee", "Lee", "Mr. Lee", "Prince Ann", "Ana Ana", "A*n", "Dé", "he"]
) | st.text(min_size=1, max_size=6)
pronoun = st.sampled_from(["he", "His", "him", "she", "Her", "hers", "himself", "HER"])


@st.composite
def examples(draw):
    """Three mentions in any order, often touching each other, with anything around them."""
    order = draw(st.permutations(["pronoun", "a", "b"]))
    words = {"pronoun": draw(pronoun), "a": draw(name), "b": draw(name)}
    text, spans = draw(filling), {}
    for one in order:
        spans[one] = Span(len(text), len(text) + len(words[one]))
        text += words[one] + draw(filling)
    return Example("x", text, **spans, url="u", label=draw(st.sampled_from([*Label, None])))


def parts(example):
    """The text cut at the spans' boundaries, and where each span is among the pieces."""
    cuts = sorted({0, len(example.text), *example.pronoun, *example.a, *example.b})
    return [example.text[i:j] for i, j in pairwise(cuts)]


def mentions(example):
    return example.pronoun_text, example.a_text, example.b_text


def well_formed(example):
    spans = sorted((example.pronoun, example.a, example.b))
    inside = all(0 <= s.start < s.end <= len(example.text) for s in spans)
    return inside and not any(left.overlaps(right) for left, right in pairwise(spans))


SHORT = Example("s", "Ann met Lee; she left.", Span(13, 16), Span(0, 3), Span(8, 11), None, Label.A)


@pytest.mark.parametrize(
    "replacements",
    [
        *([(2, 5, "x")], [(7, 20, "x")], [(0, 2, "x"), (1, 3, "y")], [(20, 23, "x")], [(-1, 0, "x")]),
        *([(5, 4, "x")], [(0, 3, "")], [(0, 1, ""), (1, 3, "")]),
    ],
)
def test_replacements_that_would_break_a_span_are_refused(replacements):
    with pytest.raises(DataError, match="example 's'"):
        edit(SHORT, replacements)


@settings(max_examples=30)
@given(examples(), st.data())
def test_edit_changes_what_it_is_told_and_nothing_else(example, data):
    pieces = parts(example)
    starts = np.cumsum([0, *map(len, pieces)])
    new = [data.draw(st.none() | st.text("ab ", min_size=1, max_size=5)) for _ in pieces]
    changed = edit(
        example,
        [
            Replacement(int(start), int(start) + len(old), text)
            for start, old, text in zip(starts, pieces, new, strict=False)
            if text is not None
        ],
    )
    expected = [old if text is None else text for old, text in zip(pieces, new, strict=True)]
    assert changed.text == "".join(expected)
    at = {int(start): text for start, text in zip(starts, expected, strict=False)}
    assert mentions(changed) == tuple(at[s.start] for s in (example.pronoun, example.a, example.b))
    assert well_formed(changed)


@given(examples())
def test_swapping_names_moves_the_label_along_and_undoes_itself(example):
    swapped = swap_names(example)
    assert (swapped.a_text, swapped.b_text) == (example.b_text, example.a_text)
    right = {Label.A: swapped.b, Label.B: swapped.a}
    if example.label in right:
        assert right[swapped.label] != right[example.label] or swapped.a == swapped.b
    assert (swapped.label == Label.NEITHER) == (example.label == Label.NEITHER)
    assert swap_names(swapped) == example


@given(examples())
def test_gender_changes_keep_spans_label_and_everything_but_letters(example):
    for change in (swap_gender, feminise):
        changed = change(example)
        assert well_formed(changed)
        bare = [re.sub(r"[^\W\d_]", "", words) for words in (example.text, *mentions(example))]
        assert bare == [re.sub(r"[^\W\d_]", "", words) for words in (changed.text, *mentions(changed))]
        assert (changed.id, changed.label, changed.url) == (example.id, example.label, example.url)
        assert changed.gender in {"masculine", "feminine"}


@given(examples(), st.integers(0, 3))
def test_placeholders_stand_where_the_names_stood(example, variant):
    changed = anonymise_names(example, variant)
    assume(changed is not None)
    assert well_formed(changed)
    assert changed.pronoun_text == example.pronoun_text
    assert changed.label == example.label
    first, second = PLACEHOLDERS[example.gender][variant]
    in_order = (first, second) if example.a < example.b else (second, first)
    for old, new, placeholder in zip(mentions(example)[1:], mentions(changed)[1:], in_order, strict=True):
        assert new in {old, placeholder}
    assert mentions(changed) != mentions(example)
    assert anonymise_names(swap_names(example), variant) == swap_names(changed)


def row(text, pronoun="she", a="A", b="B", label=Label.A):
    return Example.from_text(text, (pronoun, 1), a, b, id="r", label=label)


@pytest.mark.parametrize(
    ("text", "a", "b", "changed"),
    [
        ("Ann saw Ann Lee; she ran.", "Ann", "Ann Lee", None),  # one name is a part of the other
        ("Ruth saw Joan and Alice; she ran.", "Ruth", "Joan", None),  # the placeholder is in the text
        ("Ruth saw Kat; she ran.", "Ruth", "Kat", None),  # "Kat" is in the placeholder "Kate"
        ("Ruth Ann Gray saw Joan; she ran.", "Ruth Ann Gray", "Joan", "Ruth Ann Gray saw Kate; she ran."),
        (
            "Ruth Gray saw Joan; Ruth knew she ran.",
            "Ruth Gray",
            "Joan",
            "Ruth Gray saw Kate; Ruth knew she ran.",
        ),
        ("Ann B C saw Dee E F; she ran.", "Ann B C", "Dee E F", None),
        (
            "Gray met Joan. Then Gray's dog bit Joan, she",
            "Gray",
            "Joan",
            "Alice met Kate. Then Alice's dog bit Kate, she",
        ),
    ],
)
def test_each_of_lius_rules(text, a, b, changed):
    found = anonymise_names(row(text, "she", a, b))
    assert (None if found is None else found.text) == changed


def some_corpus():
    return Corpus(
        [
            replace(row("Ruth met Joan, and she left.", "she", "Ruth", "Joan"), id="1"),
            replace(row("Alice met Kate, and she left.", "she", "Alice", "Kate", Label.B), id="2"),
            replace(row("Bob saw Al as he left.", "he", "Bob", "Al", Label.NEITHER), id="3"),
        ]
    )


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_variants_keep_rows_ids_and_order_and_their_columns_lead_back(name):
    corpus = some_corpus()
    (variant,) = variants(corpus, [name])
    assert variant.corpus.ids == corpus.ids
    changed = [one != other for one, other in zip(corpus, variant.corpus, strict=True)]
    assert variant.changed.tolist() == changed
    # a member that knows the answer gives one-hot rows in the variant's columns
    answers = np.eye(3)[variant.corpus.labels]
    np.testing.assert_array_equal(variant.restore(answers), np.eye(3)[corpus.labels])


def test_average_weighs_variants_and_counts_refused_rows_once():
    corpus = some_corpus()
    made = variants(corpus, ["original", "swap_names", "anonymise_0"])
    assert made[2].changed.tolist() == [True, False, True]  # row 2 has placeholders in it
    p = np.array([[0.6, 0.3, 0.1]] * 3)
    q = np.array([[0.2, 0.7, 0.1]] * 3)  # in the swapped columns: A .7, B .2
    r = np.array([[0.1, 0.1, 0.8]] * 3)
    found = average(made, [p, q, r], [2, 1, 1])
    both, without = [0.5, 0.225, 0.275], [1.9 / 3, 0.8 / 3, 0.1]
    np.testing.assert_allclose(found, [both, without, both])


NAMES = FirstNames.of(["James", "Paul"], ["Mary", "Ruth", "Ida"])


def made(text, a="Ann Poe", b="Eve Orr", label=Label.A):
    return other_person(row(text, "she", a, b, label), NAMES)


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
    example = row(f"{text} x Ann Poe, Eve Orr; she", "she", "Ann Poe", "Eve Orr")
    assert [example.words(span) for span in people_of(example, NAMES) if span.start < len(text)] == people


def test_the_right_name_gives_way_to_a_stranger_and_a_stays_before_b():
    text = "Mary Lamb met Eve Orr. Ann Poe sang while she danced."
    example = made(text, a="Eve Orr", b="Ann Poe", label=Label.B)
    assert (example.a_text, example.b_text) == ("Mary Lamb", "Eve Orr")
    assert (example.id, example.label, example.text) == ("r", Label.NEITHER, text)


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


def test_a_fifth_of_the_rows_of_development_have_another_person(gap_splits, gap_folder):
    corpus, names = gap_splits["development"], first_names()
    made = [row for row in corpus if other_person(row, names)]
    assert 0.15 < len(made) / len(corpus) < 0.25
