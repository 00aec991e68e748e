"""Chada's families: what is asked, what is learned, and inputs that stay together."""

import numpy as np
import pytest

from gapstack.data import Example, Label, Span
from gapstack.encoding.encoders import load_encoder
from gapstack.errors import MemberError
from gapstack.members import create
from gapstack.members.chada import MultipleChoice, QuestionAnswering, is_a_or_b, question
from gapstack.members.fine_tuned import FineTuned

TEXT = "Ann Lee met Beth when she, in May, sang there ."
#       01234567890123456789012345678901234567890123456
EXAMPLE = Example("x", TEXT, pronoun=Span(22, 25), a=Span(0, 7), b=Span(12, 16), label=Label.B)


@pytest.mark.parametrize(
    ("pronoun", "expected"),
    [(Span(22, 25), "she, in May, sang there"), (Span(36, 40), "ang there ."), (Span(46, 47), ".")],
)
def test_the_question_is_five_words_from_the_pronoun_on(pronoun, expected):
    assert question(Example("x", TEXT, pronoun=pronoun, a=Span(0, 7), b=Span(12, 16))) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Ann Lee", 1),
        ("Lee", 1),
        ("Ann Lee met", 1),
        ("Beth", -1),
        ("met", 0),
        ("Ann Lee met Beth", 0),
        ("Bet", -1),
    ],
)
def test_an_answer_is_a_name_that_it_shares_words_with(answer, expected):
    assert is_a_or_b(EXAMPLE, answer) == expected


@pytest.mark.parametrize(("share", "learned", "calibrated"), [(0.25, 18, 6), (0.0, 24, 24)])
def test_calibration_rows_are_rows_that_the_network_has_not_seen(
    share, learned, calibrated, sample_train, tiny_encoder_folder, monkeypatch
):
    seen = {}
    monkeypatch.setattr(FineTuned, "_fit", lambda self, corpus: seen.update(learned=corpus))
    monkeypatch.setattr(
        QuestionAnswering,
        "_features",
        lambda self, corpus: seen.update(rows=corpus) or np.eye(len(corpus), 7),
    )
    settings = {"encoder": str(tiny_encoder_folder), "calibration_share": share}
    create("question_answering", **settings).fit(sample_train[:24])
    assert (len(seen["learned"]), len(seen["rows"])) == (learned, calibrated)
    assert share == 0 or not set(seen["learned"].groups) & set(seen["rows"].groups)


def read(encoder, batch, row):
    return encoder.tokenizer.decode(batch["ids"][row]).replace(" [PAD]", "").replace("[PAD]", "")


def test_the_three_endings_are_a_b_and_other(sample_train):
    encoder, row = load_encoder(), 3
    batch = MultipleChoice()._build_data(sample_train, encoder, None).batch(np.array([row]))
    example = sample_train[row]
    texts = [read(encoder, batch, place) for place in range(3)]
    for text, ending in zip(texts, (example.a_text, example.b_text, "other"), strict=True):
        before, after, rest = text.split("[SEP]")
        assert before.endswith(f" {example.pronoun_text.lower()} is ")
        assert after.strip() == encoder.tokenizer.decode(encoder.tokenizer(ending)["input_ids"][1:-1])
        assert not rest
    assert len({text.split("[SEP]")[0] for text in texts}) == 1


def test_probabilities_are_kept_from_the_ends(sample_test, monkeypatch):
    said = np.array([[0.9999, 0.0001, 0.0], [0.2, 0.3, 0.5]])
    monkeypatch.setattr(FineTuned, "_predict_proba", lambda self, corpus: said)
    np.testing.assert_allclose(
        MultipleChoice()._predict_proba(sample_test[:2]), [[0.999, 0.001, 0.001], [0.2, 0.3, 0.5]]
    )
    np.testing.assert_array_equal(MultipleChoice(clip=0.0)._predict_proba(sample_test[:2]), said)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"training": {"frozen": ["encoder"]}}, "freezes the whole encoder"),
        ({"max_pieces": 40}, "window of 40 pieces"),
    ],
)
def test_what_cannot_be_is_refused(settings, message, sample_train, tiny_encoder_folder):
    with pytest.raises(MemberError, match=message):
        create("multiple_choice", encoder=str(tiny_encoder_folder), **settings).fit(sample_train[:12])
