from dataclasses import replace

import numpy as np
import pytest

from gapstack.data import Corpus, Example, Span
from gapstack.members import create

QUICK = {"epochs": 1, "precision": "float32"}


@pytest.fixture
def settings(tiny_encoder_folder):
    return {"encoder": str(tiny_encoder_folder), "training": QUICK}


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
    np.testing.assert_allclose(first, second, atol=1e-6)
    plain = create("pair_product", **settings, max_pieces=96).fit(sample_train[:40])
    first, second = plain.predict_proba(together)
    assert np.abs(first - second).max() > 1e-6
