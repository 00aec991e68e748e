"""Settings: types, ranges, what an error says, and that every member declares and describes its own."""

import inspect
import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from gapstack.cli.catalogue import descriptions_of
from gapstack.ensemble import STACKERS
from gapstack.features import BlockName
from gapstack.language.scenes import Context
from gapstack.members import MEMBERS
from gapstack.members.member import Member
from gapstack.members.part import MemberPart
from gapstack.settings import (
    Configured,
    Count,
    FolderName,
    Fraction,
    FractionBelowOne,
    Positive,
    SettingError,
    check_settings,
    settings_of,
)
from gapstack.training.plan import Plan


class Example(Configured):
    rounds: Count = 1
    rate: Positive = 1.0
    share: Fraction = 0.5
    dropout: FractionBelowOne = 0.5
    most: Count | None = None
    blocks: Sequence[BlockName] = ()
    context: Context = "page-context"
    folder: str | None = None
    symmetric: bool = True
    training: Plan | list[Plan] | None = None
    names: Mapping[str, Sequence[str]] | None = None
    label: FolderName = "example"
    member: MemberPart = "prior"


VALID = (
    *({"rounds": 1}, {"rate": 1}, {"rate": 0.5}, {"share": 0}, {"share": 1}, {"dropout": 0.0}),
    *({"most": None}, {"most": 3}, {"blocks": []}, {"blocks": ("surface", "cues")}, {"folder": "a/b"}),
    *({"context": "snippet-context"}, {"symmetric": False}, {"names": {"F": ["Ada"]}}),
    *({"label": "probert v2 (é)"}, {"training": {"frozen": [0, "encoder"], "max_norm": None}}),
    *({"training": None}, {"training": {}}, {"training": [{}, {"epochs": 2, "schedule": {"warmup": 0.1}}]}),
    *({"member": "url"}, {"member": {"name": "url", "label": "x"}}),
)
INVALID = (
    *(({"rounds": value}, "rounds", "at least 1") for value in ("abc", -5, 1.0, True, 2**40, None)),
    *(({"rate": value}, "rate", "more than 0") for value in (0, math.nan, math.inf, 10**400, True, "1")),
    ({"share": 1.5}, "share", "at most 1"),
    ({"dropout": 1}, "dropout", "less than 1"),
    ({"most": 0}, "most", "or none"),
    ({"blocks": 5}, "blocks", "a list"),
    ({"blocks": "cues"}, "blocks", "a list"),
    ({"blocks": ["cues", "Surfac"]}, "blocks.item 2", "did you mean surface?"),
    ({"context": "snippet_context"}, "context", '"snippet-context"'),
    ({"symmetric": 1}, "symmetric", "true or false"),
    ({"training": {"epoch": 1}}, "training.epoch", "did you mean epochs?"),
    ({"training": {"epochs": 0}}, "training.epochs", "found 0"),
    ({"training": {"seed": 3}}, "training.seed", "there are: epochs"),
    ({"training": [{}, {"schedule": {"warmup": 1}}]}, "training.item 2.schedule.warmup", "less than 1"),
    ({"names": {"F": [3]}}, "names.F.item 1", "found 3"),
    ({"member": "priro"}, "member", "did you mean prior?"),
    ({"member": {"nam": "url"}}, "member.nam", "did you mean name?"),
    ({"round": 3}, "round", "did you mean rounds?"),
    ({"\x1b[2J": 3}, '"\\u001b[2J"', "there are: rounds"),
    *(
        ({"label": value}, "label", "can name a folder")
        for value in ("", ".a", "a/b", "..", "x" * 101, "a\n")
    ),
)


@pytest.mark.parametrize("values", VALID, ids=str)
def test_valid_values_pass(values):
    check_settings(Example, values)


@pytest.mark.parametrize(("values", "where", "keyword"), INVALID, ids=[f"{one[0]!s:.60}" for one in INVALID])
def test_an_invalid_value_is_refused_with_its_path(values, where, keyword):
    with pytest.raises(SettingError) as refused:
        check_settings(Example, values)
    assert ".".join(refused.value.where) == where
    assert keyword in refused.value.problem


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.sampled_from(sorted(settings_of(Example))),
)
def test_any_value_passes_or_is_refused_in_one_printable_line(value, name):
    message = ""
    try:
        check_settings(Example, {name: value})
    except SettingError as refused:
        message = str(refused)
    assert len(message) < 1000
    assert message.isprintable()


ALL = [(registry, name) for registry in (MEMBERS, STACKERS) for name in registry]


@pytest.mark.parametrize(("registry", "name"), ALL, ids=[name for _, name in ALL])
def test_a_constructor_names_every_setting_and_keeps_values_untouched(registry, name):
    kind = registry[name]
    parameters = inspect.signature(kind).parameters.values()
    assert all(one.kind is one.KEYWORD_ONLY and one.default is not one.empty for one in parameters)
    made = kind()
    assert clone(made).get_params() == made.get_params()
    registry.check(name, made.get_params())
    for setting in list(made.get_params())[:1]:
        value = object()
        assert made.set_params(**{setting: value}).get_params()[setting] is value


@pytest.mark.parametrize("name", MEMBERS)
def test_every_setting_is_described_and_published_values_are_valid(name):
    assert set(settings_of(MEMBERS[name])) <= set(descriptions_of(MEMBERS[name]))
    MEMBERS.check(name, getattr(MEMBERS[name], "PUBLISHED", {}))


class Toy(Member):
    depth: Count = 3
    NOT_A_SETTING = 4

    def _fit(self, corpus):
        pass

    def _predict_proba(self, corpus):
        raise NotImplementedError


def test_settings_are_checked_when_a_member_is_fitted(sample_train):
    assert Toy(depth=4).fit(sample_train).depth == 4
    for wrong in (Toy(depth=0), Toy().set_params(depth="x"), Toy(augment=["sing"])):
        with pytest.raises(SettingError, match=r"Toy\.(depth|augment\.item 1): found"):
            wrong.fit(sample_train)
