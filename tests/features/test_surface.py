from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data import Corpus, Example, Label, Span
from gapstack.errors import MemberError
from gapstack.features.blocks import features
from gapstack.features.candidate import SurfaceRow, looks_like_verb
from gapstack.features.surface import CANDIDATE, SHARED, surface_features
from gapstack.text.words import words

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


@pytest.mark.parametrize(
    ("one", "name", "a", "b"),
    [
        (PARTY, "before", 1, 1),
        (PARTY, "words", 6, 1),
        (PARTY, "chars", np.log1p(len(" told her friend Eve Holm that ")), np.log1p(len(" that "))),
        (PARTY, "opens_sentence", 1, 0),
        (PARTY, "first_name", 1, 0),
        (PARTY, "rank", 1, 0),
        (PARTY, "verbs", 1, 0),
        (PARTY, "reporting", 1, 0),
        (PARTY, "same_gender", 1, 0),
        (PARTY, "mentions", 1, 0),
        (PARTY, "mentions_before", 0, 0),
        (PARTY, "latest_named", 0, 1),
        (PARTY, "title_same", 1, 0),
        (PARTY, "title_share", 1, 0),
        (PARTY, "relation", 0, 1),
        (PARTY, "owner_agrees", 0, 1),
        (PARTY, "chain_before", 0, 1),
        (PARTY, "chain_after", 1, 0),
        (PARTY, "verb_follows", 1, 0),
        (PARTY, "same_role", 1, 0),
        (LETTER, "of", 1, 0),
        (LETTER, "preposition", 1, 0),
        (LETTER, "verb_before", 0, 1),
        (LETTER, "dated", 1, 0),
        (LETTER, "bracket_after", 1, 0),
        (LETTER, "named_earlier", 0, 1),
        (LETTER, "exact_count", 1, 2),
        (LETTER, "parentheses", 2, 0),
        (LETTER, "semicolons", 1, 1),
        (LETTER, "quotes", 1, 1),
        (LETTER, "title_shared", np.nan, np.nan),
        (LATER, "before", 0, 0),
        (LATER, "sentences", 0, 0),
        (LATER, "owned_by_pronoun", 0, 0),
        (LATER, "comma_before", 1, 0),
        (LATER, "comma_after", 1, 0),
        (LATER, "coordinated", 0, 1),
        (LATER, "since_mention", np.nan, np.nan),
        (LATER, "title_conflict", 1, 1),
        (LATER, "title_first", 0, 0),
        (LATER, "title_last", 1, 1),
        (example("When <her> aunt {Ada} and Mrs. [Lee] met"), "owned_by_pronoun", 1, 0),
        (example("When <her> aunt {Ada} and Mr. [Lee] met"), "gender_word", 1, -1),
        (example("{Ada}'s brother saw [Jo], who waved, and <he> left"), "owner", 1, 0),
        (example("{Ada}'s brother saw [Jo], who waved, and <he> left"), "who_after", 0, 1),
        (example("{Lee} sang. Bo Lee and [Kit] (with Al) heard <him>."), "longer_elsewhere", 1, 0),
        (example("The film (with {Al}) made ''[Bo]`` and <him> rich."), "bracketed", 1, 0),
        (example("The film (with {Al}) made ''[Bo]`` and <him> rich."), "quoted", 0, 1),
    ],
)
def test_candidate_features_say_what_the_table_says(one, name, a, b):
    found = surface_features(Corpus([one])).candidates[0, :, list(CANDIDATE).index(name)]
    np.testing.assert_allclose(found, [a, b])


@pytest.mark.parametrize(
    ("one", "name", "expected"),
    [
        (PARTY, "feminine", 1),
        (PARTY, "capital", 0),
        (PARTY, "place_in_sentence", 8),
        (PARTY, "text_sentences", 2),
        (PARTY, "same_total", 1),
        (PARTY, "ab_words", 3),
        (PARTY, "ab_shared", 0),
        (PARTY, "other_names", 0),
        (PARTY, "title_qualified", 1),
        (PARTY, "title_person", 1),
        (PARTY, "title_elsewhere", 0),
        (LETTER, "pronoun_quoted", 1),
        (LETTER, "title_words", np.nan),
        (LATER, "owns_relation", 1),
        (LATER, "ab_shared", 1),
        (LATER, "text_opens_same", 0),
    ],
)
def test_shared_features_say_what_the_table_says(one, name, expected):
    found = surface_features(Corpus([one])).shared[0, list(SHARED).index(name)]
    np.testing.assert_allclose(found, expected)


def test_exchanging_the_names_exchanges_their_columns_and_nothing_else(sample):
    straight, swapped = features(sample), features(sample.map(swap))
    np.testing.assert_array_equal(swapped.candidates, straight.candidates[:, ::-1])
    np.testing.assert_array_equal(swapped.shared, straight.shared)
    np.testing.assert_array_equal(straight.swapped().candidates, swapped.candidates)


def test_labels_are_no_feature(sample):
    relabelled = sample.map(lambda one: replace(one, label=Label.NEITHER))
    for one in (sample.unlabelled(), relabelled):
        np.testing.assert_array_equal(surface_features(one).candidates, surface_features(sample).candidates)


def test_every_feature_varies_over_real_prose(gap_splits):
    found = features(gap_splits["development"])
    assert all(
        np.isfinite(found.candidates[..., k]).all()
        for k in range(found.candidates.shape[2])
        if not _may_be_nan(k)
    )
    spread = np.nanstd(found.candidates, axis=(0, 1))
    # GAP was drawn so that no pronoun of the asked gender stands between name and pronoun
    constant = {name for name, s in zip(CANDIDATE, spread, strict=True) if s == 0}
    assert constant <= {"same_gender"}
    assert (np.nanstd(found.shared, axis=0) > 0).all()


def _may_be_nan(k: int) -> bool:
    return list(CANDIDATE)[k] == "since_mention"


def test_every_feature_has_a_line_of_its_own():
    told = [*(text for text, _ in CANDIDATE.values()), *(text for text, _ in SHARED.values())]
    assert all(told)
    assert not set(CANDIDATE) & set(SHARED)


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


def test_no_rows_give_empty_blocks():
    assert features(Corpus([])).candidates.shape == (0, 2, len(CANDIDATE))


@pytest.mark.parametrize(
    ("blocks", "message"), [((), "no feature block"), (("surfac",), "did you mean surface")]
)
def test_unknown_blocks_are_named(blocks, message, sample):
    with pytest.raises(MemberError, match=message):
        features(sample, blocks)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("was", True),
        ("joined", True),
        ("wins", True),
        ("met", True),
        ("his", False),
        ("class", False),
        ("of", False),
        ("Ann", False),
        (",", False),
        ("", False),
    ],
)
def test_verbs_are_guessed_by_ending_and_list(word, expected):
    assert looks_like_verb(word) is expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Dumped by Simon, Maggie de la Cruz left J. K. Low.", ["Simon", "Maggie de la Cruz", "J. K. Low"]),
        ("The Band met *lvaro. She left. Later Ann sang", ["Band", "*lvaro", "Ann"]),
    ],
)
def test_names_are_runs_of_capitals(text, names):
    found = words(text)
    one = Example("x", text + " he", Span(len(text) + 1, len(text) + 3), Span(0, 3), Span(4, 6))
    row = SurfaceRow(one)
    assert [found.text[slice(*found.span(run))] for run in row.names] == names
