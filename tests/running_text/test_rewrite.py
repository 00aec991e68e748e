"""Rewritten texts have names in place of pronouns, with the right possessives, and nothing else changes."""

import re
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapstack.data import Example, Label, Span
from gapstack.data.example import GENDER_BY_FORM
from gapstack.errors import DataError
from gapstack.running_text.answer import Answer, Answers, Candidate, KnownPerson
from gapstack.running_text.rewrite import AMBIGUOUS, possessive_ending, possessives
from gapstack.running_text.windows import pronouns


def linked(text: str, pronoun: Span, name: Span, probability: float = 0.9) -> Answer:
    words = text[slice(*name)]
    candidate = Candidate(name, words, probability, (name,), words)
    return Answer(pronoun, text[slice(*pronoun)], (candidate,), 1 - probability)


def answered(marked: str, named: bool = True) -> Answers:
    """Answers for a text with ``[names]`` and ``{pronouns}``, all of the person named last before them."""
    text, spans = "", []
    for piece in re.split(r"([\[{].*?[\]}])", marked):
        words = piece.strip("[]{}")
        if words != piece:
            spans.append((piece[0], Span(len(text), len(text) + len(words))))
        text += words
    names = [span for kind, span in spans if kind == "["]
    answers = [
        linked(text, span, max(name for name in names if name < span)) for kind, span in spans if kind == "{"
    ]
    return Answers(text, answers, [KnownPerson(text[slice(*name)], (name,), named) for name in names])


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("[Dr. Marsh] left. {She} published {her} paper.", "Dr. Marsh published Dr. Marsh's paper."),
        ("[Ann] left. Bo met {her} at noon.", "Bo met Ann at noon."),
        ("[Ann] left. Bo saw {her} and {her} two sons.", "Bo saw Ann and Ann's two sons."),
        ("[Ann] left. The book was {hers}.", "The book was Ann's."),
        ("[Bo Jones] left. It was {his}, and {he} knew.", "It was Bo Jones's, and Bo Jones knew."),
        ("[Bo] left. Ann told {him} about {his} heritage.", "Ann told Bo about Bo's heritage."),
        ("[Sam Hill Jr.] left. Ann met {him}.", "Ann met Sam Hill Jr."),
        ("[Kim] left. {Ze} met Bo. Bo gave {zir} {zir} hat.", "Kim met Bo. Bo gave Kim Kim's hat."),
        ("[Ann and Bob] left. {Their} car stopped.", "Ann and Bob's car stopped."),
        ("[Ann] left. {She} hurt {herself}.", "Ann hurt herself."),
    ],
)
def test_names_stand_for_pronouns(marked, expected):
    rewritten = answered(marked).rewritten()
    assert rewritten.text.partition(" left. ")[2] == expected


def test_descriptions_are_written_as_later_mentions():
    answers = answered("[A tall man] left. {He} said that {his} hat fell.", named=False)
    assert answers.rewritten().text == "A tall man left. The tall man said that the tall man's hat fell."


def test_a_short_name_is_one_of_the_text_and_nobody_elses():
    text = "Jane Marsh met Paul Marsh. She, Jane, was late. She left."
    jane, paul = (Span(0, 10), Span(32, 36), Span(5, 10)), (Span(15, 25),)
    people = [KnownPerson("Jane Marsh", jane), KnownPerson("Paul Marsh", paul)]
    shes = [span for span in pronouns(text) if text[slice(*span)] == "She"]
    answers = Answers(text, [linked(text, she, jane[0]) for she in shes], people)
    expected = "Jane Marsh met Paul Marsh. Jane Marsh, Jane, was late. Jane left."
    assert answers.rewritten(short=True).text == expected


def test_a_pronoun_in_a_name_is_not_repeated():
    text = "Ann met her brother Paul. Paul said he left."
    people = [KnownPerson("her brother Paul", (Span(8, 24), Span(26, 30)))]
    answers = Answers(text, [linked(text, Span(36, 38), Span(8, 24))], people)
    assert answers.rewritten().text == "Ann met her brother Paul. Paul said Paul left."


def test_brackets_keep_the_pronoun():
    answers = answered("[Dr. Marsh] left. {She} loved {her} paper.")
    assert answers.rewritten(brackets=True).text == (
        "Dr. Marsh left. She [Dr. Marsh] loved her [Dr. Marsh's] paper."
    )


