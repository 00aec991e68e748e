"""The trial of an encoder: its size, and which members work."""

import pytest

from gapstack.errors import DataNotFoundError
from gapstack.runs import encoder_check
from gapstack.runs.encoder_check import check_encoder


def test_sizes_speed_and_refusals(tiny_encoder_folder, monkeypatch):
    few = ["siamese", "masked_lm", "kernel_svm"]
    monkeypatch.setattr(encoder_check, "_tried", lambda: few)
    found = check_encoder(str(tiny_encoder_folder))
    assert (found.model_type, found.layers) == ("bert", 2)
    assert found.rows_per_second > 0
    assert found.tuned_memory == 4 * found.frozen_memory > 0
    assert found.members["siamese"] == found.members["kernel_svm"] == ""
    assert "one word piece" in found.members["masked_lm"]


def test_an_unknown_encoder_is_named():
    with pytest.raises(DataNotFoundError, match="nowhere"):
        check_encoder("nowhere/nothing")
