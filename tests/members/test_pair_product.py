from dataclasses import replace

import numpy as np
import pytest

from gapstack.data import Corpus, Example, Span
from gapstack.members import create

QUICK = {"epochs": 1, "precision": "float32"}


@pytest.fixture
def settings(tiny_encoder_folder):
    return {"encoder": str(tiny_encoder_folder), "training": QUICK}


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
