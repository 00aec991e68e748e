from dataclasses import replace

import numpy as np
import pytest
import torch

from gapstack.corpus import Corpus, Example, Span
from gapstack.members import create
from gapstack.members.pair_product import PUBLISHED, PairProductHead

QUICK = {"epochs": 1, "precision": "float32"}


@pytest.fixture
def settings(tiny_encoder_folder):
    return {"encoder": str(tiny_encoder_folder), "training": QUICK}


def test_the_logits_are_weighted_products_of_first_pieces():
    head = PairProductHead(4).eval()
    with torch.no_grad():
        head.bias.copy_(torch.tensor([0.25, -0.5]))
    hidden = torch.randn(1, 6, 4, generator=torch.Generator().manual_seed(0))
    pronoun, a, b = hidden[0, [3, 0, 4]].numpy()
    name, neither = head.weight.detach().numpy()
    expected = [pronoun * a @ name, pronoun * b @ name, (pronoun * pronoun - a * b) @ neither]
    found = head(hidden, torch.tensor([[[3, 4], [0, 2], [4, 6]]])).detach()[0]
    np.testing.assert_allclose(found, np.add(expected, [0.25, 0.25, -0.5]), rtol=1e-5)


def test_dropout_falls_on_the_weights_alike_for_every_row():
    head = PairProductHead(64, dropout=0.5).train()
    hidden = torch.ones(5, 3, 64)
    torch.manual_seed(0)
    logits = head(hidden, torch.tensor([[[0, 1], [1, 2], [2, 3]]]).expand(5, -1, -1))
    torch.testing.assert_close(logits, logits[:1].expand(5, -1))
    assert not torch.allclose(logits[0, 0], head.weight[0].sum())


@pytest.mark.parametrize("max_pieces", [64, 128])
@pytest.mark.parametrize("gap", [0, 40, 1000], ids="{} words apart".format)
def test_a_long_text_keeps_its_mentions_in_the_window(max_pieces, gap, settings, tiny_encoder):
    words = "was in the " * gap
    parts = [words, "Ann", f" {words}met ", "Eve", f" {words}when ", "she", f" {words}left."]
    starts = np.cumsum([0, *map(len, parts)])
    a, b, pronoun = (Span(int(starts[i]), int(starts[i + 1])) for i in (1, 3, 5))
    row = Example("long", "".join(parts), pronoun, a, b)
    member = create("pair_product", **settings, max_pieces=max_pieces)
    batch = member._data(Corpus([row]), tiny_encoder, None).batch(np.array([0]))
    length = batch["ids"].shape[1]
    assert length <= max_pieces
    assert (length == max_pieces) == (gap > 0)
    texts = [
        "".join(tiny_encoder.tokenizer.convert_ids_to_tokens(batch["ids"][0, start:end])).replace("##", "")
        for start, end in batch["mentions"][0].tolist()
    ]
    assert texts == ["she", "ann", "eve"]


def test_feminised_rows_are_read_alike_whichever_pronoun_they_have(sample_train, sample_test, settings):
    member = create("pair_product", **settings, feminise=True, max_pieces=96).fit(sample_train[:40])
    row = Example("m", "Ann met Bo and his dog; he saw her.", Span(15, 18), Span(0, 3), Span(8, 10))
    told = replace(row, text="Ann met Bo and her dog; she saw her.")
    together = Corpus([row, replace(told, id="f")])
    first, second = member.predict_proba(together)
    np.testing.assert_array_equal(first, second)
    plain = create("pair_product", **settings, max_pieces=96).fit(sample_train[:40])
    first, second = plain.predict_proba(together)
    assert np.abs(first - second).max() > 1e-6


def test_a_teacher_is_recorded_as_contamination():
    assert create("pair_product", teacher="stage2").contaminated_by == ("gap-stage2",)
    assert create("pair_product").contaminated_by == ()


def test_the_papers_settings_are_settings_of_the_member():
    member = create("pair_product", **PUBLISHED)
    (plan,) = member._plans()
    assert (plan.encoder_lr, plan.batch_size, plan.label_smoothing) == (2e-5, 256, 0.01)
    assert (plan.schedule.warmup, member.max_pieces, member.feminise) == (0.1, 64, True)
