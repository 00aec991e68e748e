from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data import Corpus, Example, Label, Span
from gapstack.errors import MemberError
from gapstack.features import features
from gapstack.features.surface_features import CANDIDATE, SHARED, surface_features

WIKI = "http://en.wikipedia.org/wiki/"


def example(marked: str, url: str | None = None) -> Example:
    """Spans marked in the text: {A}, [B] and <pronoun>."""
    spans, text = {}, ""
    for character in marked:
        if character in "{[<":
            start = len(text)
        elif character in "}]>":
            spans[character] = Span(start, len(text))
        else:
            text += character
    return Example("x", text, spans[">"], spans["}"], spans["]"], url)


def swap(one: Example) -> Example:
    return replace(one, a=one.b, b=one.a)


PARTY = example(
    "{Ann Berg} told her friend [Eve Holm] that <she> had won. Berg wept.", WIKI + "Ann_Berg_(actress)"
)
LETTER = example("A letter of {Carl} (born 1901), Otto's rival, reached [Otto]; ''<he> is ill``, it said.")
LATER = example(
    "In May <his> coach, {Ivo Dal}, and [Max Dal] left. He stayed, and Mr. Dal wrote.", WIKI + "Kim_Dal"
)


CANDIDATES = (
    (PARTY, {
        "before": (1, 1), "words": (6, 1), "chars": (np.log1p(31), np.log1p(6)),
        "opens_sentence": (1, 0), "first_name": (1, 0), "rank": (1, 0), "verbs": (1, 0), "reporting": (1, 0),
        "same_gender": (1, 0), "mentions": (1, 0), "mentions_before": (0, 0), "latest_named": (0, 1),
        "title_same": (1, 0), "title_share": (1, 0), "relation": (0, 1), "owner_agrees": (0, 1),
        "chain_before": (0, 1), "chain_after": (1, 0), "verb_follows": (1, 0), "same_role": (1, 0),
    }),
    (LETTER, {
        "of": (1, 0), "preposition": (1, 0), "verb_before": (0, 1), "dated": (1, 0), "bracket_after": (1, 0),
        "named_earlier": (0, 1), "exact_count": (1, 2), "parentheses": (2, 0), "semicolons": (1, 1),
        "quotes": (1, 1), "title_shared": (np.nan, np.nan),
    }),
    (LATER, {
        "before": (0, 0), "sentences": (0, 0), "owned_by_pronoun": (0, 0), "comma_before": (1, 0),
        "comma_after": (1, 0), "coordinated": (0, 1), "since_mention": (np.nan, np.nan),
        "title_conflict": (1, 1), "title_first": (0, 0), "title_last": (1, 1),
    }),
    (example("When <her> aunt {Ada} and Mrs. [Lee] met"), {"owned_by_pronoun": (1, 0)}),
    (example("When <her> aunt {Ada} and Mr. [Lee] met"), {"gender_word": (1, -1)}),
    (example("{Ada}'s brother saw [Jo], who waved, and <he> left"), {"owner": (1, 0), "who_after": (0, 1)}),
    (example("{Lee} sang. Bo Lee and [Kit] (with Al) heard <him>."), {"longer_elsewhere": (1, 0)}),
    (example("The film (with {Al}) made ''[Bo]`` and <him> rich."), {"bracketed": (1, 0), "quoted": (0, 1)}),
)  # fmt: skip
ROWS = (
    (PARTY, {
        "feminine": 1, "capital": 0, "place_in_sentence": 8, "text_sentences": 2, "same_total": 1,
        "ab_words": 3, "ab_shared": 0, "other_names": 0, "title_qualified": 1, "title_person": 1,
        "title_elsewhere": 0,
    }),
    (LETTER, {"pronoun_quoted": 1, "title_words": np.nan}),
    (LATER, {"owns_relation": 1, "ab_shared": 1, "text_opens_same": 0}),
)  # fmt: skip


@pytest.mark.parametrize(("one", "expected"), CANDIDATES)
def test_features_of_the_names(one, expected):
    found = dict(zip(CANDIDATE, surface_features(Corpus([one])).candidates[0].T, strict=True))
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, err_msg=name)


@pytest.mark.parametrize(("one", "expected"), ROWS)
def test_features_of_the_row(one, expected):
    found = dict(zip(SHARED, surface_features(Corpus([one])).shared[0], strict=True))
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, err_msg=name)


def test_exchanging_the_names_exchanges_their_columns_and_nothing_else(sample):
    straight, swapped = features(sample), features(sample.map(swap))
    np.testing.assert_array_equal(swapped.candidates, straight.candidates[:, ::-1])
    np.testing.assert_array_equal(swapped.shared, straight.shared)
    np.testing.assert_array_equal(straight.swapped().candidates, swapped.candidates)


def test_labels_are_no_feature(sample):
    relabelled = sample.map(lambda one: replace(one, label=Label.NEITHER))
    for one in (sample.unlabelled(), relabelled):
        np.testing.assert_array_equal(surface_features(one).candidates, surface_features(sample).candidates)


mention = st.text(min_size=1, max_size=12)


@given(
    st.permutations("ABp"),
    mention,
    mention,
    st.lists(st.text(max_size=20), min_size=4, max_size=4),
    st.text(),
)
def test_no_text_is_too_odd(order, a, b, between, page):
    text, spans = between[0], {}
    for kind, gap in zip(order, between[1:], strict=True):
        start = len(text)
        text += {"A": a, "B": b, "p": "her"}[kind]
        spans[kind] = Span(start, len(text))
        text += gap
    one = Example("x", text, spans["p"], spans["A"], spans["B"], WIKI + page)
    straight, swapped = features(Corpus([one])), features(Corpus([swap(one)]))
    assert not np.isinf(straight.candidates).any()
    assert not np.isinf(straight.shared).any()
    np.testing.assert_array_equal(swapped.candidates, straight.candidates[:, ::-1])
    np.testing.assert_array_equal(swapped.shared, straight.shared)


def test_unknown_blocks_are_named(sample):
    with pytest.raises(MemberError, match="did you mean surface"):
        features(sample, ("surfac",))