def test_improbable_links_are_left():
    text = "Ann met Bo. She left him."
    links = [linked(text, Span(12, 15), Span(0, 3), 0.79), linked(text, Span(21, 24), Span(8, 10), 0.8)]
    answers = Answers(text, links, ())
    assert answers.rewritten().text == "Ann met Bo. She left Bo."
    assert answers.rewritten(0.5).text == "Ann met Bo. Ann left Bo."
    with pytest.raises(DataError, match="from 0 to 1"):
        answers.rewritten(1.5)


def test_plural_nouns_end_in_an_apostrophe():
    assert possessive_ending("the boys", plural=True) == "'"
    assert possessive_ending("the Bennets", plural=True) == "'"
    assert {possessive_ending(name) for name in ("James", "the boss", "Ann and Chris")} == {"'s"}
    assert possessive_ending("Ann and Chris", plural=True) == "'s"


WORDS = st.sampled_from([*GENDER_BY_FORM, "heritage", "Ann", "the", "there's", "\r\n", "é", "other.", "She"])


@given(st.lists(WORDS, min_size=1), st.sets(st.integers(0, 20)), st.booleans())
def test_nothing_else_changes_and_the_way_back_is_exact(words, chosen, brackets):
    text = "Ann " + " ".join(words)
    spans = [span for number, span in enumerate(pronouns(text)) if number in chosen]
    # which of the forms is possessive is tested above; the parser would take most of the time
    spans = [span for span in spans if text[slice(*span)].lower() not in AMBIGUOUS]
    rewritten = Answers(text, [linked(text, span, Span(0, 3)) for span in spans], ()).rewritten(
        brackets=brackets
    )
    assert rewritten.restored() == text
    inside = {at for one in rewritten.replacements for at in range(one.original.start + 1, one.original.end)}
    for at in set(range(len(text) + 1)) - inside:
        assert rewritten.to_original(rewritten.to_rewritten(at)) == at
        replaced = any(one.original.start == at for one in rewritten.replacements)
        if at < len(text) and not replaced:
            assert rewritten.text[rewritten.to_rewritten(at)] == text[at]
    for one in rewritten.replacements:
        assert rewritten.to_rewritten(one.original.start) == one.rewritten.start
        assert rewritten.to_rewritten(one.original.end) == one.rewritten.end


OBJECTS = {
    "sample-train": {8, 16, 33, 62, 63, 91, 102, 126, 148},
    "development": {24, 25, 67, 85, 90, 108, 165},
}
"""Rows of two hundred where *her* is an object; everywhere else it is possessive."""
MISREAD = {"sample-train-62", "sample-train-63", "sample-train-148", "development-24", "development-165"}
"""Objects that the parser takes for possessives: "heard her break off", "made her corresponding editor"."""


def assert_gold_names_are_written(rows: Iterable[Example]) -> None:
    """Each row's pronoun becomes the name that is right, with the ending that the sentence needs."""
    for row in rows:
        form = row.pronoun_text.lower()
        if row.label is Label.NEITHER or form not in GENDER_BY_FORM or row.id in MISREAD:
            continue
        name = row.a if row.label is Label.A else row.b
        rewritten = Answers(row.text, [linked(row.text, row.pronoun, name)], ()).rewritten()
        assert rewritten.restored() == row.text
        split, _, number = row.id.rpartition("-")
        possessive = form in {"his", "hers"} or (form == "her" and int(number) not in OBJECTS[split])
        (replaced,) = rewritten.replacements
        expected = row.words(name) + ("'s" if possessive else "")
        written = rewritten.text[slice(*replaced.rewritten)]
        assert written == expected or written == expected[0].upper() + expected[1:], row.id


def test_rows_of_the_sample_with_their_gold_names(sample_train):
    assert_gold_names_are_written(sample_train)


@pytest.mark.slow
def test_two_hundred_rows_of_gap_with_their_gold_names(gap_splits):
    assert_gold_names_are_written(gap_splits["development"][:200])


@pytest.mark.parametrize("form", sorted(AMBIGUOUS))
def test_the_parser_tells_objects_from_possessives(form):
    text = f"Bo met {form} yesterday. I like {form} new house and {form}."
    spans = [span for span in pronouns(text) if text[slice(*span)] == form]
    assert possessives(text, spans) == {spans[1]}
