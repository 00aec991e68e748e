"""Beyond the contract: the network is the paper's, and what it takes to be it."""

from dataclasses import replace

import numpy as np
import pytest

from gapstack.members import create


@pytest.mark.parametrize("naive", [False, True])
def test_the_papers_output_layer_takes_sides_and_ours_does_not(
    naive, sample_train, sample_test, tiny_encoder_folder
):
    settings = {"encoder": str(tiny_encoder_folder), "blocks": ["surface"], "naive": naive}
    swapped = sample_test.map(lambda e: replace(e, a=e.b, b=e.a))
    gaps = []
    for symmetric in (True, False):
        member = create("siamese", **settings, symmetric=symmetric, training={"epochs": 2})
        answers = member.fit(sample_train[:60]).predict_proba(sample_test)
        gaps.append(np.abs(member.predict_proba(swapped)[:, [1, 0, 2]] - answers).max())
    assert gaps[0] < 1e-6 < 1e-3 < gaps[1]
