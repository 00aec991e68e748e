"""The papers' settings are settings of their members."""

import pytest

from gapstack.errors import MemberError
from gapstack.members import MEMBERS, create, published

WITHOUT = {
    *("prior", "random", "token_distance", "topical_entity", "syntactic_distance", "parallelism", "url"),
    *("transformer_single", "transformer_multi", "frozen_spans", "tuned_spans", "surface", "resolver"),
    *("static_vectors", "stack"),
}
PLANS = {
    "probert": {"encoder_lr": 4e-6, "patience": 3, "frozen": ()},
    "pair_product": {"encoder_lr": 2e-5, "batch_size": 256, "label_smoothing": 0.01},
    "sequence": {"encoder_lr": 1e-5, "epochs": 15, "batch_size": 10},
    "question_answering": {"encoder_lr": 1e-5, "batch_size": 12},
    "bidaf": {"epochs": 50, "frozen": ("encoder",)},
    "span_head": {"head_lr": 2e-3, "batch_size": 20},
}
"""Some fields of the first phase."""


@pytest.mark.parametrize("name", sorted(set(MEMBERS) - WITHOUT))
def test_published_settings_are_valid_and_reach_the_plan(name):
    member = create(name, **published(name))
    for field, value in PLANS.get(name, {}).items():
        assert getattr(member.plans()[0], field) == value


@pytest.mark.parametrize("name", sorted(WITHOUT - {"stack"}))
def test_a_member_without_a_paper_s_settings_is_refused(name):
    with pytest.raises(MemberError, match=f"{name} has no published settings"):
        published(name)
