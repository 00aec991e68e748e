"""Question answering: what is asked, what is learned, what is read off."""

import numpy as np
import pytest

from gapstack.data import Example, Label, Span
from gapstack.members import create
from gapstack.members.fine_tuned import FineTuned
from gapstack.members.question_answering import QuestionAnswering, is_a_or_b, question

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
