"""Question answering: what is asked, what is learned, what is read off."""

import numpy as np
import pytest
import torch

from gapstack.data import Corpus, Example, Label, Span
from gapstack.members import create
from gapstack.members.fine_tuned import FineTuned
from gapstack.members.question_answering import QuestionAnswering, is_a_or_b, question, span_features

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


def test_only_rows_with_an_answer_are_learned_from(tiny_encoder):
    member = QuestionAnswering()
    rows = Corpus([EXAMPLE, *(Example(f"{k}", TEXT, Span(22, 25), Span(0, 7), Span(12, 16)) for k in "yz")])
    hard = member._data(rows, tiny_encoder, np.array([1, 2, 0]))
    assert hard.sizes.shape == (2,)
    target = hard.batch(np.array([0, 1]))["target"]
    ids, mentions = hard.view.ids[hard.view.row(0)], hard.view.mentions[0]
    for name, (first, last, weight) in enumerate(target[0].tolist()):
        read = tiny_encoder.tokenizer.decode(ids[int(first) : int(last) + 1]).replace(" ", "")
        assert read == ("annlee", "beth")[name]
        assert (first, last) == (mentions[name + 1, 0], mentions[name + 1, 1] - 1)
        assert weight == name
    soft = member._data(rows, tiny_encoder, np.array([[0.2, 0.7, 0.1], [0, 0, 1], [0.5, 0, 0.5]]))
    weights = soft.batch(np.array([0, 1]))["target"][..., 2]
    torch.testing.assert_close(weights, torch.tensor([[0.2, 0.7], [0.5, 0.0]]))


def test_the_seven_numbers_are_highest_logits_and_the_answer(tiny_encoder):
    data = QuestionAnswering()._data(Corpus([EXAMPLE]), tiny_encoder, None)
    _, a, b = data.view.mentions[0]
    logits = np.full((1, 60, 2), -5.0)
    logits[0, a[0], 0], logits[0, a[1] - 1, 1] = 1.0, 2.0
    logits[0, b[0], 0], logits[0, b[1] - 1, 1] = 3.0, 4.0
    logits[0, b[1], 1] = 3.5
    features = span_features(Corpus([EXAMPLE]), data.view, logits)
    np.testing.assert_array_equal(features, [[1, 2, 3, 4, 3, 4, -1]])


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
