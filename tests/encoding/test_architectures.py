"""Every member with an encoder, on tiny random encoders of several families: it works or refuses with a reason."""

import pytest

from gapstack.runs.encoder_check import members_with_encoder
from tests.encoding.architectures import trials

FAMILIES = {"BERT": 4, "XLM-R": 4, "DeBERTa-v3": 4, "ModernBERT": 4, "T5": 4, "Qwen3": 8}
"""How many members may refuse; ``python -m tests.encoding.architectures`` tries all 24 architectures."""


@pytest.mark.slow
@pytest.mark.parametrize("architecture", FAMILIES)
def test_members_work_or_refuse(architecture):
    outcomes = trials(architecture)
    refusals = {name: reason for name, reason in outcomes.items() if reason}
    assert list(outcomes) == members_with_encoder()
    assert all(len(reason) < 500 and "\n" not in reason for reason in refusals.values())
    assert len(refusals) <= FAMILIES[architecture], refusals
