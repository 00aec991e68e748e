"""The model of running text that comes along: everyday sentences, invariances, and the two-step interface."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapstack.data.conversations import transcript_turns
from gapstack.errors import DataError
from gapstack.running_text.answer import Answers
from gapstack.running_text.any_text_resolver import AnyTextResolver, Text
from gapstack.running_text.entities import Annotation
from gapstack.running_text.text_resolver import TextResolver

TEXTS = [
    "Mary Johnson met Peter. Johnson said she liked him.",
    "Emily is married to Paul. He works in a bank. She is a nurse.",
    "Miss Taylor left. Mr. Woodhouse was sorry, and Emma wept. She loved her.",
    "no pronoun here",
]


@pytest.fixture(scope="module")
def resolver() -> TextResolver:
    return TextResolver()


def antecedents(resolver: TextResolver, text: str) -> list[tuple[str, str | None]]:
    return [(one.form, one.antecedent and one.antecedent.full_name) for one in resolver.ask(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXTS[0], [("she", "Mary Johnson"), ("him", "Peter")]),
        (
            "Barack Obama met Angela Merkel. She welcomed him.",
            [("She", "Angela Merkel"), ("him", "Barack Obama")],
        ),
        (
            "Mary Smith met John Brown. He kissed her.",
            [("He", "John Brown"), ("her", "Mary Smith")],
        ),
        ("My mother called my brother because he was late.", [("he", "my brother")]),
        (
            "Mary Smith and her husband John moved to Leeds. He works in a bank.",
            [("her", "Mary Smith"), ("He", "John")],
        ),
    ],
)
def test_everyday_texts(resolver, text, expected):
    assert antecedents(resolver, text) == expected


@pytest.mark.parametrize("text", TEXTS)
def test_answers_are_distributions_and_never_certain(resolver, text):
    for answer in resolver.ask(text):
        assert sum(share for _, share in answer.shares) == pytest.approx(1)
        assert all(one.probability < 1 for one in answer.candidates)
        assert answer.form == text[slice(*answer.pronoun)]
        assert all(one.name == " ".join(text[slice(*one.span)].split()) for one in answer.candidates)


def test_results_of_pieces_survive_json_and_batches(resolver):
    text = Text(" ".join(TEXTS) * 20)
    pieces = list(resolver.pieces(text))
    assert len(pieces) > 1
    together = resolver.read([(text, piece) for piece in pieces])
    alone = [json.loads(json.dumps(resolver.read([(text, piece)])[0])) for piece in pieces]
    assert list(resolver.link(text, together)) == list(resolver.link(text, alone))


@settings(max_examples=10, deadline=None)
@given(st.lists(st.sampled_from(["\n", "  ", "\n\n"]), min_size=8, max_size=8))
def test_white_space_changes_no_answer(resolver, blanks):
    words = ["Anna", "met", "Tom", ".", "She", "thanked", "him", "."]
    spaced = "".join(word + blank for word, blank in zip(words, blanks, strict=True))
    if "\n\n" not in blanks:
        assert antecedents(resolver, spaced) == antecedents(resolver, " ".join(words))


@pytest.mark.parametrize("paragraphs", [5, 10, 15])
def test_the_text_that_follows_changes_hardly_an_answer(resolver, sample, paragraphs):
    """However long the rest is; only pronouns that wait for a name, and those of the cut passage, may change."""
    texts = [" ".join(row.text.split()) for row in list(sample)[:25]]
    whole = "\n\n".join(texts)
    part = "\n\n".join(texts[:paragraphs])
    in_part = {one.pronoun: one.antecedent and one.antecedent.name for one in resolver.ask(part)}
    in_whole = {one.pronoun: one.antecedent and one.antecedent.name for one in resolver.ask(whole)}
    same = [in_whole[pronoun] == shown for pronoun, shown in in_part.items()]
    assert sum(same) >= 0.9 * len(same)


def test_people_have_all_their_names_and_pronouns(resolver):
    annotation = Annotation.of(resolver.ask(TEXTS[0]), "x")
    people = {one.full_name: [TEXTS[0][slice(*m)] for m in one.mentions] for one in annotation.people}
    assert people == {"Mary Johnson": ["Mary Johnson", "Johnson", "she"], "Peter": ["Peter", "him"]}


def test_only_given_names_and_nobody_share_the_probability(resolver):
    (answer,) = resolver.ask("Anna met Tom. The doctor said she was ill.", names=["Anna", "Tom"])
    assert answer.antecedent.full_name == "Anna"
    assert {one.name for one in answer.candidates} <= {"Anna", "Tom"}
    assert answer.other == pytest.approx(0.01)
    assert sum(share for _, share in answer.shares) == pytest.approx(1)


def test_nobody_is_never_certain_where_the_right_name_is_not_given(resolver):
    (answer,) = resolver.ask("Emily is married to Paul. He works in a bank.", names=["Emily"])
    assert answer.antecedent is None
    assert max(share for _, share in answer.shares) < 1


STORM = "Anna heard the storm before she left."


def test_a_given_name_may_be_broken_by_the_end_of_a_line(resolver):
    for here, there in ((" ", "\n"), ("\n", " ")):
        (answer,) = resolver.ask(f"Kate{here}Smith met Tom. She left.", names=[f"Kate{there}Smith", "Tom"])
        assert answer.antecedent.full_name == "Kate Smith"


def test_any_given_name_is_a_candidate(resolver):
    (answer,) = resolver.ask(STORM, names=["Anna", "storm"])
    assert answer.antecedent.name == "Anna"
    assert {one.name for one in answer.candidates} <= {"Anna", "storm"}


@pytest.mark.parametrize("name", ["Gabriel Oak", "Gabriel", "Oak"])
def test_a_given_person_is_found_by_any_part_of_the_name(resolver, name):
    for text in (f"{name} met Tom. She smiled.", "Then Gabriel Oak met Tom. She smiled."):
        (answer,) = resolver.ask(text, people={name: "he", "Tom": "she"})
        assert {one.full_name for one in answer.candidates if one.probability > 0.05} == {"Tom"}
        answers = resolver.ask(text, people={"Gabriel Oak": "she", "Tom": "he"})
        assert answers[0].antecedent.full_name in (name, "Gabriel Oak")
        assert [len(person.mentions) for person in answers.entities] == [1, 1]


@pytest.mark.parametrize(
    "text",
    [
        "Anna: Did he call you?\nBob: Yes. I told him.",
        "HAMLET. Is he here?\nHORATIO. He is, my lord.\nHAMLET. I saw him not.",
    ],
)
def test_a_speaker_is_not_he_in_the_same_turn(resolver, text):
    for answer in resolver.ask(text):
        (turn,) = [one for one in transcript_turns(text) if one.speech.overlaps(answer.pronoun)]
        share = sum(one.probability for one in answer.candidates if turn.label in one.mentions)
        assert share < 0.1


@pytest.mark.parametrize(
    "call",
    [
        lambda model: model.predict("Kate met Paul. He left."),
        lambda model: model.ask("Kate met Paul. He left.", names="Kate"),
        lambda model: model.ask("Kate met Paul. He left.", people="Kate"),
    ],
)
def test_a_text_in_the_place_of_a_list_is_refused(resolver, call):
    with pytest.raises(DataError, match="text"):
        call(resolver)


def test_titles_are_left_to_the_resolver_that_was_given(resolver):
    url = "http://w/wiki/Anna"
    with pytest.raises(DataError, match="page titles"):
        resolver.ask(STORM, url=url)

    class Other(AnyTextResolver):
        identity = "other"

        def pieces(self, text):
            return iter(())

        def read(self, work):
            return []

        def link(self, text, results):
            return Answers(text.text, [], [])

    assert len(TextResolver(resolver.model, pairs=Other).ask(STORM, url=url)) == 0
