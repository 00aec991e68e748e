"""Any text is answered: a distribution for each pronoun, or a remark; or one error that says what is wrong."""

import json

import pytest

import gapstack
from gapstack.data import Span
from gapstack.errors import DataError, DataNotFoundError, MemberError
from gapstack.running_text.answer import NOBODY, SURE, Answer, Candidate
from gapstack.runs import predictors

KATE = "Kate told Mary that she should leave."
STRANGE = {
    "empty": "",
    "a pronoun alone": "she",
    "no name": "The weather was fine when she left.",
    "one name": "Mary left. She cried.",
    "nothing but a name": "Kate she",
    "controls and half a surrogate pair": "\x00\x1b[31mKate met Mary\x07. \ud800 She cried.",
    "emoji": "Kate 😀 met Mary 👩‍👩‍👧. She cried.",
    "right to left": "שרה פגשה את Kate and \u202eMary. She cried. بكت",
    "pronouns alone": "she he her him his hers they xe",
    "line breaks": "Kate\nmet\r\n\r\nMary.\t\tShe cried.",
    "marks": '"\'`)(]["<script>she</script>',
}


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
def test_any_text_is_answered(text, alphabet, tmp_path, monkeypatch):
    monkeypatch.setenv("GAPSTACK_CACHE", str(tmp_path / "cache"))
    answers = alphabet.ask(text)
    assert bool(answers) != bool(answers.remark)
    for answer in answers:
        assert text[slice(*answer.pronoun)] == answer.form
        assert answer.nobody + sum(one.probability for one in answer.candidates) == pytest.approx(1)
        assert all(text[slice(*one.span)].split() == one.name.split() for one in answer.candidates)
    assert json.loads(json.dumps(answers.to_dict()))["answers"] == [answer.to_dict() for answer in answers]
    assert "<script>" not in answers._repr_html_()
    assert repr(answers)
    assert not (tmp_path / "cache").exists(), "texts are private"


def test_the_answer_has_names_spans_and_probabilities(alphabet):
    (answer,) = alphabet.ask(KATE)
    assert [one.name for one in answer.candidates] == ["Kate", "Mary"]
    assert answer.antecedent.name == "Kate"
    assert (answer.form, answer.pronoun, answer.notes) == ("she", (20, 23), ())
    assert str(answer).startswith("she at 20: Kate 76%, Mary 22%, nobody here")
    html = alphabet.ask(KATE)._repr_html_()
    assert "<sub>Kate 76%</sub>" in html
    assert NOBODY in html


def test_known_people_are_refused_where_they_would_change_nothing(alphabet):
    with pytest.raises(DataError, match="in pairs"):
        alphabet.ask(KATE, people={"Kate": "she"})


def test_candidates_have_their_full_name_and_reasons(alphabet):
    text = "Emma met Miss Taylor. Mr. Weston said that Taylor had seen her."
    (answer,) = alphabet.ask(text)
    found = {one.full_name: one.reasons for one in answer.candidates}
    assert found == {
        "Emma": ("feminine title or first name", "preferred in 2 of 2 pairs"),
        "Miss Taylor": (
            "feminine title or first name",
            "named 2 times",
            "preferred in 1 of 2 pairs",
        ),
        "Mr. Weston": ("masculine title or first name, unlike 'her'", "preferred in 0 of 2 pairs"),
    }
    ((only,),) = [one.candidates for one in alphabet.ask("Taylor said that they left.")]
    assert only.reasons == ("the only person named nearby",)


def test_an_answer_below_a_half_is_not_sure():
    def sure(*probabilities):
        candidates = tuple(Candidate(Span(0, 1), "A", share, (Span(0, 1),), "A") for share in probabilities)
        return Answer(Span(2, 4), "he", candidates, 1 - sum(probabilities)).sure

    assert sure(SURE, 0.3)
    assert sure(0.2)
    assert not sure(0.49, 0.3)


def test_people_are_numbered_across_pronouns(alphabet):
    answers = alphabet.ask("Kate Winslet told Mary that she left. Winslet told Ann that she stayed.")
    people = {answers.text[slice(*mention)]: number for mention, number in answers.people.items()}
    assert people == {"Kate Winslet": 0, "Mary": 1, "Winslet": 0, "Ann": 2}


def test_the_predictor_sees_all_pairs_of_all_texts_in_one_call(alphabet):
    texts = [KATE, "Ann, Bo and Eve met. Bo saw that she slept.", "It rained."]
    answers = alphabet.predict(texts)
    assert [len(one) for one in answers] == [1, 1, 0]
    (rows,) = alphabet.calls
    assert len(rows) == 1 + 3
    assert {row.text for row in rows} == set(texts[:2])
    assert [one.to_dict() for one in answers] == [alphabet.ask(text).to_dict() for text in texts]


def test_what_was_never_trained_on_is_said(alphabet):
    they, himself = alphabet.ask("Kate told Mary that they left and saw himself.")
    assert "'they'" in they.notes[0]
    assert "plural" in they.notes[0]
    assert "'himself'" in himself.notes[0]
    (nobody,) = alphabet.ask("It rained when she left.")
    assert nobody.notes == ("no name was detected near it",)
    assert nobody.antecedent is None


def test_a_question_can_be_narrowed(alphabet):
    text = "Kate Winslet told Mary, and Winslet told Ann, that she saw him."
    (answer,) = alphabet.ask(text, pronoun="SHE", names=["Winslet", "Mary"])
    assert {one.name for one in answer.candidates} == {"Winslet", "Mary"}
    assert max(len(one.mentions) for one in answer.candidates) == 2
    (nested,) = alphabet.ask("Kate Winslet and Kate met. She left.", names=["Kate", "Kate Winslet"])
    assert nested.candidates


def test_what_cannot_be_asked_is_one_clear_error(alphabet, tmp_path):
    with pytest.raises(DataError, match="no pronoun 'it'; expected one of its pronouns: she"):
        alphabet.ask(KATE, pronoun="it")
    with pytest.raises(DataError, match="expected a text with pronouns"):
        alphabet.ask("It rained.", pronoun="she")
    with pytest.raises(DataError, match="'kate' does not occur"):
        alphabet.ask(KATE, names=["kate"])
    (tmp_path / "some.csv").write_text("ID,A,B,NEITHER\n")
    with pytest.raises(MemberError, match="prediction file"):
        gapstack.load(tmp_path / "some.csv").ask(KATE)


def test_the_shipped_model_is_the_default(pairs_model, monkeypatch):
    monkeypatch.setattr(predictors, "shipped_model", lambda: pairs_model)
    assert gapstack.load().ask(KATE)[0].candidates
    monkeypatch.undo()
    monkeypatch.setattr(predictors, "SHIPPED", "nothing-here")
    with pytest.raises(DataNotFoundError, match="build_small"):
        gapstack.load()
