"""Multiple choice: three inputs for each row, which stay together."""

import numpy as np
import pytest

from gapstack.encoding.encoders import load_encoder
from gapstack.errors import MemberError
from gapstack.members import create
from gapstack.members.fine_tuned import FineTuned
from gapstack.members.multiple_choice import MultipleChoice


def read(encoder, batch, row):
    return encoder.tokenizer.decode(batch["ids"][row]).replace(" [PAD]", "").replace("[PAD]", "")


def test_the_three_endings_are_a_b_and_other(sample_train):
    encoder, row = load_encoder(), 3
    batch = MultipleChoice()._data(sample_train, encoder, None).batch(np.array([row]))
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
