"""Multiple choice: three inputs for each row, which stay together."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gapstack.corpus import Corpus
from gapstack.encoding.encoders import load_encoder
from gapstack.errors import MemberError
from gapstack.members import create
from gapstack.members.multiple_choice import PUBLISHED, ChoiceData, ChoiceHead, MultipleChoice
from gapstack.members.parts.fine_tuned import FineTuned
from gapstack.training.prediction import passes

QUICK = {"max_pieces": 96, "training": {"epochs": 1, "precision": "float32"}}


@pytest.fixture(scope="module")
def data(sample_train, tiny_encoder) -> ChoiceData:
    return MultipleChoice()._data(sample_train, tiny_encoder, sample_train.labels)


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


def test_rows_do_not_mix_whatever_their_batch(data, sample_train):
    rows = np.array([7, 2, 30])
    batch = data.batch(rows)
    assert len(batch["ids"]) == 9
    assert batch["target"].tolist() == sample_train.labels[rows].tolist()
    for place, row in enumerate(rows):
        alone = data.batch(np.array([row]))
        width = alone["ids"].shape[1]
        torch.testing.assert_close(batch["ids"][3 * place : 3 * place + 3, :width], alone["ids"])
        assert not batch["ids"][3 * place : 3 * place + 3, width:].any()


def test_sizes_count_what_goes_through_the_encoder(data):
    everything = np.argsort(data.sizes, kind="stable")
    for _, batch, _ in passes(data, everything, torch.device("cpu"), 2000):
        assert batch["ids"].numel() <= 2000
    assert (data.sizes % 3 == 0).all()


def test_the_head_gives_each_row_its_own_three_logits():
    head = ChoiceHead(4).eval()
    hidden = torch.randn(6, 5, 4)
    logits = head(hidden)
    assert logits.shape == (2, 3)
    for row in range(2):
        for choice in range(3):
            vector = torch.tanh(head.dense(hidden[3 * row + choice, 0]))
            torch.testing.assert_close(logits[row, choice], head.classifier(vector)[0])


def test_soft_targets_are_given_as_they_are(sample_train, tiny_encoder):
    taught = np.random.default_rng(0).dirichlet([1, 1, 1], size=4)
    data = MultipleChoice()._data(sample_train[:4], tiny_encoder, taught)
    np.testing.assert_allclose(data.batch(np.array([2, 0]))["target"], taught[[2, 0]], rtol=1e-6)
    assert data.fingerprint != MultipleChoice()._data(sample_train[:4], tiny_encoder, None).fingerprint


def test_exchanging_the_names_exchanges_the_columns(sample_train, sample_test, tiny_encoder_folder):
    member = create("multiple_choice", encoder=str(tiny_encoder_folder), **QUICK).fit(sample_train[:24])
    swapped = Corpus([replace(e, a=e.b, b=e.a) for e in sample_test])
    answers = member.predict_proba(sample_test)
    assert np.abs(answers[:, 0] - answers[:, 1]).max() > 1e-4
    np.testing.assert_allclose(member.predict_proba(swapped), answers[:, [1, 0, 2]], rtol=0, atol=1e-6)


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
        ({"clip": 0.4}, "clip: found 0.4, expected a number, at least 0, less than 0.333333"),
        ({"training": {"frozen": ["encoder"]}}, "freezes the whole encoder"),
        ({"max_pieces": 40}, "its mentions and what is added to its text take more than the 40 pieces"),
    ],
)
def test_what_cannot_be_is_refused(settings, message, sample_train, tiny_encoder_folder):
    with pytest.raises(MemberError, match=message):
        create("multiple_choice", encoder=str(tiny_encoder_folder), **settings).fit(sample_train[:12])


def test_the_published_settings_are_settings():
    plan = create("multiple_choice", **PUBLISHED)._plans()[0]
    assert (plan.epochs, plan.batch_size, plan.encoder_lr, plan.frozen) == (2, 4, 1e-5, ())
