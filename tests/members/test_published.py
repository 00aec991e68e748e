"""The papers' settings are settings of their members."""

import pytest

from gapstack.errors import MemberError
from gapstack.members import create, published

PLANS = {
    "probert": {"encoder_lr": 4e-6, "patience": 3, "frozen": ()},
    "pair_product": {"encoder_lr": 2e-5, "batch_size": 256, "label_smoothing": 0.01},
    "sequence": {"encoder_lr": 1e-5, "epochs": 15, "batch_size": 10},
    "question_answering": {"encoder_lr": 1e-5, "batch_size": 12},
    "bidaf": {"epochs": 50, "frozen": ("encoder",)},
    "span_head": {"head_lr": 2e-3, "batch_size": 20},
}
"""Some fields of the first phase."""


@pytest.mark.parametrize("name", PLANS)
def test_published_settings_reach_the_plan(name):
    member = create(name, **published(name))
    for field, value in PLANS[name].items():
        assert getattr(member.plans()[0], field) == value


def test_a_member_without_a_paper_s_settings_is_refused():
    with pytest.raises(MemberError, match="prior has no published settings"):
        published("prior")
