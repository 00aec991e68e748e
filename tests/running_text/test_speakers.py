"""Speakers are people; I is the speaker and you the other one, except in what somebody quotes."""

import pytest

from gapstack.data import Span
from gapstack.data.conversations import transcript_turns
from gapstack.errors import DataError
from gapstack.running_text.answer import Answer, Answers, Candidate, KnownPerson
from gapstack.running_text.speakers import with_speakers
from gapstack.running_text.text_resolver import TextResolver

TEXT = 'Ann: I saw Bo.\nBo: You saw me? He said "I left", my dear.\nAnn: Yes.'


def resolved(text: str, people: tuple[KnownPerson, ...] = ()) -> Answers:
    return with_speakers(Answers(text, (), people), transcript_turns(text), first_person=True)


def test_first_and_second_person():
    found = {(answer.form, answer.pronoun.start): answer.candidates[0].full_name for answer in resolved(TEXT)}
    assert list(found.values()) == ["Ann", "Ann", "Bo", "Bo"]
    assert [form for form, _ in found] == ["I", "You", "me", "my"]
    assert all(sum(share for _, share in answer.shares) == pytest.approx(1) for answer in resolved(TEXT))


def test_you_is_who_spoke_last_before_the_speaker():
    text = "Ann: Hi. You there?\nAnn: You.\nBo: You?\nCy: You.\nCy: And you.\nAnn: You."
    found = [answer.candidates[0].full_name for answer in resolved(text)]
    assert found == ["Bo", "Bo", "Ann", "Bo", "Bo", "Cy"]


def test_a_speaker_is_the_person_of_that_name():
    in_text = Span(11, 13)
    people = resolved(TEXT, (KnownPerson("Bo", (in_text,)),)).entities
    assert [person.full_name for person in people] == ["Bo", "Ann"]
    bo, ann = people
    assert [TEXT[slice(*mention)] for mention in bo.mentions] == ["Bo", "Bo"]
    assert in_text in bo.mentions
    assert [TEXT[slice(*mention)] for mention in ann.mentions] == ["Ann", "Ann"]


def test_a_label_is_a_mention_of_one_person():
    ann, bo = Span(0, 3), Span(15, 17)
    everybody = KnownPerson("Ann", (ann, bo))
    he = Answer(Span(31, 33), "He", (Candidate(bo, "Bo", 0.9, (bo,), "Bo"),), 0.1)
    answers = with_speakers(Answers(TEXT, [he], [everybody]), transcript_turns(TEXT))
    assert len({mention for person in answers.entities for mention in person.mentions}) == sum(
        len(person.mentions) for person in answers.entities
    )
    assert len(answers) == 1


def test_other_texts_have_no_speakers():
    assert with_speakers(Answers("Ann left.", (), ()), ()).entities == ()
    with pytest.raises(DataError, match="not a transcript"):
        TextResolver().ask("Ann left.", first_person=True)


def test_the_resolver_of_texts_knows_speakers():
    answers = TextResolver().ask("Anna: Hello, Bo.\nBo: I like you.", first_person=True)
    assert {answer.form: answer.candidates[0].full_name for answer in answers} == {"I": "Bo", "you": "Anna"}
