"""Examples: spans are found in texts and checked, and what is wrong is said; notebooks and data frames."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.data import Corpus, Example, Label, Span
from gapstack.data.example import GENDER_BY_FORM, occurrences
from gapstack.errors import DataError

TEXT = "Kate told Mary that she should leave."
#       0    5    10        20
TWICE = "Kate said that she knew when Kate and Mary saw her, she would leave."
#        0         10  15             30   34    39     47   52
KATE = Example("x", TEXT, Span(20, 23), Span(0, 4), Span(10, 14))


def test_spans_of_words_are_found_and_ids_differ_with_text_spans_and_url():
    assert Example.from_text(TEXT, "she", "Kate", "Mary", id="x") == KATE
    rows = [(TEXT, "Kate", "Mary", None), (TEXT, "Mary", "Kate", None), (TEXT, "Kate", "Mary", "u")]
    rows.append((f"{TEXT} ", "Kate", "Mary", None))
    assert len({Example.from_text(text, "she", a, b, url=url).id for text, a, b, url in rows}) == 4


@pytest.mark.parametrize(
    ("pronoun", "a", "spans"),
    [
        ("her", "Kate", (47, 0)),
        (("she", 1), "Kate", (15, 0)),
        (("she", 2), ("Kate", 2), (52, 29)),
        ((52, 55), (29, 33), (52, 29)),
        (Span(52, 55), Span(29, 33), (52, 29)),
    ],
)
def test_occurrences_and_offsets_choose(pronoun, a, spans):
    example = Example.from_text(TWICE, pronoun, a, "Mary")
    assert (example.pronoun.start, example.a.start) == spans


@pytest.mark.parametrize(
    ("text", "pronoun", "a", "b", "problem"),
    [
        (TWICE, "she", "Kate", "Mary", r"'she' at 15, 52"),
        (TWICE, ("she", 3), "Kate", "Mary", "'she' at 15, 52"),
        (TEXT, "she", "kate", "Mary", "a: .*'kate' at no place"),
        (TEXT, "she", "Kat", "Mary", "a: .*'Kat' at no place"),
        (TEXT, "she", "", "Mary", "a: .*'' at no place"),
        (TEXT, "told", "Kate", "Mary", "not a known pronoun"),
        (TEXT, "she", "Kate", "Kate told", "overlapping"),
        (TEXT, "she", (0, 99), "Mary", "37 characters"),
    ],
)
def test_what_is_missing_or_ambiguous_is_said(text, pronoun, a, b, problem):
    with pytest.raises(DataError, match=problem):
        Example.from_text(text, pronoun, a, b)


WORDS = st.lists(st.from_regex(r"[abcé]([abcé'-]{0,3}[abcé])?", fullmatch=True), max_size=6)
NAMES = st.sampled_from(["Ann", "Bo Li", "Zoé", "O'Neil", "Eva-Marie", "J. Doe"])


@settings(max_examples=40)
@given(WORDS, NAMES, st.sampled_from(sorted(GENDER_BY_FORM)), st.integers(1, 4), st.data())
def test_spans_cover_the_words_that_were_given(words, name, pronoun, times, data):
    text = f"{' '.join(words)} Eve met {' and '.join([name] * times)} as {pronoun} left."
    number = data.draw(st.integers(1, times))
    example = Example.from_text(text, pronoun, (name, number), "Eve")
    assert (example.pronoun_text, example.a_text, example.b_text) == (pronoun, name, "Eve")
    assert len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", text[: example.a.start])) == number - 1
    for span in (example.pronoun, example.a, example.b):
        around = text[max(span.start - 1, 0) : span.start] + text[span.end : span.end + 1]
        assert not re.search(r"\w", around)


@pytest.mark.parametrize(
    "change",
    [
        *({"a": (0, 4)}, {"a": Span(4, 4)}, {"a": Span(-2, 4)}, {"pronoun": Span(36, 38)}),
        *({"a": Span(19, 21)}, {"b": Span(22, 25)}, {"b": Span(0, 4)}),
    ],
    ids=str,
)
def test_a_wrong_example_is_refused(change):
    with pytest.raises(DataError, match="example 'x'"):
        replace(KATE, **change)


def test_html_marks_the_three_spans_and_escapes_everything():
    example = Example.from_text("<b>Kate</b> told Mary & she left.", "she", "Kate", "Mary", id="<i>")
    page = replace(example, label=Label.A).marked("A 0.10 < B")
    marks = re.findall(r">([^<>]+)<sub>(\w+)</sub>", page)
    assert marks == [("Kate", "A"), ("Mary", "B"), ("she", "pronoun")]
    assert "&lt;b&gt;" in page
    assert "Mary<sub>B</sub></mark> &amp; <mark" in page
    assert "&lt;i&gt; · label A · A 0.10 &lt; B" in page
    assert page.count("color:#111") == 3, "dark letters on the pale colours, whatever the page's are"


def test_a_corpus_shows_its_counts_and_first_rows(sample_train):
    page = sample_train._repr_html_()
    assert f"{len(sample_train):,} examples" in page
    assert f"{int((sample_train.labels == Label.NEITHER).sum())} NEITHER" in page
    assert page.count("<sub>pronoun</sub>") == 5
    assert f"and {len(sample_train) - 5:,} more" in page
    assert "more" not in sample_train[:2]._repr_html_()
    assert "0 examples" in Corpus([])._repr_html_()


@pytest.mark.parametrize(
    ("words", "options", "starts"),
    [
        ("Ann", {}, [0, 18]),
        ("Ann", {"any_case": True}, [0, 9, 18]),
        ("Ann", {"start": 1}, [18]),
        ("Anna", {}, [4]),
        ("Al*", {}, [23]),
        (" ", {}, []),
        ("", {}, []),
    ],
)
def test_words_occur_where_no_letter_or_digit_continues_them(words, options, starts):
    spans = occurrences("Ann Anna,ann Ann2 Ann; Al* 2Al* Al*s", words, **options)
    assert [span.start for span in spans] == starts
    assert all(span.end - span.start == len(words) for span in spans)
